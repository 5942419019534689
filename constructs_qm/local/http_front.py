"""The HTTP side of an endpoint: moto's own application and our controls behind one port."""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import (
    BackendRequest,
    DomainDispatcherApplication,
    create_backend_app,
)

from constructs_qm.local.control import PREFIX, control
from constructs_qm.local.errors import ForeignPageError, ServerException
from constructs_qm.local.foreign_pages import refuse_foreign_pages
from constructs_qm.local.http_handler import HttpServer
from constructs_qm.local.live_view import PAGE, LiveView
from constructs_qm.local.responses import QuotaBatchResponse
from constructs_qm.local.wire import Reply, error_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from constructs_qm.local.endpoint import Endpoint

__all__ = ["HttpFront", "url_of"]

_POLL_SECONDS = 0.05
"""How soon the server notices that it has to stop."""

_BATCH = re.compile(r"Credential=[^/]*/\d+/[\w-]+/batch/")
"""In the header of a request signed for AWS Batch: those needn't find their way through Flask and moto."""

_log = logging.getLogger(__name__)


class HttpFront:
    """Answers HTTP requests in threads, until it is stopped.

    Parameters
    ----------
    endpoint : Endpoint
    host : str
    port : int
        0 picks a free one.

    Attributes
    ----------
    url : str
    """

    def __init__(self, endpoint: Endpoint, host: str, port: int) -> None:
        self._http = HttpServer(host, port, _application(endpoint, host))
        self.port: int = self._http.server_port
        self.url = f"http://{host}:{self.port}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_SECONDS,), name="http", daemon=True
        )
        self._thread.start()
        endpoint.url = self.url
        endpoint.closers.append(self._stop)

    def _stop(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def url_of(endpoint: Endpoint) -> str:
    """Return where `endpoint` is reached by HTTP, which one in a process is only once somebody asks."""
    return endpoint.url or HttpFront(endpoint, "127.0.0.1", 0).url


def _application(endpoint: Endpoint, host: str) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """Return the WSGI application: the live view, the controls, and moto for everything else."""
    moto = DomainDispatcherApplication(create_backend_app)
    view = LiveView(endpoint)

    def own(environ: dict[str, Any], path: str) -> Reply:
        method, query = environ["REQUEST_METHOD"], environ.get("QUERY_STRING", "")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            refuse_foreign_pages(environ, host)
        except ForeignPageError as error:
            return error_reply(error)
        reply = view.answer(method, path, query, environ.get("CONTENT_TYPE", ""), body)
        return reply or control(endpoint, method, path, query, body)

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == PAGE or path.startswith(PREFIX):
            return _send(own(environ, path), start_response)
        try:
            if path.startswith("/v1/") and _BATCH.search(environ.get("HTTP_AUTHORIZATION", "")):
                status, headers, text = QuotaBatchResponse.dispatch(BackendRequest(environ))
                return _send(Reply(status, headers, text if isinstance(text, bytes) else text.encode()), start_response)
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
