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
    from collections.abc import Iterable, Iterator

    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.job import Job
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

__all__ = ["Lane", "QueueState", "ShareState"]

_NO_TURN = (0.0, 0, 0)
_ENDLESS = float("inf")


class Lane:
    """One line of waiting jobs, and the claim of its front job.

    A share has a single lane. Where only jobs that need the same units hold each other
    up (assumption A6, ``UNIT``), it has one for each combination of units.

    Attributes
    ----------
    share : str
        Name of the share it belongs to.
    waiting : WaitingQueue
    front : Job or None
        The first waiting job.
    turn : tuple
        Place of the front job among the front jobs of all lanes (contract.md section 2).
    claim : dict of Job to None
        Jobs that are being stopped for this lane's front job, in order of their choice;
        empty where there is no claim (contract.md section 3).
    quiet_until : float
        Nothing can be done for the front job before this many instances were freed in all,
        unless something about its share changes.
    """

    __slots__ = ("claim", "front", "quiet_until", "share", "turn", "waiting")

    def __init__(self, share: str) -> None:
        self.share = share
        self.waiting = WaitingQueue()
        self.front: Job | None = None
        self.turn: tuple[float, int, int] = _NO_TURN
        self.claim: dict[Job, None] = {}
        self.quiet_until = 0.0


