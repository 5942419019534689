"""Everything the scheduling pass looks at: the ledger, waiting and holding jobs, and claims.

The state only records; which jobs run or stop is decided in ``scheduling_pass.py``.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from quota_scheduler.assumptions import HeadOfLine, QueueTime, VictimOrder
from quota_scheduler.job import JobState
from quota_scheduler.ledger import Ledger
from quota_scheduler.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.job import Job
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

__all__ = ["Lane", "QueueState", "ShareState"]


class Lane:
    """One line of waiting jobs, and the claim of its front job.

    A share has a single lane. Where only jobs that need the same units hold each other
    up (assumption A6, ``UNIT``), it has one for each combination of units.

    Attributes
    ----------
    share : str
        Name of the share it belongs to.
    waiting : WaitingQueue
    claim : dict of Job to None
        Jobs that are being stopped for this lane's front job, in order of their choice;
        empty where there is no claim (contract.md section 3).
    judged : Job or None
        The front job that was last looked at for a blocked reason.
    """

    __slots__ = ("claim", "judged", "share", "waiting")

    def __init__(self, share: str) -> None:
        self.share = share
        self.waiting = WaitingQueue()
        self.claim: dict[Job, None] = {}
        self.judged: Job | None = None


class ShareState:
    """A quota share with its jobs.

    Attributes
    ----------
    share : QuotaShare
        As the policy in force has it.
    lanes : dict
        Key to lane; the key is empty, or the units of the lane's jobs.
    holding : list of (tuple, Job)
        Jobs in SCHEDULED, STARTING or RUNNING, the next victim first.
    """

    __slots__ = ("holding", "lanes", "share")

    def __init__(self, share: QuotaShare) -> None:
        self.share = share
        self.lanes: dict[tuple[str, ...], Lane] = {}
        self.holding: list[tuple[tuple[int, float, int], Job]] = []

    def has_claim(self) -> bool:
        """Whether jobs are being stopped for this share."""
        return any(lane.claim for lane in self.lanes.values())


class QueueState:
    """Jobs and capacity of one job queue under a policy.

    Parameters
    ----------
    policy : QuotaPolicy
    assumptions : Assumptions
    """

    def __init__(self, policy: QuotaPolicy, assumptions: Assumptions) -> None:
        self.policy = policy
        self.assumptions = assumptions
        self.ledger = Ledger(policy, assumptions)
        self.shares = {share.name: ShareState(share) for share in policy.shares}
        self.stopping: dict[Job, Lane | None] = {}
        """Jobs being preempted, and the lane whose claim they stop for."""
        self._dispatches = 0

    # -- policy -----------------------------------------------------------------

    def adopt(self, policy: QuotaPolicy) -> None:
        """Put `policy` in force: every job stays where it is, sums are made anew.

        Shares the policy no longer has must have no jobs left.
        """
        self.policy = policy
        self.ledger = Ledger(policy, self.assumptions)
        shares = {share.name: self.shares.get(share.name) or ShareState(share) for share in policy.shares}
        for share in policy.shares:
            shares[share.name].share = share
        self.shares = shares
        for name, state in shares.items():
            for _, job in state.holding:
                self.ledger.take(name, job.demand)
            for lane in state.lanes.values():
                lane.judged = None

    # -- waiting ----------------------------------------------------------------

    def lane_of(self, job: Job) -> Lane:
        """Return the lane `job` waits in."""
        by_unit = self.assumptions.head_of_line is HeadOfLine.UNIT
        key = tuple(unit for unit, _ in job.demand) if by_unit else ()
        lanes = self.shares[job.share].lanes
        if key not in lanes:
            lanes[key] = Lane(job.share)
        return lanes[key]

    def wait(self, job: Job, now: float) -> None:
        """Make `job` RUNNABLE; `now` in seconds."""
        first_time = job.state is JobState.SUBMITTED
        job.state = JobState.RUNNABLE
        job.runnable_since = now
        keeps_place = first_time or self.assumptions.requeue_keeps_place
        self.lane_of(job).waiting.add(job, job.created if keeps_place else now)

    def leave_queue(self, job: Job) -> None:
        """Take a waiting job out of its lane."""
        self.lane_of(job).waiting.remove(job)
        job.blocked = None

    def fronts(self) -> list[tuple[Job, Lane]]:
        """Return the front jobs of all shares in the order shares are served (contract.md section 2)."""
        fronts = []
        for state in self.shares.values():
            for lane in state.lanes.values():
                front = lane.waiting.front()
                if front is not None:
                    fronts.append((self._turn(front), front, lane))
        fronts.sort(key=_turn_of)
        if self.assumptions.head_of_line is HeadOfLine.UNIT:
            return [(job, lane) for _, job, lane in fronts if not self._held_up(job, lane)]
        return [(job, lane) for _, job, lane in fronts]

    def front(self, lane: Lane) -> Job | None:
        """Return the front job of `lane` unless it is blocked or held up."""
        job = lane.waiting.front()
        if job is None or job.blocked is not None or self._held_up(job, lane):
            return None
        return job

    def _held_up(self, job: Job, lane: Lane) -> bool:
        """Whether an earlier job of another lane of the share needs one of the same units (A6)."""
        lanes = self.shares[lane.share].lanes.values()
        fronts = (other.waiting.front() for other in lanes if other is not lane)
        units = {unit for unit, _ in job.demand}
        return any(
            front is not None
            and front.entry is not None
            and job.entry is not None
            and front.entry < job.entry
            and any(unit in units for unit, _ in front.demand)
            for front in fronts
        )

    def _turn(self, job: Job) -> tuple[float, int, int]:
        by_created = self.assumptions.queue_time is QueueTime.CREATED
        if by_created and job.entry is not None:
            return job.entry[1], -job.rank, job.sequence
        return job.runnable_since, -job.rank, job.sequence

    # -- holding ----------------------------------------------------------------

    def hold(self, job: Job, now: float) -> None:
        """Let `job` hold its demand from `now`, in seconds."""
        self._dispatches += 1
        job.state = JobState.SCHEDULED
        job.dispatched_at = now
        job.dispatch_order = self._dispatches
        self.ledger.take(job.share, job.demand)
        insort(self.shares[job.share].holding, (self._victim_key(job), job))

    def release(self, job: Job) -> None:
        """Let `job` hold nothing any more."""
        self.ledger.release(job.share, job.demand)
        holding = self.shares[job.share].holding
        del holding[bisect_left(holding, (self._victim_key(job),))]

    def set_priority(self, job: Job, priority: int) -> None:
        """Change the priority of a waiting or holding job."""
        if job.state.holds:
            holding = self.shares[job.share].holding
            del holding[bisect_left(holding, (self._victim_key(job),))]
            job.priority = priority
            insort(holding, (self._victim_key(job), job))
        else:
            job.priority = priority
            self.lane_of(job).waiting.reorder(job)

    def _victim_key(self, job: Job) -> tuple[int, float, int]:
        if self.assumptions.victim_order is VictimOrder.NEWEST_FIRST:
            return job.rank, -job.dispatched_at, -job.dispatch_order
        return job.rank, job.dispatched_at, job.dispatch_order

    # -- claims -----------------------------------------------------------------

    def start_stopping(self, job: Job, lane: Lane | None) -> None:
        """Count `job` as being stopped for the front job of `lane`, whoever it stopped for before."""
        earlier = self.stopping.get(job)
        if earlier is not None:
            del earlier.claim[job]
        self.stopping[job] = lane
        if lane is not None:
            lane.claim[job] = None

    def end_stopping(self, job: Job) -> Lane | None:
        """Count `job` as stopped; return the lane whose claim this completes, if any."""
        lane = self.stopping.pop(job)
        if lane is None:
            return None
        del lane.claim[job]
        return None if lane.claim else lane

    def claims(self) -> Iterator[Lane]:
        """Iterate over the lanes that have a claim."""
        return iter({id(lane): lane for lane in self.stopping.values() if lane is not None}.values())


def _turn_of(front: tuple[tuple[float, int, int], Job, Lane]) -> tuple[float, int, int]:
    return front[0]
