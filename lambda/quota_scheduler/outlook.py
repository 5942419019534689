"""The ledger as it will stand once everything under way is done, to try things on.

Trying is done on the ledger itself and undone afterwards: what that costs depends on the claims
and the victims tried, not on the number of shares and jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from quota_scheduler.job import Job
    from quota_scheduler.ledger import Request
    from quota_scheduler.queue_state import Lane, QueueState

__all__ = ["Outlook", "Trial"]


class Trial:
    """Jobs taken and released to see what would follow, as a context: on leaving it the ledger is as before.

    Jobs that are stopping hold nothing any more.

    Parameters
    ----------
    state : QueueState

    Attributes
    ----------
    ledger : Ledger
        What is tried on: the ledger as it is, or, while jobs are stopping, as it will be.
    """

    __slots__ = ("_log", "_state", "_stopping", "ledger")

    def __init__(self, state: QueueState) -> None:
        self._state = state
        self._stopping = bool(state.stopping)
        self.ledger = state.later if self._stopping else state.ledger
        self._log: list[tuple[Request, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo(0)

    def request(self, job: Job) -> Request:
        """Return the demand of `job` as the ledger that is tried on counts it."""
        return job.job_class.later if self._stopping else job.job_class

    def take(self, job: Job) -> None:
        """Let `job` hold its demand."""
        request = self.request(job)
        request.hold(1)
        self._log.append((request, 1))

    def release(self, job: Job) -> None:
        """Let `job` hold nothing."""
        request = self.request(job)
        request.hold(-1)
        self._log.append((request, -1))

    def mark(self) -> int:
        """Return a point to :meth:`undo` to."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back everything since `mark`."""
        log = self._log
        while len(log) > mark:
            request, times = log.pop()
            request.hold(-times)


class Outlook(Trial):
    """What `lane` can count on.

    Claims of other lanes hold what they claim: those of entitled jobs always, those of jobs that
    would borrow only for one that would borrow too (contract.md section 3, *Claims*).

    Parameters
    ----------
    state : QueueState
    lane : Lane
        Whose own claim doesn't count.
    """

    __slots__ = ("_borrowing", "_lane")

    def __init__(self, state: QueueState, lane: Lane | None) -> None:
        super().__init__(state)
        self._lane = lane
        self._borrowing: dict[Lane, Job | None] = {}
        """Other lanes with a claim of a job that would borrow, or of nobody any more."""

    def __enter__(self) -> Self:
        entitled = []
        for lane in self._state.claiming:
            if lane is not self._lane:
                job = self._state.front(lane)
                if job is not None and job.job_class.later.within_limit():
                    entitled.append(job)
                else:
                    self._borrowing[lane] = job
        for job in entitled:
            self.take(job)
        return self

    def can_borrow(self, job: Job) -> bool:
        """Whether I1, I3 and I4 hold with a `job` that borrows; claims to borrow count."""
        mark = self.mark()
        for claimant in self._borrowing.values():
            if claimant is not None:
                self.take(claimant)
        answer = self.request(job).can_borrow()
        self.undo(mark)
        return answer

    def needs(self, job: Job, holder: Job) -> bool:
        """Whether `holder` holds a unit of which `job` is beyond its share's limit, or short."""
        held = {unit for unit, _ in holder.demand}
        return any(
            account.pool.unit in held and (account.use + count > account.limit or account.need(count) > 0)
            for account, count in self.request(job).parts
        )

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        return self.ledger.over_ceiling(share)

    def stopping_for_borrowers(self) -> list[Job]:
        """Return the jobs that stop for another lane's claim of a job that would borrow."""
        if not self._borrowing:
            return []
        return [job for job, lane in self._state.stopping.items() if lane in self._borrowing]
