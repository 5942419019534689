"""A number that changes at moments, remembered for as long as decisions look back."""

from __future__ import annotations

from collections import deque

__all__ = ["Steps"]


class Steps:
    """A sum over time.

    Parameters
    ----------
    memory : int
        Milliseconds for which earlier values are kept.
    """

    __slots__ = ("_changes", "_memory", "now")

    def __init__(self, memory: int) -> None:
        self.now = 0
        self._memory = memory
        self._changes: deque[tuple[int, int]] = deque([(-(10**18), 0)])

    def add(self, time: int, amount: int) -> None:
        """Add `amount` from `time` on, in milliseconds; times must not go back."""
        self.now += amount
        changes = self._changes
        changes.append((time, self.now))
        while changes[1][0] < time - self._memory:
            changes.popleft()

    def values_since(self, time: int) -> list[int]:
        """Return every value it had from `time` on, that just before a change at `time` included."""
        values = []
        for moment, value in reversed(self._changes):
            values.append(value)
            if moment < time:
                break
        return values
