"""Which jobs may wait, grouped so that looking doesn't cost more with every job that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from preemption_auditor.jobs import Wait
    from quota_scheduler import Demand

__all__ = ["WaitingBook"]


class WaitingBook:
    """Waits by share, priority and demand; one stays in for as long as decisions look back."""

    def __init__(self) -> None:
        self._shares: dict[str, dict[tuple[int | None, Demand | None], dict[Wait, None]]] = {}

    def add(self, wait: Wait) -> None:
        """Take a wait in."""
        groups = self._shares.setdefault(wait.share, {})
        groups.setdefault((wait.priority, wait.demand), {})[wait] = None

    def remove(self, wait: Wait) -> None:
        """Take a wait out."""
        groups = self._shares[wait.share]
        group = groups[wait.priority, wait.demand]
        del group[wait]
        if not group:
            del groups[wait.priority, wait.demand]

    def shares(self) -> Iterator[str]:
        """Iterate over the shares that had a wait."""
        return iter(self._shares)

    def groups(
        self, share: str, since: int, besides: str = ""
    ) -> Iterator[tuple[int | None, Demand | None, Wait]]:
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
