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

__all__ = ["Outlook", "Trial"]


class Trial:
    """Jobs taken and released to see what would follow, as a context: on leaving it the ledger is as before."""

    __slots__ = ("_log",)

    def __init__(self) -> None:
        self._log: list[tuple[Job, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo(0)

    def take(self, job: Job) -> None:
        """Let `job` hold its demand."""
        job.job_class.hold(1)
        self._log.append((job, 1))

    def release(self, job: Job) -> None:
        """Let `job` hold nothing."""
        job.job_class.hold(-1)
        self._log.append((job, -1))

    def mark(self) -> int:
        """Return a point to :meth:`undo` to."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back everything since `mark`."""
        log = self._log
        while len(log) > mark:
            job, times = log.pop()
            job.job_class.hold(-times)


class Outlook(Trial):
    """What `lane` can count on.

    Jobs that are stopping hold nothing any more. Claims of other lanes hold what they claim:
    those of entitled jobs always, those of jobs that would borrow only for one that would borrow
    too (contract.md section 3, *Claims*).

    Parameters
    ----------
    state : QueueState
    lane : Lane
        Whose own claim doesn't count.
    """

    __slots__ = ("_borrowing", "_lane", "_state")

    def __init__(self, state: QueueState, lane: Lane | None) -> None:
        super().__init__()
        self._state = state
        self._lane = lane
        self._borrowing: dict[Lane, Job | None] = {}
        """Other lanes with a claim of a job that would borrow, or of nobody any more."""

    def __enter__(self) -> Self:
        if self._state.stopping:
            for job in self._state.stopping:
                self.release(job)
            claims = {lane: self._state.front(lane) for lane in self._state.claims() if lane is not self._lane}
            entitled = [job for job in claims.values() if job is not None and job.job_class.within_limit()]
            self._borrowing = {lane: job for lane, job in claims.items() if job not in entitled}
            for job in entitled:
                self.take(job)
        return self

    def can_borrow(self, job: Job) -> bool:
        """Whether I1, I3 and I4 hold with a `job` that borrows; claims to borrow count."""
        mark = self.mark()
        for claimant in self._borrowing.values():
            if claimant is not None:
                self.take(claimant)
        answer = job.job_class.can_borrow()
        self.undo(mark)
        return answer

    def needs(self, job: Job, holder: Job) -> bool:
        """Whether `holder` holds a unit of which `job` is beyond its share's limit, or short."""
        held = {unit for unit, _ in holder.demand}
        return any(
            account.pool.unit in held and (account.use + count > account.limit or account.need(count) > 0)
            for account, count in job.job_class.parts
        )

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        return self._state.ledger.over_ceiling(share)

    def stopping_for_borrowers(self) -> list[Job]:
        """Return the jobs that stop for another lane's claim of a job that would borrow."""
        return [job for job, lane in self._state.stopping.items() if lane in self._borrowing]
