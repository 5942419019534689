"""What is due when: callbacks in order of time, and of arming where times are equal."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Timers"]


class Timers:
    """A heap of callbacks. A callback that has become pointless must see so itself."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def at(self, time: float, callback: Callable[[], None]) -> None:
        """Call `callback` at `time`, in seconds."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, callback))

    def next_due(self) -> float | None:
        """Return the time of the next callback, in seconds, or None."""
        return self._heap[0][0] if self._heap else None

    def fire(self, now: float) -> None:
        """Call what is due at `now`, in seconds, what is armed meanwhile included."""
        while self._heap and self._heap[0][0] <= now:
            heapq.heappop(self._heap)[2]()
