"""Runs ``batch-quota`` as people do: at a terminal of 80 columns, or in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from codecs import getincrementaldecoder
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
COLUMNS = 80
COMMAND = [sys.executable, "-m", "constructs_qm"]
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Seen:
    """What was on the screen, and how the command ended."""

    status: int
    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in re.split(r"[\r\n]+", _ESCAPE.sub("", self.text)) if line]


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without what decides about colours and widths, and with some variables."""
    decides = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    inherited = {name: value for name, value in os.environ.items() if name not in decides}
    return {**inherited, "TERM": "xterm-256color", **variables}


def at_terminal(*arguments: object, interrupt_at: str | None = None, **variables: str) -> Seen:
    """Run a command at a terminal; interrupt it once a text is on the screen."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    command = [*COMMAND, *map(str, arguments)]
    # a shell lets what it starts in the background ignore interrupts, and that would be inherited
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment(**variables), cwd=ROOT
    )
    os.close(terminal)

    chunks = _read(screen)
    text = ""
    for chunk in chunks:
        text += chunk
        if interrupt_at is not None and interrupt_at in text:
            process.send_signal(signal.SIGINT)
            break
    text += "".join(chunks)
    return Seen(process.wait(timeout=60), text)


def in_pipe(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose output goes to another program."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(**variables), cwd=ROOT, timeout=60, check=False
    )


def _read(screen: int) -> Iterator[str]:
    """Yield what is written to a terminal until the last program has left it."""
    decoder = getincrementaldecoder("utf-8")()
    with os.fdopen(screen, "rb", buffering=0) as source:
        while True:
            try:
                chunk = source.read(4096)
            except OSError:  # how Linux tells the end
                return
            if not chunk:
                return
            yield decoder.decode(chunk)
