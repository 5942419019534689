"""Everything the scheduling pass looks at: the ledger, waiting and holding jobs, and claims.

The state only records; which jobs run or stop is decided in ``scheduling_pass.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from quota_scheduler.assumptions import HeadOfLine, QueueTime, VictimOrder
from quota_scheduler.attention import Attention
from quota_scheduler.blocked import blocked_reason
from quota_scheduler.holding_jobs import HoldingJobs
from quota_scheduler.job_class import JobClass
from quota_scheduler.job_state import JobState
from quota_scheduler.ledger import Ledger
from quota_scheduler.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.demand import Demand
    from quota_scheduler.job import Job
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

__all__ = ["Lane", "QueueState", "ShareState"]

# before Python 3.12, naming an enum's member costs as much as a call
_SUBMITTED: Final = JobState.SUBMITTED
_RUNNABLE: Final = JobState.RUNNABLE
_SCHEDULED: Final = JobState.SCHEDULED


class Lane(WaitingQueue):
    """One line of waiting jobs, and the claim of its front job.

    A share has a single lane. Where only jobs that need the same units hold each other
    up (assumption A6, ``UNIT``), it has one for each combination of units.

    Attributes
    ----------
    share : str
        Name of the share it belongs to.
    owner : ShareState
        That share.
    claim : dict of Job to None
        Jobs that are being stopped for this lane's front job, in order of their choice;
        empty where there is no claim (contract.md section 3).
    """

    __slots__ = ("claim", "owner", "share")

    def __init__(self, owner: ShareState) -> None:
        super().__init__()
        self.share = owner.share.name
        self.owner = owner
        self.claim: dict[Job, None] = {}


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
    classes : dict of Demand to JobClass
    holding : HoldingJobs
        Jobs in SCHEDULED, STARTING or RUNNING, the next victim first.
    """

    __slots__ = ("borrows", "classes", "holding", "lanes", "preempts", "share")

    def __init__(self, share: QuotaShare, *, newest_first: bool) -> None:
        self.adopt(share)
        self.lanes: dict[tuple[str, ...], Lane] = {}
        self.classes: dict[Demand, JobClass] = {}
        self.holding = HoldingJobs(newest_first)

    def adopt(self, share: QuotaShare) -> None:
        """Put another version of the share in force."""
        self.share = share
        self.borrows = share.sharing.borrows
        self.preempts = share.in_share_preemption

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
        self.later = Ledger(policy, assumptions)
        """The ledger once every job that is stopping has stopped; kept up to date while there are any."""
        self.attention = Attention()
        self._awake = self.attention.awake
        self.stopping: dict[Job, Lane | None] = {}
        """Jobs being preempted, and the lane whose claim they stop for."""
        self.claiming: dict[Lane, None] = {}
        """Lanes that have a claim."""
        self._by_unit = assumptions.head_of_line is HeadOfLine.UNIT
        self._by_created = assumptions.queue_time is QueueTime.CREATED
        self._newest_first = assumptions.victim_order is VictimOrder.NEWEST_FIRST
        self._requeue_keeps_place = assumptions.requeue_keeps_place
        self.dispatches = 0
        """How many there were: the order of the next one."""
        self.misjudged: list[Lane] = []
        """Lanes whose front job isn't shown as blocked though it can never run, or the other way round."""
        self.shares = {share.name: self._new_share(share) for share in policy.shares}

    # -- policy -----------------------------------------------------------------

    def _new_share(self, share: QuotaShare) -> ShareState:
        return ShareState(share, newest_first=self._newest_first)

    def adopt(self, policy: QuotaPolicy) -> None:
        """Put `policy` in force: every job stays where it is, sums are made anew.

        Shares the policy no longer has must have no jobs left.
        """
        self.policy = policy
        self.ledger.adopt(policy)
        self.later.adopt(policy)
        self.shares = {share.name: self.shares.get(share.name) or self._new_share(share) for share in policy.shares}
        for share in policy.shares:
            state = self.shares[share.name]
            state.adopt(share)
            self._awake.update(dict.fromkeys(state.lanes.values()))
            for demand, job_class in state.classes.items():
                job_class.blocked = blocked_reason(policy, self.assumptions, share, demand)
            self.misjudged += state.lanes.values()

    def class_of(self, job: Job) -> JobClass:
        """Return the class of a job that was not taken before."""
        share = self.shares[job.share]
        job_class = share.classes.get(job.demand)
        if job_class is None:
            lane = self.lane(share, tuple(unit for unit, _ in job.demand) if self._by_unit else ())
            now, later = (ledger.request(job.share, job.demand) for ledger in (self.ledger, self.later))
            job_class = share.classes[job.demand] = JobClass(now, later, share, lane)
            job_class.blocked = blocked_reason(self.policy, self.assumptions, share.share, job.demand)
        return job_class

    def lane(self, share: ShareState, units: tuple[str, ...]) -> Lane:
        """Return the lane of a share for jobs that need `units`; without A6's ``UNIT``, that of no units for all."""
        lane = share.lanes.get(units)
        if lane is None:
            lane = share.lanes[units] = Lane(share)
        return lane

    def put_back(self, job: Job, time: float | None) -> None:
        """Let a job of another state of this queue hold here as it does there, or wait with the place `time` gives it.

        Jobs that hold come in order of dispatch. The policy has to be adopted afterwards.
        """
        job_class = job.job_class = self.class_of(job)
        if job.state.holds:
            job_class.hold(1)
            job_class.share.holding.add(job)
        elif time is not None:
            if job.blocked == job_class.blocked:
                job.blocked = job_class.blocked  # they are told apart by identity
            job_class.lane.add(job, time)

    # -- waiting ----------------------------------------------------------------

    def lane_of(self, job: Job) -> Lane:
        """Return the lane `job` waits in."""
        return job.job_class.lane

    def wait(self, job: Job, now: float) -> None:
        """Make `job` RUNNABLE; `now` in seconds."""
        lane = job.job_class.lane
        keeps_place = self._requeue_keeps_place or job.state is _SUBMITTED
        job.state = _RUNNABLE
        job.runnable_since = now
        lane.add(job, job.created if keeps_place else now)
        if lane.front is job:
            self._front_changed(lane)

    def leave_queue(self, job: Job) -> None:
        """Take a waiting job out of its lane."""
        lane = job.job_class.lane
        was_front = lane.front is job
        lane.remove(job)
        job.blocked = None
        if was_front:
            self._front_changed(lane)

    def _front_changed(self, lane: Lane) -> None:
        """Have another front job, or one whose priority changed, looked at."""
        front = lane.front
        if front is not None:
            self._awake[lane] = None
            if front.blocked is not front.job_class.blocked:
                self.misjudged.append(lane)
        elif lane in self._awake:
            del self._awake[lane]
        if self._by_unit:
            self._awake[lane] = None
            self.misjudged += lane.owner.lanes.values()

    def turn(self, lane: Lane) -> tuple[float, int, int, str]:
        """Return the place of a front job among those of all lanes (contract.md section 2)."""
        job = lane.front
        return (0.0, 0, 0, "") if job is None else self._turn(job)

    def _turn(self, job: Job) -> tuple[float, int, int, str]:
        if job.entry is None:
            return 0.0, 0, 0, ""
        rank, time, sequence, name, _ = job.entry
        return time if self._by_created else job.runnable_since, rank, sequence, name

    def fronts(self) -> list[tuple[Job, Lane]]:
        """Return the front jobs of all shares, blocked ones too, in the order shares are served."""
        lanes = sorted((lane for share in self.shares.values() for lane in share.lanes.values()), key=self.turn)
        return [(job, lane) for lane in lanes if (job := self.first_of(lane)) is not None]

    def fronts_to_look_at(self) -> list[Job]:
        """Return the front jobs for which something might be done, in the order shares are served."""
        lanes, watching = self._awake, self.attention.watching
        if watching:
            lanes = {**lanes, **watching}
        if self._by_unit:
            lanes = {sibling: None for lane in lanes for sibling in lane.owner.lanes.values()}
            fronts = [job for lane in lanes if (job := self.front(lane)) is not None]
        else:
            fronts = [job for lane in lanes if (job := lane.front) is not None and job.blocked is None]
        if len(fronts) > 1:
            fronts.sort(key=self._turn)
        return fronts

    def first_of(self, lane: Lane) -> Job | None:
        """Return the front job of `lane`, blocked or not, unless it is held up."""
        job = lane.front
        return None if job is None or (self._by_unit and self._held_up(job, lane)) else job

    def front(self, lane: Lane) -> Job | None:
        """Return the front job of `lane` unless it is blocked or held up."""
        job = lane.front
        return None if job is None or job.blocked is not None or (self._by_unit and self._held_up(job, lane)) else job

    def _held_up(self, job: Job, lane: Lane) -> bool:
        """Whether an earlier job of another lane of the share needs one of the same units (A6)."""
        fronts = (other.front for other in lane.owner.lanes.values() if other is not lane)
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
        self._front_changed(job.job_class.lane)

    # -- holding ----------------------------------------------------------------

    def hold(self, job: Job, now: float) -> None:
        """Let `job` hold its demand from `now`, in seconds."""
        self.dispatches += 1
        job.state = _SCHEDULED
        job.dispatched_at = now
        job.dispatch_order = self.dispatches
        job_class = job.job_class
        job_class.hold(1)
        if self.stopping:
            job_class.later.hold(1)
        job_class.share.holding.add(job)
        if job_class.lane.front is not None or self._by_unit:
            self._awake[job_class.lane] = None

    def release(self, job: Job) -> None:
        """Let `job` hold nothing any more."""
        job_class = job.job_class
        job_class.hold(-1)
        if self.stopping:
            job_class.later.hold(-1)
        job_class.share.holding.remove(job)
        if job_class.lane.front is not None or self._by_unit:
            self._awake[job_class.lane] = None

    def set_priority(self, job: Job, priority: int) -> None:
        """Change the priority of a waiting or holding job."""
        share, lane = job.job_class.share, job.job_class.lane
        if job.state.holds:
            share.holding.set_priority(job, priority)
            self._awake[lane] = None
        else:
            front = lane.front
            job.priority = priority
            lane.reorder(job)
            if lane.front is not front or front is job:
                self._front_changed(lane)

    def victim_order(self, job: Job) -> tuple[float, int]:
        """Return the place of a holding job among victims of one priority (A10)."""
        if self._newest_first:
            return -job.dispatched_at, -job.dispatch_order
        return job.dispatched_at, job.dispatch_order

    # -- claims -----------------------------------------------------------------

    def start_stopping(self, job: Job, lane: Lane | None) -> None:
        """Count `job` as being stopped for the front job of `lane`, whoever it stopped for before."""
        if not self.stopping:
            self.attention.preemptions_begin()
            self.later.copy(self.ledger)
        if job not in self.stopping:
            job.job_class.later.hold(-1)
        earlier = self.stopping.get(job)
        if earlier is not None:
            self._drop_from_claim(job, earlier)
        self.stopping[job] = lane
        self._awake[job.job_class.lane] = None
        if lane is not None:
            lane.claim[job] = None
            self.claiming[lane] = None
            self._awake[lane] = None

    def end_stopping(self, job: Job) -> Lane | None:
        """Count `job` as stopped; return the lane whose claim this completes, if any."""
        lane = self.stopping.pop(job)
        job.job_class.later.hold(1)
        self._awake[job.job_class.lane] = None
        if lane is None:
            return None
        self._drop_from_claim(job, lane)
        return None if lane.claim else lane

    def _drop_from_claim(self, job: Job, lane: Lane) -> None:
        del lane.claim[job]
        if not lane.claim:
            del self.claiming[lane]
        self._awake[lane] = None
