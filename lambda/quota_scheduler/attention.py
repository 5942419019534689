"""Which front jobs a pass has to look at: those for which something can have changed since the last one.

A front job that nothing could be done for is left until its own share changes, until as much
capacity is idle as it lacks, or, where more than that can help it, until anything changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quota_scheduler.ledger import Pool
    from quota_scheduler.queue_state import Lane

__all__ = ["Attention"]


class Attention:
    """Lanes to look at, and what the front jobs of the others wait for.

    Attributes
    ----------
    awake : dict of Lane to None
        Lanes with a front job whose share's jobs, or what they hold, changed since the last pass came
        to rest; one may stand for all lanes of its share.
    watching : dict of Lane to None
        Lanes to be looked at once anything changes.
    """

    __slots__ = ("_eyeing", "_wishes", "awake", "watching")

    def __init__(self) -> None:
        self.awake: dict[Lane, None] = {}
        self.watching: dict[Lane, None] = {}
        self._eyeing: dict[Lane, None] = {}
        self._wishes: dict[Pool, dict[Lane, int]] = {}

    def rest(self) -> None:
        """Look at nothing until something changes; what else each front job waits for is said afterwards."""
        self.awake.clear()
        self.watching.clear()

    def watch(self, lane: Lane) -> None:
        """Have `lane` looked at once anything changes."""
        self.watching[lane] = None

    def eye(self, lane: Lane) -> None:
        """Have `lane` looked at once jobs are being stopped."""
        self._eyeing[lane] = None

    def preemptions_begin(self) -> None:
        """Look at those that may preempt: until every job has stopped, more than idle capacity counts."""
        self.watching.update(self._eyeing)
        self._eyeing.clear()

    def wish(self, lane: Lane, pool: Pool, count: int) -> None:
        """Have `lane` looked at once `count` instances of a unit are both free and spare."""
        self._wishes.setdefault(pool, {})[lane] = count
        if count < pool.wished:
            pool.wished = float(count)

    def fulfil_wishes(self) -> bool:
        """Look at the lanes that capacity given up can help; return whether there are any."""
        fulfilled = False
        for pool, wishes in self._wishes.items():
            if pool.wished <= pool.free and pool.wished <= pool.spare:
                fulfilled = self._fulfil(pool, wishes) or fulfilled
        return fulfilled

    def _fulfil(self, pool: Pool, wishes: dict[Lane, int]) -> bool:
        idle = min(pool.free, pool.spare)
        lanes = [lane for lane, count in wishes.items() if count <= idle]
        for lane in lanes:
            del wishes[lane]
            self.awake[lane] = None
        pool.wished = min(wishes.values(), default=float("inf"))
        return bool(lanes)
