"""Recordings as they lie about: lines or whole JSON documents, packed with gzip or not."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from typing import TYPE_CHECKING, Any

from preemption_auditor.exceptions import AuditorError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["open_recording"]

_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"
"""What some editors put before UTF-8."""


def open_recording(stream: Any) -> Iterator[Any]:
    """Yield what :func:`preemption_auditor.audit` takes in from a recording.

    That is its lines; or, where it begins like a document of several lines, or a list, the objects in it: what
    ``aws logs filter-log-events`` prints, say.

    Parameters
    ----------
    stream : binary file
        Packed with gzip or not.

    Raises
    ------
    AuditorError
        It is packed, and broken or cut off.
    """
    buffered = io.BufferedReader(stream)
    packed = buffered.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
    try:
        yield from _entries(gzip.GzipFile(fileobj=buffered) if packed else buffered)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AuditorError(f"gzip data is broken or cut off ({error}): record or download it again") from None


def _entries(lines: Any) -> Iterator[Any]:
    """Yield the lines, unless the first one that isn't blank shows that there is one document."""
    for line in lines:
        start = line.removeprefix(_MARK).strip()
        if start == b"{" or start.startswith(b"["):
            yield from _documents(line + lines.read())
        else:
            yield line
        if start:
            yield from lines


def _documents(text: bytes) -> Iterator[Any]:
    """Yield the objects in a document, or its lines where it can't be read as a whole."""
    try:
        document = json.loads(text.removeprefix(_MARK))
    except (ValueError, RecursionError):
        yield from text.splitlines()
    else:
        yield from document if isinstance(document, list) else [document]
