"""The ``batch-quota`` command: one module for each subcommand, imported when it is asked for."""

from __future__ import annotations

import os
import sys

from constructs_qm.extras import MissingExtraError, require

__all__ = ["main"]


def main() -> None:
    """Run the command line: bad input ends with 2, an interrupt with 130, each with one line on standard error."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)


def _run() -> int:
    try:
        require("cli", "the command line")
    except MissingExtraError as error:
        return _refuse(error)
    from constructs_qm.cli.application import READER_GONE, InputError, run

    try:
        status = run()
        sys.stdout.flush()
    except (InputError, MissingExtraError) as error:
        return _refuse(error)
    except BrokenPipeError:
        status = READER_GONE
    if status == READER_GONE:  # what is still unwritten must not be tried again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _refuse(error: Exception) -> int:
    _say(" ".join(str(error).split()))
    return 2


def _say(line: str) -> None:
    sys.stderr.write(f"batch-quota: {line}\n")