class ShareState:
    """A quota share with its jobs.

    Attributes
    ----------
    share : QuotaShare
        As the policy in force has it.
    borrows : bool
        Whether its strategy lets it borrow.
    lanes : dict of tuple to Lane
        By the units of their jobs; by the empty tuple where the share has a single lane.
    holding : list of (tuple, Job)
        Jobs in SCHEDULED, STARTING or RUNNING, the next victim first.
    """

    __slots__ = ("borrows", "holding", "lanes", "share")

    def __init__(self, share: QuotaShare) -> None:
        self.adopt(share)
        self.lanes: dict[tuple[str, ...], Lane] = {}
        self.holding: list[tuple[tuple[int, float, int], Job]] = []

    def adopt(self, share: QuotaShare) -> None:
        """Put another version of the share in force."""
        self.share = share
        self.borrows = share.sharing.borrows

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
        self.line: list[tuple[tuple[float, int, int], Lane]] = []
        """Lanes with a front job, in the order in which they are served."""
        self._by_unit = assumptions.head_of_line is HeadOfLine.UNIT
        self._by_created = assumptions.queue_time is QueueTime.CREATED
        self._newest_first = assumptions.victim_order is VictimOrder.NEWEST_FIRST
        self.new_fronts: list[Lane] = []
        """Lanes whose front job wasn't looked at yet for whether it can ever run."""
        self._dispatches = 0
        self._freed = 0
        self._quiet_until = 0.0

    # -- policy -----------------------------------------------------------------

    def adopt(self, policy: QuotaPolicy) -> None:
        """Put `policy` in force: every job stays where it is, sums are made anew.

        Shares the policy no longer has must have no jobs left.
        """
        self.policy = policy
        self.ledger = Ledger(policy, self.assumptions)
        shares = {share.name: self.shares.get(share.name) or ShareState(share) for share in policy.shares}
        for share in policy.shares:
            shares[share.name].adopt(share)
        self.shares = shares
        for name, state in shares.items():
            for _, job in state.holding:
                self.ledger.take(name, job.demand)
            self.new_fronts += state.lanes.values()
        self._wake_all()

    # -- waiting ----------------------------------------------------------------

    def lane_of(self, job: Job) -> Lane:
        """Return the lane `job` waits in."""
        key = tuple(unit for unit, _ in job.demand) if self._by_unit else ()
        lanes = self.shares[job.share].lanes
        lane = lanes.get(key)
        if lane is None:
            lanes[key] = lane = Lane(job.share)
        return lane

    def wait(self, job: Job, now: float) -> None:
        """Make `job` RUNNABLE; `now` in seconds."""
        first_time = job.state is JobState.SUBMITTED
        job.state = JobState.RUNNABLE
        job.runnable_since = now
        lane = self.lane_of(job)
        keeps_place = first_time or self.assumptions.requeue_keeps_place
        lane.waiting.add(job, job.created if keeps_place else now)
        self._refresh(lane)

    def leave_queue(self, job: Job) -> None:
        """Take a waiting job out of its lane."""
        lane = self.lane_of(job)
        lane.waiting.remove(job)
        job.blocked = None
        self._refresh(lane)

    def _refresh(self, lane: Lane) -> None:
        """Bring front job and turn of `lane` up to date after its waiting jobs changed."""
        front = lane.waiting.front()
        turn = _NO_TURN if front is None else self._turn(front)
        if front is lane.front and turn == lane.turn:
            return
        if lane.front is not None:
            del self.line[bisect_left(self.line, (lane.turn,))]
        lane.front, lane.turn = front, turn
        if front is not None:
            insort(self.line, (turn, lane))
        lanes = self.shares[lane.share].lanes.values() if self._by_unit else (lane,)
        self.new_fronts += lanes
        self._wake(lanes)

    def _turn(self, job: Job) -> tuple[float, int, int]:
        if self._by_created and job.entry is not None:
            return job.entry[1], -job.rank, job.sequence
        return job.runnable_since, -job.rank, job.sequence

    def fronts(self) -> list[tuple[Job, Lane]]:
        """Return the front jobs of all shares, blocked ones too, in the order shares are served."""
        return [
            (lane.front, lane)
            for _, lane in self.line
            if lane.front is not None and not (self._by_unit and self._held_up(lane.front, lane))
        ]

    def fronts_to_look_at(self) -> list[tuple[Job, Lane]]:
        """Return the front jobs for which something might be done, in the order shares are served."""
        freed = _ENDLESS if self.stopping else self._freed
        if freed < self._quiet_until:
            return []
        return [(job, lane) for job, lane in self.fronts() if lane.quiet_until <= freed and job.blocked is None]

    def leave_quiet(self, lanes: Iterable[tuple[Lane, float]]) -> None:
        """Don't look at lanes again until some instances were freed, or something about their share changes.

        Parameters
        ----------
        lanes : iterable of (Lane, float)
            All that were to be looked at, with the least number of instances that must be freed.
        """
        if not self.assumptions.skip_unfit_fronts:
            return  # a borrower that doesn't fit must be seen, to be waited for (A9)
        for lane, instances in lanes:
            lane.quiet_until = self._freed + instances
        self._quiet_until = min(
            (lane.quiet_until for _, lane in self.line if lane.front is not None and lane.front.blocked is None),
            default=_ENDLESS,
        )

    def _wake(self, lanes: Iterable[Lane]) -> None:
        """Have the pass look at the front jobs of `lanes` again."""
        self._quiet_until = 0.0
        for lane in lanes:
            lane.quiet_until = 0.0

    def _wake_all(self) -> None:
        self._wake(lane for _, lane in self.line)

    def first_of(self, lane: Lane) -> Job | None:
        """Return the front job of `lane`, blocked or not, unless it is held up."""
        job = lane.front
        return None if job is None or (self._by_unit and self._held_up(job, lane)) else job

    def front(self, lane: Lane) -> Job | None:
        """Return the front job of `lane` unless it is blocked or held up."""
        job = self.first_of(lane)
        return None if job is None or job.blocked is not None else job

    def _held_up(self, job: Job, lane: Lane) -> bool:
        """Whether an earlier job of another lane of the share needs one of the same units (A6)."""
        fronts = (other.front for other in self.shares[lane.share].lanes.values() if other is not lane)
        units = {unit for unit, _ in job.demand}
        return any(
            front is not None
            and front.entry is not None
            and job.entry is not None
            and front.entry < job.entry
            and any(unit in units for unit, _ in front.demand)
            for front in fronts
        )

    def unblock(self, job: Job) -> None:
        """Let a waiting job be looked at again."""
        job.blocked = None
        lane = self.lane_of(job)
        self.new_fronts.append(lane)
        self._wake((lane,))

    # -- holding ----------------------------------------------------------------

    def hold(self, job: Job, now: float) -> None:
        """Let `job` hold its demand from `now`, in seconds."""
        self._dispatches += 1
        job.state = JobState.SCHEDULED
        job.dispatched_at = now
        job.dispatch_order = self._dispatches
        self.ledger.take(job.share, job.demand)
        share = self.shares[job.share]
        insort(share.holding, (self._victim_key(job), job))
        self._wake(share.lanes.values())

    def release(self, job: Job) -> None:
        """Let `job` hold nothing any more."""
        self.ledger.release(job.share, job.demand)
        share = self.shares[job.share]
        del share.holding[bisect_left(share.holding, (self._victim_key(job),))]
        for _, count in job.demand:
            self._freed += count
        self._wake(share.lanes.values())

    def set_priority(self, job: Job, priority: int) -> None:
        """Change the priority of a waiting or holding job."""
        share = self.shares[job.share]
        if job.state.holds:
            del share.holding[bisect_left(share.holding, (self._victim_key(job),))]
            job.priority = priority
            insort(share.holding, (self._victim_key(job), job))
            self._wake(share.lanes.values())
        else:
            job.priority = priority
            lane = self.lane_of(job)
            lane.waiting.reorder(job)
            self._refresh(lane)

    def _victim_key(self, job: Job) -> tuple[int, float, int]:
        if self._newest_first:
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
        if not self.stopping:
            self._wake_all()
        if lane is None:
            return None
        del lane.claim[job]
        return None if lane.claim else lane

    def claims(self) -> Iterator[Lane]:
        """Iterate over the lanes that have a claim."""
        return iter({id(lane): lane for lane in self.stopping.values() if lane is not None}.values())
