"""Who holds how much, as bounds: what surely is held, and what may be."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from preemption_auditor.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preemption_auditor.jobs import Attempt

__all__ = ["Bound", "CapacityBook", "Holding", "HoldingOf"]


class Bound(str, Enum):
    """The sums an attempt is counted in."""

    HELD = "held"
    """It holds: surely where delivery is complete, else as far as no event says otherwise."""
    FIRM_LEAST = "firm, at least"
    """It holds, and surely isn't being stopped."""
    FIRM_MOST = "firm, at most"
    """It may hold and may not be being stopped."""


class Holding(Protocol):
    """Who holds what at one moment."""

    def use(self, share: str, unit: str) -> int:
        """Return what `share` uses, in instances."""

    def total(self, unit: str) -> int:
        """Return what all jobs use, in instances."""

    def holders(self, unit: str, share: str | None = None) -> list[Attempt]:
        """Return who holds `unit`, in one share or in all, largest first."""


class HoldingOf:
    """What some attempts hold, counted anew."""

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        self._attempts = list(attempts)

    def use(self, share: str, unit: str) -> int:
        """Return what `share` uses, in instances."""
        return sum(_count(attempt, unit) for attempt in self._attempts if attempt.share == share)

    def total(self, unit: str) -> int:
        """Return what all jobs use, in instances."""
        return sum(_count(attempt, unit) for attempt in self._attempts)

    def holders(self, unit: str, share: str | None = None) -> list[Attempt]:
        """Return who holds `unit`, in one share or in all, largest first."""
        return _sorted_holders(self._attempts, unit, share)


class CapacityBook:
    """Sums of demands for each share and unit, kept up to date.

    Parameters
    ----------
    memory : int
        Milliseconds decisions look back.

    Attributes
    ----------
    holding : dict of Attempt to None
        Attempts that hold now.
    changed : int
        When who holds what changed last, in milliseconds.
    version : int
        Grows with every such change.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._use: defaultdict[tuple[str | None, str], int] = defaultdict(int)
        self._total: defaultdict[str, int] = defaultdict(int)
        self._firm: dict[tuple[Bound, str | None, str], Steps] = {}
        self.holding: dict[Attempt, None] = {}
        self.changed = -(10**18)
        self.version = 0

    def enter(self, bound: Bound, attempt: Attempt, time: int) -> None:
        """Count an attempt in, unless it has left this sum before it surely came."""
        if bound in attempt.counted:
            return
        attempt.counted[bound] = True
        if bound is Bound.HELD:
            self.holding[attempt] = None
            self.changed, self.version = time, self.version + 1
        self._move(bound, attempt, time, 1)

    def leave(self, bound: Bound, attempt: Attempt, time: int) -> None:
        """Count an attempt out."""
        counted_in = attempt.counted.get(bound)
        attempt.counted[bound] = False
        if counted_in:
            if bound is Bound.HELD:
                del self.holding[attempt]
                self.changed, self.version = time, self.version + 1
            self._move(bound, attempt, time, -1)

    def use(self, share: str, unit: str) -> int:
        """Return what `share` uses now, in instances."""
        return self._use.get((share, unit), 0)

    def total(self, unit: str) -> int:
        """Return what all jobs use now, in instances."""
        return self._total.get(unit, 0)

    def holders(self, unit: str, share: str | None = None) -> list[Attempt]:
        """Return who holds `unit` now, in one share or in all, largest first."""
        return _sorted_holders(self.holding, unit, share)

    def most(self, share: str, unit: str, since: int) -> int:
        """Return the most that may have been held by jobs not being stopped, at some moment from `since` on."""
        return max(self._values(Bound.FIRM_MOST, share, unit, since))

    def least(self, share: str, unit: str, since: int) -> int:
        """Return the least that was held by jobs surely not being stopped, at some moment from `since` on."""
        return min(self._values(Bound.FIRM_LEAST, share, unit, since))

    def _values(self, bound: Bound, share: str, unit: str, since: int) -> list[int]:
        steps = self._firm.get((bound, share, unit))
        return [0] if steps is None else steps.values_since(since)

    def _move(self, bound: Bound, attempt: Attempt, time: int, sign: int) -> None:
        for unit, count in attempt.demand or ():
            if bound is Bound.HELD:
                self._use[attempt.share, unit] += sign * count
                self._total[unit] += sign * count
                continue
            key = bound, attempt.share, unit
            steps = self._firm.get(key)
            if steps is None:
                steps = self._firm[key] = Steps(self._memory)
            steps.add(time, sign * count)


def _sorted_holders(attempts: Iterable[Attempt], unit: str, share: str | None) -> list[Attempt]:
    found = [attempt for attempt in attempts if share is None or attempt.share == share]
    return sorted((a for a in found if _count(a, unit)), key=lambda attempt: -_count(attempt, unit))


def _count(attempt: Attempt, unit: str) -> int:
    return next((count for name, count in attempt.demand or () if name == unit), 0)
