"""The file a report is written to: checked before the work begins, and replaced as a whole."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from constructs_qm.extras import require
from quota_scheduler import DocumentError

__all__ = ["check_report", "write_report"]


def check_report(path: Path) -> None:
    """Say at once where a report can't be made.

    Raises
    ------
    DocumentError
        `path` is a folder, or nothing can be written beside it.
    MissingExtraError
        The extra `report` isn't installed.
    """
    require("report", "--report")
    if path.is_dir():
        raise DocumentError(f"--report {path} is a folder: name a file, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise DocumentError(f"--report {path}: there is no folder {path.parent}: make it, or name another")
    if not os.access(path.parent, os.W_OK):
        raise DocumentError(f"--report {path}: nothing can be written to {path.parent}: name another folder")


def write_report(path: Path, page: str) -> None:
    """Write a page, as a whole or not at all.

    Raises
    ------
    DocumentError
        It can't be written; what was at `path` before is still there.
    """
    written = None
    try:
        with NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, delete=False) as file:
            written = Path(file.name)
            file.write(page)
        written.chmod(0o644)
        written.replace(path)
    except OSError as error:
        if written is not None:
            written.unlink(missing_ok=True)
        raise DocumentError(f"--report {path}: {error.strerror or error}") from None
