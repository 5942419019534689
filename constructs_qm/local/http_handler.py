"""One HTTP connection of the endpoint, kept open between requests.

werkzeug's own handler closes the connection after each answer, and waits a hundredth of a second before:
fine for a page, slow for a client that makes hundreds of calls.
"""

from __future__ import annotations

import io
import logging
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import ThreadedWSGIServer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HttpServer"]

_IDLE_SECONDS = 60
"""How long a connection is kept that nobody uses."""

_STOP_SECONDS = 5
"""How long requests that are being answered may keep the server from stopping."""

_log = logging.getLogger(__name__)


class _Handler(MotoRequestHandler):
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    server: HttpServer

    def run_wsgi(self) -> None:
        """Read a request whole, let the application answer, and send that."""
        try:
            self.environ = environ = self.make_environ()
            environ["wsgi.input"] = io.BytesIO(self._body(environ))
        except (ConnectionError, TimeoutError):
            raise
        except (ValueError, OSError, MemoryError, OverflowError):
            self.send_error(400)
            return
        environ["wsgi.input_terminated"] = True
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[..., None]:
            started.append((status, headers))
            return _no_write

        parts = self.server.app(environ, start_response)
        try:
            answer = b"".join(parts)
        finally:
            getattr(parts, "close", lambda: None)()
        self._answer(*started[-1], answer)

    def _body(self, environ: dict[str, Any]) -> bytes:
        if environ.get("wsgi.input_terminated"):
            self.close_connection = True  # what may follow a chunked body isn't read
            return bytes(environ["wsgi.input"].read())
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length < 0:
            raise ValueError(length)
        body: bytes = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client is gone")
        return body

    def _answer(self, status: str, headers: list[tuple[str, str]], body: bytes) -> None:
        code, _, reason = status.partition(" ")
        bodiless = code in ("204", "304")
        head = self.command == "HEAD"  # its length is that of what GET would send
        self.send_response(int(code), reason)
        for key, value in headers:
            if head or key.lower() != "content-length":
                self.send_header(key, value)
        if not head and not bodiless:
            self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if not head and not bodiless:
            self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log for those who ask for it, instead of to standard error."""
        _log.debug("%s %s", self.requestline, code)

    def log(self, type: str, message: str, *args: object) -> None:
        """Log what went wrong with a request, in the same place."""
        _log.debug(message, *args)


def _no_write(data: bytes) -> None:
    raise NotImplementedError("WSGI's write() is for applications older than Flask")


class HttpServer(ThreadedWSGIServer):
    """Answers each connection in a thread of its own.

    Parameters
    ----------
    host : str
    port : int
        0 picks a free one.
    application : callable
        A WSGI application.

    Raises
    ------
    OSError
        The port is taken.
    """

    def __init__(self, host: str, port: int, application: Callable[..., Any]) -> None:
        self._connections: dict[threading.Thread, socket.socket] = {}
        try:
            super().__init__(host, port, application, _Handler)
        except SystemExit:  # how werkzeug says so, after a line on standard error
            raise OSError(f"can't listen on {host}:{port}: the port is taken, choose another or 0") from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a connection's thread, and remember it."""
        arguments = (request, client_address)
        thread = threading.Thread(target=self.process_request_thread, args=arguments, daemon=True)
        self._connections[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of one connection."""
        super().process_request_thread(request, client_address)
        self._connections.pop(threading.current_thread(), None)

    def server_close(self) -> None:
        """Stop listening; let requests that are being answered end, and close every connection."""
        super().server_close()
        connections = dict(self._connections)
        for connection in connections.values():
            with suppress(OSError):  # closed meanwhile
                connection.shutdown(socket.SHUT_RD)  # reads see the end, an answer can still be written
        for thread in connections:
            thread.join(_STOP_SECONDS)
