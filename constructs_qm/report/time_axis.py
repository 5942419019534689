"""Times of a report: in the unit that suits their span, since its beginning."""

from __future__ import annotations

from dataclasses import dataclass

from constructs_qm.simulation_measures import duration

__all__ = ["TimeAxis"]

_UNITS = (("days", 86_400.0, 4.0), ("hours", 3600.0, 4.0), ("minutes", 60.0, 5.0), ("seconds", 1.0, 0.0))
"""Name, length in seconds, and the span of how many of them it suits."""


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
