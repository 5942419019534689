"""What is to happen at which moment."""

from __future__ import annotations

import heapq
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Agenda", "Phase"]


class Phase(IntEnum):
    """The order at equal times, chosen so that every order of what happened is covered.

    A lower bound is left before the next is entered, and an upper bound the other way round.
    """

    FIRST = 0
    THEN = 1
    JUDGE = 2


class Agenda:
    """Actions by time, then phase, then the order they were planned in."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, int, Callable[..., Any], tuple[Any, ...]]] = []
        self._planned = 0

    def plan(self, time: int, phase: Phase, action: Callable[..., Any], *arguments: Any) -> None:
        """Let `action` be called with `arguments` at `time`, in milliseconds."""
        self._planned += 1
        heapq.heappush(self._entries, (time, int(phase), self._planned, action, arguments))

    def next_time(self) -> int | None:
        """Return when the next action is due, or None."""
        return self._entries[0][0] if self._entries else None

    def take(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Take the next action off."""
        _, _, _, action, arguments = heapq.heappop(self._entries)
        return action, arguments
