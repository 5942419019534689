"""Which jobs may wait, grouped so that looking doesn't cost more with every job that waits."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from preemption_auditor.instants import Span
    from preemption_auditor.jobs import Wait
    from quota_scheduler import Demand

__all__ = ["WaitingBook"]

_Entry: TypeAlias = "tuple[int, int, int, Wait]"
"""Priority downwards, submission, order of arrival, and the wait."""


class WaitingBook:
    """Waits by share, priority and demand; one stays in for as long as decisions look back.

    Attributes
    ----------
    version : int
        Grows whenever a front may have changed.
    ended : int
        When last a wait ended, in milliseconds.
    begun : tuple of int
        When the last two waits began at the latest, in milliseconds.
    lacking : int
        Waits that go on for lack of the service's capacity: no event tells when they are tried again.
    """

    def __init__(self) -> None:
        self._shares: dict[str, dict[tuple[int | None, Demand | None], dict[Wait, None]]] = {}
        self._lines: dict[str, list[_Entry]] = {}
        self._sizes: dict[str, int] = {}
        self._count = 0
        self.version = 0
        self.ended = -(10**18)
        self.begun = (self.ended, self.ended)
        self.lacking = 0

    def add(self, wait: Wait) -> None:
        """Take a wait in."""
        groups = self._shares.setdefault(wait.share, {})
        groups.setdefault((wait.priority, wait.demand), {})[wait] = None
        self._count += 1
        self._sizes[wait.share] = self._sizes.get(wait.share, 0) + 1
        entry = -(wait.priority or 0), wait.created, self._count, wait
        heapq.heappush(self._lines.setdefault(wait.share, []), entry)
        self.begun = self.begun[1], max(self.begun[1], wait.since.hi)
        self.lacking += _lacks(wait)
        self.version += 1

    def end(self, wait: Wait, until: Span) -> None:
        """Let a wait be over; it stays in until it is removed."""
        self.lacking -= _lacks(wait)
        wait.until = until
        self.version += 1
        self.ended = max(self.ended, until.hi)

    def block(self, wait: Wait, reason: str) -> None:
        """Let a waiting job be blocked for a reason."""
        self.lacking -= _lacks(wait)
        wait.blocked = reason
        self.lacking += _lacks(wait)
        self.version += 1

    def remove(self, wait: Wait) -> None:
        """Take a wait out."""
        groups = self._shares[wait.share]
        group = groups[wait.priority, wait.demand]
        del group[wait]
        if not group:
            del groups[wait.priority, wait.demand]
        self._sizes[wait.share] -= 1
        line = self._lines[wait.share]
        if len(line) > 64 and self._sizes[wait.share] * 2 < len(line):
            self._lines[wait.share] = [entry for entry in line if entry[3].until is None]
            heapq.heapify(self._lines[wait.share])

    def waits(self, share: str, priority: int | None, demand: Demand | None) -> Iterator[Wait]:
        """Iterate over the waits of one group, oldest first."""
        return iter(self._shares.get(share, {}).get((priority, demand), ()))

    def others(self, share: str, besides: str, since: int, limit: int) -> list[Wait]:
        """Return waits of other jobs in `share` that may have gone on at `since` or later, at most `limit` of them."""
        waits = (wait for group in self._shares.get(share, {}).values() for wait in group)
        lasting = (wait for wait in waits if wait.until is None or wait.until.hi >= since)
        return list(islice((wait for wait in lasting if wait.job != besides), limit))

    def shares(self) -> Iterator[str]:
        """Iterate over the shares that had a wait."""
        return iter(self._shares)

    def front(self, share: str) -> tuple[Wait, ...]:
        """Return the wait of the job that is first in `share`: by priority, then by when it was submitted.

        Two where it isn't clear which of them is first, none where no job waits. A wait whose
        priority is unsure makes the first one unclear, too.
        """
        line = self._lines.get(share, [])
        first = _pop_live(line)
        if first is None:
            return ()
        second = _pop_live(line)
        heapq.heappush(line, first)
        if second is None:
            return (first[3],)
        heapq.heappush(line, second)
        clear = first[:2] != second[:2] and not first[3].unsure and not second[3].unsure
        return (first[3],) if clear else (first[3], second[3])

    def groups(self, share: str, since: int, besides: str = "") -> Iterator[tuple[int | None, Demand | None, Wait]]:
        """Iterate over the priorities and demands that may have waited in `share`, each with a job that did.

        Parameters
        ----------
        share : str
        since : int
            Waits that ended before this moment don't count.
        besides : str
            Id of a job that doesn't count.
        """
        for (priority, demand), waits in self._shares.get(share, {}).items():
            for wait in waits:
                if wait.job != besides and (wait.until is None or wait.until.hi >= since):
                    yield priority, demand, wait
                    break


def _lacks(wait: Wait) -> bool:
    return wait.blocked.startswith("CAPACITY:")


def _pop_live(line: list[_Entry]) -> _Entry | None:
    """Take the first entry off whose wait goes on."""
    while line:
        entry = heapq.heappop(line)
        if entry[3].until is None:
            return entry
    return None
