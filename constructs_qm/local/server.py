"""Quota management over HTTP: :func:`start`."""

from __future__ import annotations

import logging
import signal
import threading
from typing import TYPE_CHECKING, Any

from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

from constructs_qm.local import seams
from constructs_qm.local.client_env import BUCKET, client_environment, write_sagemaker_config
from constructs_qm.local.clock import RealClock
from constructs_qm.local.control import PREFIX, control
from constructs_qm.local.endpoint import Endpoint
from constructs_qm.local.errors import ServerException
from constructs_qm.local.settings import Settings
from constructs_qm.local.wire import Reply, error_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import TracebackType

    from constructs_qm.local.clock import Clock

__all__ = ["LIMITS", "Server", "start"]

_POLL_SECONDS = 0.05
"""How soon the server notices that it has to stop."""

_log = logging.getLogger(__name__)

LIMITS = (
    "This is not AWS: no IAM policy is enforced, nothing is trained, and which jobs are preempted is decided "
    "by the reference scheduler, whose choice of victims AWS doesn't publish."
)
"""What the endpoint isn't, in a sentence to show at its start."""


class Server:
    """A running endpoint; also a context manager that stops it.

    Attributes
    ----------
    url : str
        To give to clients as ``endpoint_url``.
    endpoint : Endpoint
        Its clock and its events.
    """

    def __init__(self, endpoint: Endpoint, host: str, port: int) -> None:
        self.endpoint = endpoint
        self._http = make_server(host, port, _application(endpoint), threaded=True, request_handler=_QuietHandler)
        self.port: int = self._http.server_port
        self.url = f"http://{host}:{self.port}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_SECONDS,), name="endpoint", daemon=True
        )
        self._stopped = False
        self._told_to_stop = threading.Event()
        endpoint.clock.drive(endpoint)
        self._thread.start()

    def environment(self, config: Path, region: str = "us-east-1") -> dict[str, str]:
        """Prepare for AWS clients, SageMaker's SDK included.

        Parameters
        ----------
        config : Path
            Where to write the SDK's config file; the bucket it names is made.
        region : str

        Returns
        -------
        dict of str to str
            The environment variables the clients need.
        """
        write_sagemaker_config(config)
        if BUCKET not in s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets:
            s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(BUCKET, region)
        return client_environment(self.url, region, config)

    def stop(self) -> None:
        """Answer no more requests, and end every thread; calling it again does nothing."""
        if self._stopped:
            return
        self._stopped = True
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self.endpoint.clock.stop()
        seams.uninstall()
        _reset_moto()

    def wait(self) -> None:
        """Wait until interrupted or terminated, then stop; only from the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._told_to_stop.set())
        self._told_to_stop.wait()
        self.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    port: int = 0,
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    host: str = "127.0.0.1",
) -> Server:
    """Start an endpoint in threads of this process.

    Parameters
    ----------
    port : int
        0 picks a free one.
    clock : Clock, optional
        The time of day by default.
    settings : Settings, optional
    seed : int, optional
        Makes the ids of jobs and events repeatable.
    host : str
        Address to listen on. Anybody who reaches it can use it: leave it at the loopback address.

    Returns
    -------
    Server

    Raises
    ------
    OSError
        The port is taken.
    RuntimeError
        There is an endpoint in this process already.
    SeamError
        moto has changed.

    Examples
    --------
    >>> import boto3
    >>> with start() as server:
    ...     batch = boto3.client("batch", region_name="us-east-1", endpoint_url=server.url)
    """
    endpoint = Endpoint(clock or RealClock(), settings or Settings(), seed)
    _reset_moto()
    seams.install(endpoint)
    try:
        return Server(endpoint, host, port)
    except BaseException:
        seams.uninstall()
        raise


def _reset_moto() -> None:
    BackendDict.reset()
    reset_model_data()


class _QuietHandler(MotoRequestHandler):
    """Logs requests for those who ask for them, instead of to standard error."""

    def log(self, type: str, message: str, *args: object) -> None:
        _log.debug(message, *args)


def _application(endpoint: Endpoint) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """Return the WSGI application: the controls, and moto for everything else."""
    moto = DomainDispatcherApplication(create_backend_app)

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith(PREFIX):
            size = int(environ.get("CONTENT_LENGTH") or 0)
            reply = control(
                endpoint,
                environ["REQUEST_METHOD"],
                path,
                environ.get("QUERY_STRING", ""),
                environ["wsgi.input"].read(size),
            )
            return _send(reply, start_response)
        try:
            answer: Iterable[bytes] = moto(environ, start_response)
        except Exception:  # moto raises where it lacks something: a bad request must not hurt the process
            _log.exception("request failed")
            return _send(error_reply(ServerException("An internal error occurred")), start_response)
        return answer

    return application


def _send(reply: Reply, start_response: Any) -> Iterable[bytes]:
    headers = {**reply.headers, "Content-Length": str(len(reply.body))}
    start_response(f"{reply.status} {'OK' if reply.status < 400 else 'Error'}", list(headers.items()))
    return [reply.body]
