"""How a scheduler is copied and pickled: by what it knows, from which it is built anew.

So a copy doesn't depend on how schedulers are built, and sums, heaps and the like are neither written down nor
read. What it answers from then on is what the original would have answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quota_scheduler.queue_state import ShareState

if TYPE_CHECKING:
    from quota_scheduler.job import Job
    from quota_scheduler.policy import QuotaShare
    from quota_scheduler.queue_state import Lane, QueueState
    from quota_scheduler.scheduler import Scheduler

__all__ = ["Record", "record", "revive"]

_OPTIONS = ("policy", "assumptions", "preemption_seconds", "time_limits", "explains")
_PROGRESS = ("paused", "_timers", "_timer_count", "_sequence", "_outcomes")


class Record(NamedTuple):
    """What a scheduler knows.

    Attributes
    ----------
    options, progress : dict of str to Any
        What it was made with, and how far it is.
    dispatches : int
        How many there were.
    jobs : list of (Job, float or None)
        Every job that isn't final, in order of submission, with the time that gives a waiting one its place.
    stopping : list of Job
        Those being preempted, in order of their choice.
    lanes : list of (QuotaShare, tuple of str, bool)
        All lanes, in order: their share, the units of their jobs, and whether that share still is the policy's.
    claims : list of list of Job
        Who stops for each of these lanes, in order of their choice.
    completed, misjudged : list of int
        Which of these lanes have got all they claimed and weren't served yet, and whose front job is to be judged.
    """

    options: dict[str, Any]
    progress: dict[str, Any]
    dispatches: int
    jobs: list[tuple[Job, float | None]]
    stopping: list[Job]
    lanes: list[tuple[QuotaShare, tuple[str, ...], bool]]
    claims: list[list[Job]]
    completed: list[int]
    misjudged: list[int]


def record(scheduler: Scheduler) -> Record:
    """Write down what `scheduler` knows; its jobs are in it themselves."""
    state = scheduler.state
    there = [lane for share in state.shares.values() for lane in share.lanes.values()]
    lanes = list(dict.fromkeys([*there, *state.claiming, *scheduler.completed_claims, *state.misjudged]))
    return Record(
        options={name: getattr(scheduler, name) for name in _OPTIONS},
        progress={name: getattr(scheduler, name) for name in _PROGRESS},
        dispatches=state.dispatches,
        jobs=[(job, None if job.entry is None else job.entry[1]) for job in scheduler.jobs.values()],
        stopping=list(state.stopping),
        lanes=[_place(state, lane) for lane in lanes],
        claims=[list(lane.claim) for lane in lanes],
        completed=[lanes.index(lane) for lane in scheduler.completed_claims],
        misjudged=[lanes.index(lane) for lane in state.misjudged],
    )


def revive(kind: type[Scheduler], known: Record) -> Scheduler:
    """Make a scheduler of a class that stands where the recorded one stood; it takes over the jobs."""
    scheduler = kind(**known.options)
    for name, value in known.progress.items():
        setattr(scheduler, name, value)
    state = scheduler.state
    lanes = [_lane(state, *place) for place in known.lanes]
    for job, time in sorted(known.jobs, key=lambda entry: entry[0].dispatch_order):
        state.put_back(job, time)
    scheduler.jobs = {job.id: job for job, _ in known.jobs}
    state.dispatches = known.dispatches
    for job in known.stopping:
        state.start_stopping(job, None)
    for lane, claim in zip(lanes, known.claims, strict=True):
        for job in claim:
            state.start_stopping(job, lane)
    scheduler.completed_claims = [lanes[index] for index in known.completed]
    state.adopt(scheduler.policy)
    state.misjudged = [lanes[index] for index in known.misjudged]
    return scheduler


def _place(state: QueueState, lane: Lane) -> tuple[QuotaShare, tuple[str, ...], bool]:
    owner = lane.owner
    units = next(units for units, other in owner.lanes.items() if other is lane)
    return owner.share, units, state.shares.get(lane.share) is owner


def _lane(state: QueueState, share: QuotaShare, units: tuple[str, ...], is_there: bool) -> Lane:
    """Return a lane; that of a share which was deleted meanwhile only keeps its claim apart from those of others."""
    owner = state.shares[share.name] if is_there else ShareState(share, newest_first=False)
    return state.lane(owner, units)
