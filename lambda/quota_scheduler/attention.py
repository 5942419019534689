"""Which front jobs a pass has to look at: those for which something can have changed since the last one.

A front job that nothing could be done for is left until its own share changes, until as much
capacity is idle as it lacks, or, where more than that can help it, until anything changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quota_scheduler.job_class import JobClass
    from quota_scheduler.ledger import Pool
    from quota_scheduler.queue_state import Lane, ShareState

__all__ = ["Attention"]

_NEVER = float("inf")


class Attention:
    """Lanes to look at, and what the others wait for.

    Attributes
    ----------
    awake : dict of Lane to None
        Lanes whose front job is to be looked at.
    """

    __slots__ = ("_eyeing", "_watching", "_wishes", "awake")

    def __init__(self) -> None:
        self.awake: dict[Lane, None] = {}
        self._watching: dict[Lane, None] = {}
        self._eyeing: dict[Lane, None] = {}
        self._wishes: dict[Pool, dict[Lane, int]] = {}

    # -- waking lanes up ----------------------------------------------------------

    def changed(self, share: ShareState) -> None:
        """Look at `share` again, since its jobs or what they hold changed."""
        awake = self.awake
        for lane in share.lanes.values():
            if lane.front is not None:
                awake[lane] = None
        if self._watching:
            awake.update(self._watching)
            self._watching.clear()

    def freed(self, job_class: JobClass) -> None:
        """Look at those whose wish the capacity that a job gave up can fulfil."""
        for account, _ in job_class.parts:
            pool = account.pool
            if pool.free >= pool.wished and pool.spare >= pool.wished:
                self._fulfil(pool)

    def _fulfil(self, pool: Pool) -> None:
        wishes = self._wishes[pool]
        for lane in [lane for lane, count in wishes.items() if pool.free >= count and pool.spare >= count]:
            del wishes[lane]
            self.awake[lane] = None
        pool.wished = min(wishes.values(), default=_NEVER)

    def preemptions_begin(self) -> None:
        """Look at those that may preempt: until every job has stopped, more than idle capacity counts."""
        self.awake.update(self._eyeing)
        self._eyeing.clear()

    def all_changed(self, lanes: Iterable[Lane]) -> None:
        """Look at all lanes."""
        self.awake.update(dict.fromkeys(lanes))

    # -- letting them rest ----------------------------------------------------------

    def rest(self) -> None:
        """Look at no lane until something changes; what else each waits for is said before."""
        self.awake.clear()

    def wish(self, lane: Lane, pool: Pool, count: int) -> None:
        """Have `lane` looked at once `count` instances of a unit are idle and lendable."""
        self._wishes.setdefault(pool, {})[lane] = count
        pool.wished = min(pool.wished, count)

    def watch(self, lane: Lane) -> None:
        """Have `lane` looked at once anything changes."""
        self._watching[lane] = None

    def eye(self, lane: Lane) -> None:
        """Have `lane` looked at once jobs are being stopped."""
        self._eyeing[lane] = None
