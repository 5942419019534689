"""Moments in whole milliseconds since the epoch, as far as an event pins them.

EventBridge's ``time`` has whole seconds; the milliseconds are in the detail, for some of
the states only. So a moment is a span: it is somewhere in ``lo`` to ``hi``, both included.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import NamedTuple

from preemption_auditor.exceptions import AuditorError

__all__ = ["SECOND", "Span", "iso", "parse_time", "to_milliseconds"]

SECOND = 1000


class Span(NamedTuple):
    """From ``lo`` to ``hi``, in milliseconds, both included."""

    lo: int
    hi: int

    @classmethod
    def of_second(cls, time: int) -> Span:
        """Return the second an event ``time`` stands for."""
        return cls(time, time + SECOND - 1)


def parse_time(text: object) -> int | None:
    """Return an ISO 8601 time in milliseconds, or None where it can't be read."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * SECOND)
    except (ValueError, OverflowError):
        return None


def to_milliseconds(at: object, what: str) -> int:
    """Return a time given in seconds or as ISO 8601 text, in milliseconds.

    Raises
    ------
    AuditorError
        It is neither.
    """
    if isinstance(at, (int, float)) and not isinstance(at, bool) and abs(at) < 1e11:
        return round(at * SECOND)
    time = parse_time(at)
    if time is None:
        raise AuditorError(f"{what} {at!r} is not a time: give seconds, or ISO 8601 such as 2026-03-16T19:57:27Z")
    return time


def iso(time: int) -> str:
    """Return a time as findings show it: UTC, with milliseconds."""
    try:
        text = datetime.fromtimestamp(time / SECOND, timezone.utc).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{time} ms"
    return text.replace("+00:00", "Z")
