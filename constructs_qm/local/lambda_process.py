"""A Lambda function running: AWS's own Python runtime client in a process, behind a Runtime API."""

from __future__ import annotations

import io
import json
import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
import zipfile
from collections import deque
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from constructs_qm.local.runtime_api import Invocation, Outcome, RuntimeApi

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Code", "LambdaProcess"]

_log = logging.getLogger(__name__)

START_SECONDS = 60
"""How long a function may take to start, here where the machine may be busy; real Lambda allows 10."""


@dataclass(frozen=True)
class Code:
    """What runs; a process is of use as long as this stays the same.

    Attributes
    ----------
    arn : str
    handler : str
        ``module.function``.
    archive : bytes
        The function's zip file.
    layers : tuple of bytes
        Zip files of layers, whose ``python`` folder goes onto the path.
    timeout : float
        Seconds.
    environment : tuple of (str, str)
        Its variables, ours included.
    """

    arn: str
    handler: str
    archive: bytes
    layers: tuple[bytes, ...]
    timeout: float
    environment: tuple[tuple[str, str], ...]


class LambdaProcess:
    """One execution environment; invocations wait for each other.

    Parameters
    ----------
    code : Code
    folder : Path
        Where to unpack it.
    """

    def __init__(self, code: Code, folder: Path) -> None:
        self.code = code
        self._folder = folder
        self._busy = threading.Lock()
        self._api: RuntimeApi | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: deque[str] = deque(maxlen=10_000)
        self._unfinished = b""
        """The beginning of a line."""
        self._reading = threading.Lock()
        zipfile.ZipFile(io.BytesIO(code.archive)).extractall(folder / "task")
        for layer in code.layers:
            zipfile.ZipFile(io.BytesIO(layer)).extractall(folder / "opt")

    def invoke(self, payload: bytes) -> tuple[Outcome, list[str]]:
        """Call the function.

        Parameters
        ----------
        payload : bytes
            JSON.

        Returns
        -------
        (Outcome, list of str)
            What it returned or how it failed, and what it printed meanwhile.
        """
        with self._busy:
            outcome = self._call(payload)
            self._catch_up()
            lines = list(self._lines)
            self._lines.clear()
            return outcome, lines

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        api, self._api = self._api, None
        if process is not None:
            process.kill()
            process.wait()
        if api is not None:
            api.stop()

    def _call(self, payload: bytes) -> Outcome:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            failure = self._start()
            if failure is not None:
                self.stop()
                return failure
        api = self._api
        assert api is not None
        request_id = str(uuid4())
        deadline = time.time() + self.code.timeout
        api.invocations.put(Invocation(request_id, payload, int(deadline * 1000), self.code.arn))
        outcome = self._wait(api, self.code.timeout)
        if outcome is None:
            died = self._process is None or self._process.poll() is not None
            self.stop()
            message = (
                f"RequestId: {request_id} Error: Runtime exited"
                if died
                else f"{request_id} Task timed out after {self.code.timeout:.2f} seconds"
            )
            return _failure(message, "Runtime.ExitError" if died else "Sandbox.Timedout")
        return outcome

    def _start(self) -> Outcome | None:
        """Start the process; return why it can't, or None."""
        self._api = api = RuntimeApi()
        task, opt = self._folder / "task", self._folder / "opt"
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self._folder),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "LAMBDA_TASK_ROOT": str(task),
            "PYTHONPATH": os.pathsep.join([str(task), str(opt / "python")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "_HANDLER": self.code.handler,
            "AWS_LAMBDA_RUNTIME_API": api.address,
            **dict(self.code.environment),
        }
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "awslambdaric", self.code.handler],
            cwd=task,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        threading.Thread(target=self._read, args=(process,), name="lambda-output", daemon=True).start()
        deadline = time.monotonic() + START_SECONDS
        while not api.ready.wait(0.05):
            if process.poll() is not None or time.monotonic() > deadline:
                tail = " ".join(self._lines)[-500:]
                return _failure(f"the function's process didn't start: {tail}", "Runtime.ExitError")
        return None if api.outcomes.empty() else api.outcomes.get()

    def _wait(self, api: RuntimeApi, seconds: float) -> Outcome | None:
        """Wait for an outcome; None where there is none in time or the process has ended."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                return api.outcomes.get(timeout=min(left, 0.1))
            except queue.Empty:
                if self._process is None or self._process.poll() is not None:
                    return None if api.outcomes.empty() else api.outcomes.get()
        return None

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while True:
            select.select([process.stdout], [], [])
            with self._reading:
                if not self._take(process.stdout):
                    process.stdout.close()
                    return

    def _catch_up(self) -> None:
        """Take what was printed before the answer came, which the thread may not have got to."""
        stdout = None if self._process is None else self._process.stdout
        with self._reading:
            while stdout is not None and not stdout.closed and _has_more(stdout) and self._take(stdout):
                pass

    def _take(self, stdout: IO[bytes]) -> bool:
        """Take lines, if there are any by now; return False at the end of the output."""
        if not _has_more(stdout):
            return True
        chunk = os.read(stdout.fileno(), 65_536)
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        if not chunk and self._unfinished:
            lines.append(self._unfinished)
        for line in lines:
            self._lines.append(line.decode(errors="replace"))
            _log.debug("%s: %s", self.code.arn, self._lines[-1])
        return bool(chunk)


def _has_more(stdout: IO[bytes]) -> bool:
    return bool(select.select([stdout], [], [], 0)[0])


def _failure(message: str, kind: str) -> Outcome:
    return Outcome(json.dumps({"errorMessage": message, "errorType": kind}).encode(), failed=True)
