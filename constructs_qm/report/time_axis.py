"""Times of a report: in the unit that suits their span, since its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from constructs_qm.simulation_measures import duration

__all__ = ["Axis", "DateAxis", "TimeAxis"]

_UNITS = (("days", 86_400.0, 4.0), ("hours", 3600.0, 4.0), ("minutes", 60.0, 5.0), ("seconds", 1.0, 0.0))
"""Name, length in seconds, and the span of how many of them it suits."""


class Axis(Protocol):
    """How times are drawn and told; times are in seconds."""

    @property
    def title(self) -> str:
        """What an axis says."""

    @property
    def range(self) -> list[Any]:
        """The whole axis."""

    def x(self, at: float) -> Any:
        """Return a time's place on the axis."""

    def text(self, at: float) -> str:
        """Return a time in words."""


@dataclass(frozen=True)
class DateAxis:
    """Dates in UTC; times are in seconds since 1970.

    Parameters
    ----------
    start, end : float
    """

    start: float
    end: float

    @property
    def title(self) -> str:
        """What an axis says."""
        return "time (UTC)"

    @property
    def range(self) -> list[str]:
        """The whole axis, with room at both ends."""
        room = max(1.0, 0.03 * (self.end - self.start))
        return [self.x(self.start - room), self.x(self.end + room)]

    def x(self, at: float) -> str:
        """Return a time as plotly reads it."""
        return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]

    def text(self, at: float) -> str:
        """Return a time to the second, or to the millisecond where it has one."""
        return self.x(at).removesuffix(".000")


@dataclass(frozen=True)
class TimeAxis:
    """From `start` to `end`, in seconds.

    Parameters
    ----------
    start, end : float
    since : str
        What `start` is.
    """

    start: float
    end: float
    since: str

    @property
    def title(self) -> str:
        """What an axis says."""
        return f"{self._unit[0]} since {self.since}"

    @property
    def range(self) -> list[float]:
        """The whole axis, in its unit."""
        return [0, self.x(self.end) or 1]

    def x(self, at: float) -> float:
        """Return a time's place on the axis, in its unit."""
        return float(f"{(at - self.start) / self._unit[1]:.6g}")

    def text(self, at: float) -> str:
        """Return a time in words."""
        return duration(at - self.start)

    @property
    def _unit(self) -> tuple[str, float]:
        span = self.end - self.start
        return next((name, length) for name, length, least in _UNITS if span >= least * length)
