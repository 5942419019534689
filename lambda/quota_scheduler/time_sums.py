"""Sums over equal stretches of time, in memory that doesn't grow with time or with what happens."""

from __future__ import annotations

import math

__all__ = ["TimeSums"]


class TimeSums:
    """Curves over time, each a sum for every stretch.

    There are at most `limit` stretches, of one second at first. When time runs on beyond them, each two
    become one, so that nothing is lost but detail: a curve's total stays what was added to it.

    Parameters
    ----------
    start : float
        When the first stretch begins, in seconds.
    limit : int
        An even number.

    Attributes
    ----------
    start, width : float
        Seconds.
    """

    def __init__(self, start: float, limit: int = 1000) -> None:
        self.start = start
        self.width = 1.0
        self._limit = limit
        self._curves: list[list[float]] = []

    def curve(self) -> list[float]:
        """Return a new curve, 0 everywhere."""
        curve = [0.0] * self._limit
        self._curves.append(curve)
        return curve

    def add(self, curve: list[float], value: float, since: float, until: float) -> None:
        """Add `value` times the seconds of each stretch from `since` to `until`."""
        if not value or until <= since:
            return
        self._reach(until)
        start, width = self.start, self.width
        first, last = int((since - start) / width), int((until - start) / width)
        if first == last:
            curve[first] += value * (until - since)
            return
        curve[first] += value * (start + (first + 1) * width - since)
        for index in range(first + 1, last):
            curve[index] += value * width
        curve[last] += value * (until - start - last * width)

    def count(self, curve: list[float], at: float) -> None:
        """Count something that happened at a moment."""
        self._reach(at)
        curve[int((at - self.start) / self.width)] += 1

    def until(self, curve: list[float], end: float) -> list[float]:
        """Return a curve's stretches up to `end`, in seconds; what was counted at it belongs to the last of them."""
        length = max(1, math.ceil((end - self.start) / self.width))
        return [*curve[: length - 1], sum(curve[length - 1 : length + 1])]

    def _reach(self, at: float) -> None:
        while at - self.start >= self.width * self._limit:
            self.width *= 2
            for curve in self._curves:
                half = [one + other for one, other in zip(curve[::2], curve[1::2], strict=True)]
                curve[:] = half + [0.0] * (self._limit - len(half))
