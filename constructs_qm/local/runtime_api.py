"""Lambda's Runtime API, by which a runtime fetches invocations and answers them (AWS Lambda Developer Guide)."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NOT_SAMPLED = f"Root=1-{0:08x}-{0:024x};Parent={0:016x};Sampled=0"
"""X-Ray's header for functions: there is no X-Ray here to send traces to."""

__all__ = ["Invocation", "Outcome", "RuntimeApi"]

PREFIX = "/2018-06-01/runtime/"


@dataclass(frozen=True)
class Invocation:
    """What a function is called with.

    Attributes
    ----------
    request_id : str
    payload : bytes
        JSON.
    deadline_ms : int
        Milliseconds since 1970.
    arn : str
        The function's.
    """

    request_id: str
    payload: bytes
    deadline_ms: int
    arn: str


@dataclass(frozen=True)
class Outcome:
    """What became of an invocation.

    Attributes
    ----------
    body : bytes
        JSON: what the function returned, or an object with ``errorMessage`` and ``errorType``.
    failed : bool
    """

    body: bytes
    failed: bool


class RuntimeApi:
    """Serves one runtime process.

    Attributes
    ----------
    address : str
        For the variable ``AWS_LAMBDA_RUNTIME_API``.
    ready : threading.Event
        Set when the runtime has asked for its first invocation, or has said that it can't start.
    outcomes : queue.Queue of Outcome
        What the runtime answered, its failure to start included.
    """

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.outcomes: queue.Queue[Outcome] = queue.Queue()
        self.invocations: queue.Queue[Invocation | None] = queue.Queue()
        handler = type("_BoundHandler", (_Handler,), {"api": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.address = f"127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="runtime-api", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more."""
        self.invocations.put(None)
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One request of the runtime."""

    api: RuntimeApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer ``invocation/next``, when there is one."""
        self.api.ready.set()
        invocation = self.api.invocations.get()
        if invocation is None:
            self.close_connection = True
            return
        self.send_response(200)
        for name, value in (
            ("Lambda-Runtime-Aws-Request-Id", invocation.request_id),
            ("Lambda-Runtime-Deadline-Ms", str(invocation.deadline_ms)),
            ("Lambda-Runtime-Invoked-Function-Arn", invocation.arn),
            ("Lambda-Runtime-Trace-Id", NOT_SAMPLED),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(invocation.payload))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(invocation.payload)

    def do_POST(self) -> None:
        """Take a response or an error."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.removeprefix(PREFIX)
        if path == "init/error" or path.startswith("invocation/"):
            self.api.outcomes.put(Outcome(body, failed=not path.endswith("/response")))
            self.api.ready.set()
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
