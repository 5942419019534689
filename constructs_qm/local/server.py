"""Quota management over HTTP: :func:`start`."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends

from constructs_qm.local import seams
from constructs_qm.local.client_env import BUCKET, client_environment, write_sagemaker_config
from constructs_qm.local.clock import RealClock
from constructs_qm.local.endpoint import Endpoint
from constructs_qm.local.http_front import HttpFront
from constructs_qm.local.saved_state import load, save
from constructs_qm.local.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from constructs_qm.local.clock import Clock

__all__ = ["LIMITS", "Server", "start"]

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

    def __init__(self, endpoint: Endpoint, front: HttpFront, state_file: Path | None) -> None:
        self.endpoint = endpoint
        self._state_file = state_file
        self.port = front.port
        self.url = front.url
        self._stopped = False
        self._told_to_stop = threading.Event()

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
        self.endpoint.stop()
        if self._state_file is not None:
            save(self.endpoint, self._state_file)
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
    state_file: Path | None = None,
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
    state_file : Path, optional
        Where the endpoint's and moto's state is saved when the server stops, and, if it is there, taken from
        at the start; settings come with it. Only name a file you trust, as you would a program.

    Returns
    -------
    Server

    Raises
    ------
    OSError
        The port is taken, or the state file can't be read.
    StateError
        Another version wrote the state file, or it is none.
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
        if state_file is not None and state_file.exists():
            load(endpoint, state_file)
        front = HttpFront(endpoint, host, port)
    except BaseException:
        seams.uninstall()
        _reset_moto()
        raise
    endpoint.start()
    return Server(endpoint, front, state_file)


def _reset_moto() -> None:
    BackendDict.reset()
    reset_model_data()
