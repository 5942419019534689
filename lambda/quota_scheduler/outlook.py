"""The ledger as it will stand once everything under way is done, to try things on.

Trying is done on the live ledger and undone afterwards: what that costs depends on the jobs
that are stopping and the victims tried, not on the number of shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from quota_scheduler.job import Job
    from quota_scheduler.queue_state import Lane, QueueState

__all__ = ["Outlook"]


class Outlook:
    """What `lane` can count on, as a context: on leaving it the ledger is as before.

    Jobs that are stopping hold nothing any more. Claims of other lanes hold what they claim:
    those of entitled jobs always, those of jobs that would borrow only for one that would borrow
    too (contract.md section 3, *Claims*).

    Parameters
    ----------
    state : QueueState
    lane : Lane
        Whose own claim doesn't count.
    """

    __slots__ = ("_borrowing", "_lane", "_ledger", "_log", "_state")

    def __init__(self, state: QueueState, lane: Lane | None) -> None:
        self._state = state
        self._lane = lane
        self._ledger = state.ledger
        self._log: list[tuple[Job, bool]] = []
        self._borrowing: dict[Lane, Job | None] = {}
        """Other lanes with a claim of a job that would borrow, or of nobody any more."""

    def __enter__(self) -> Self:
        if self._state.stopping:
            for job in self._state.stopping:
                self.release(job)
            claims = {lane: self._state.front(lane) for lane in self._state.claims() if lane is not self._lane}
            entitled = [job for job in claims.values() if job is not None and self.within_limit(job)]
            self._borrowing = {lane: job for lane, job in claims.items() if job not in entitled}
            for job in entitled:
                self.take(job)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo(0)

    def take(self, job: Job) -> None:
        """Let `job` hold its demand."""
        self._ledger.take(job.share, job.demand)
        self._log.append((job, True))

    def release(self, job: Job) -> None:
        """Let `job` hold nothing."""
        self._ledger.release(job.share, job.demand)
        self._log.append((job, False))

    def mark(self) -> int:
        """Return a point to :meth:`undo` to."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back everything since `mark`."""
        ledger, log = self._ledger, self._log
        while len(log) > mark:
            job, taken = log.pop()
            if taken:
                ledger.release(job.share, job.demand)
            else:
                ledger.take(job.share, job.demand)

    def within_limit(self, job: Job) -> bool:
        """Whether `job` is entitled to its demand."""
        return self._ledger.within_limit(job.share, job.demand)

    def fits(self, job: Job) -> bool:
        """Whether I1 and I4 hold with an entitled `job`."""
        return self._ledger.fits(job.share, job.demand)

    def shortage(self, job: Job) -> dict[str, int]:
        """Return what must be freed of each unit before an entitled `job` fits, in instances."""
        return self._ledger.shortage(job.share, job.demand)

    def over(self, job: Job, unit: str) -> int:
        """Return what the share of `job` uses of `unit` beyond its limit, in instances."""
        return self._ledger.over(job.share, unit)

    def can_borrow(self, job: Job) -> bool:
        """Whether I1, I3 and I4 hold with a `job` that borrows; claims to borrow count."""
        mark = self.mark()
        for claimant in self._borrowing.values():
            if claimant is not None:
                self.take(claimant)
        answer = self._ledger.can_borrow(job.share, job.demand)
        self.undo(mark)
        return answer

    def needs(self, job: Job, holder: Job) -> bool:
        """Whether `holder` holds a unit of which `job` is beyond its share's limit, or short."""
        held = {unit for unit, _ in holder.demand}
        parts = (((unit, count),) for unit, count in job.demand if unit in held)
        ledger, share = self._ledger, job.share
        return any(not ledger.within_limit(share, part) or not ledger.fits(share, part) for part in parts)

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        return self._ledger.over_ceiling(share)

    def stopping_for_borrowers(self) -> list[Job]:
        """Return the jobs that stop for another lane's claim of a job that would borrow."""
        return [job for job, lane in self._state.stopping.items() if lane in self._borrowing]
