"""Who holds how much, as bounds: what surely is held, and what may be."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum
from typing import TYPE_CHECKING

from preemption_auditor.steps import Steps

if TYPE_CHECKING:
    from preemption_auditor.jobs import Attempt

__all__ = ["Bound", "CapacityBook"]


class Bound(str, Enum):
    """The sums an attempt is counted in."""

    SURE = "surely holds"
    FIRM_SURE = "surely holds and surely isn't being stopped"
    FIRM_MAYBE = "may hold and may not be being stopped"


class CapacityBook:
    """Sums of demands for each share and unit.

    Parameters
    ----------
    memory : int
        Milliseconds decisions look back.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._use: defaultdict[tuple[str | None, str], int] = defaultdict(int)
        self._total: defaultdict[str, int] = defaultdict(int)
        self._firm: dict[tuple[Bound, str | None, str], Steps] = {}
        self._holding: dict[Attempt, None] = {}

    def enter(self, bound: Bound, attempt: Attempt, time: int) -> None:
        """Count an attempt in, unless it has left this sum before it surely came."""
        if bound in attempt.counted:
            return
        attempt.counted[bound] = True
        if bound is Bound.SURE:
            self._holding[attempt] = None
        self._move(bound, attempt, time, 1)

    def leave(self, bound: Bound, attempt: Attempt, time: int) -> None:
        """Count an attempt out."""
        counted_in = attempt.counted.get(bound)
        attempt.counted[bound] = False
        if counted_in:
            if bound is Bound.SURE:
                del self._holding[attempt]
            self._move(bound, attempt, time, -1)

    def use(self, share: str | None, unit: str) -> int:
        """Return what `share` surely uses now, in instances."""
        return self._use.get((share, unit), 0)

    def total(self, unit: str) -> int:
        """Return what all jobs surely use now, in instances."""
        return self._total.get(unit, 0)

    def holders(self, unit: str, share: str | None = None) -> list[Attempt]:
        """Return the attempts that surely hold `unit` now, of one share or of all, largest first."""
        found = [
            attempt
            for attempt in self._holding
            if (share is None or attempt.share == share) and _count(attempt, unit)
        ]
        return sorted(found, key=lambda attempt: -_count(attempt, unit))

    def most(self, share: str, unit: str, since: int) -> int:
        """Return the most that may have been held by jobs not being stopped, at some moment from `since` on."""
        return max(self._values(Bound.FIRM_MAYBE, share, unit, since))

    def least(self, share: str, unit: str, since: int) -> int:
        """Return the least that surely was held by jobs not being stopped, at some moment from `since` on."""
        return min(self._values(Bound.FIRM_SURE, share, unit, since))

    def _values(self, bound: Bound, share: str, unit: str, since: int) -> list[int]:
        steps = self._firm.get((bound, share, unit))
        return [0] if steps is None else steps.values_since(since)

    def _move(self, bound: Bound, attempt: Attempt, time: int, sign: int) -> None:
        for unit, count in attempt.demand or ():
            if bound is Bound.SURE:
                self._use[attempt.share, unit] += sign * count
                self._total[unit] += sign * count
                continue
            key = bound, attempt.share, unit
            steps = self._firm.get(key)
            if steps is None:
                steps = self._firm[key] = Steps(self._memory)
            steps.add(time, sign * count)


def _count(attempt: Attempt, unit: str) -> int:
    return next((count for name, count in attempt.demand or () if name == unit), 0)
