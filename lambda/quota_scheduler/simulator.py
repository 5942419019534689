"""What a policy does to a workload: a discrete-event simulation around the reference scheduler."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from quota_scheduler.job import Job
from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.result_builder import ResultBuilder
from quota_scheduler.scheduler import Scheduler
from quota_scheduler.simulation_settings import SimulationSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.policy import QuotaPolicy
    from quota_scheduler.simulation_recorder import SimulationObserver
    from quota_scheduler.simulation_result import SimulationResult
    from quota_scheduler.time_limits import TimeLimit
    from quota_scheduler.workload import Workload, WorkloadJob

__all__ = ["simulate"]

_NEVER: Final = float("inf")
_DISPATCHED: Final = OutcomeKind.DISPATCHED  # before Python 3.12, naming a member costs as much as a call


def simulate(
    policy: QuotaPolicy,
    workload: Workload,
    settings: SimulationSettings | None = None,
    *,
    assumptions: Assumptions | None = None,
    changes: Iterable[tuple[float, QuotaPolicy]] = (),
    time_limits: Iterable[TimeLimit] = (),
    on_progress: Callable[[int], None] | None = None,
    observer: SimulationObserver | None = None,
) -> SimulationResult:
    """Run a workload under a policy.

    Parameters
    ----------
    policy : QuotaPolicy
    workload : Workload
        A job of a share that isn't there, or is DISABLED, when it is submitted is counted as rejected.
    settings : SimulationSettings, optional
    assumptions : Assumptions, optional
    changes : iterable of (float, QuotaPolicy)
        Policies that come into force later, and when, in seconds of the workload.
    time_limits : iterable of TimeLimit
        The queue's job state time limit actions.
    on_progress : callable, optional
        Called with the number of jobs submitted so far, about every thousand jobs.
    observer : SimulationObserver, optional
        Is told what happens.

    Returns
    -------
    SimulationResult

    Raises
    ------
    JobError
        A job has a value that isn't allowed.
    """
    settings = settings or SimulationSettings()
    scheduler = Scheduler(
        policy,
        assumptions=assumptions,
        preemption_seconds=settings.preemption_seconds,
        time_limits=time_limits,
        explains=False,
    )
    run = _Simulation(scheduler, workload, settings, changes, observer)
    run.to_the_end(on_progress or (lambda count: None))
    return run.result.build()


class _SimulatedJob(Job):
    """A job, its work, and how much of it is done.

    Its times are those of the last outcome that was followed; the scheduler may be further on.
    """

    __slots__ = ("began", "done", "duration", "stopped_at")

    def __init__(self, plan: WorkloadJob) -> None:
        id, share, submit, duration, demand, priority, preemption_retries = plan
        super().__init__(id, share, demand, priority, submit, 0, preemption_retries)
        self.duration = duration
        self.done = 0.0
        self.began: float | None = None
        self.stopped_at = 0.0


class _Simulation:
    def __init__(
        self,
        scheduler: Scheduler,
        workload: Workload,
        settings: SimulationSettings,
        changes: Iterable[tuple[float, QuotaPolicy]],
        observer: SimulationObserver | None,
    ) -> None:
        start = workload.jobs[0].submit if workload.jobs else 0.0
        self.scheduler = scheduler
        self.result = ResultBuilder(scheduler.policy, start)
        self._settings = settings
        self._observer = observer
        self._jobs = workload.jobs
        self._changes = deque(sorted(changes, key=lambda change: change[0]))
        self._open: set[str] = set()
        self._ends: list[tuple[float, int, _SimulatedJob]] = []
        """When holding jobs will have done their work, with the dispatch that counts."""
        self.result.submitted(workload.jobs)
        if observer is not None:
            observer.adopt(scheduler.policy, start)
        self._change_policy(start)

    def to_the_end(self, on_progress: Callable[[int], None]) -> None:
        """Submit every job when its time has come, and go on until nothing runs any more."""
        arrivals, ends, changes = self._jobs, self._ends, self._changes
        scheduler, result, observer = self.scheduler, self.result, self._observer
        submitted, total = 0, len(arrivals)
        arrival = arrivals[0].submit if arrivals else _NEVER
        while True:
            now = ends[0][0] if ends and ends[0][0] < arrival else arrival
            due = scheduler.next_due()
            if due is not None and due < now:
                now = due
            if changes and changes[0][0] < now:
                now = changes[0][0]
            if now == _NEVER:
                break
            while ends and ends[0][0] == now:
                _, dispatch, job = heappop(ends)
                if job.dispatch_order == dispatch and job.state.holds:  # else it was stopped since that dispatch
                    scheduler.finish(job.id)
                    result.finished(job, now)
                    if observer is not None:
                        observer.ended(job, now, held=True)
            if changes and changes[0][0] == now:
                self._change_policy(now)
            while arrival == now:
                self._submit(arrivals[submitted])
                submitted += 1
                arrival = arrivals[submitted].submit if submitted < total else _NEVER
                if submitted % 1000 == 0:
                    on_progress(submitted)
            for outcome in scheduler.run(now):
                self._follow(outcome)
                if observer is not None:
                    observer.happened(outcome)
        on_progress(submitted)

    def _change_policy(self, now: float) -> None:
        """Put in force what is due, and end the jobs of shares that are deleted."""
        while self._changes and self._changes[0][0] <= now:
            _, policy = self._changes.popleft()
            kept = {share.name for share in policy.shares}
            for job in [job for job in self.scheduler.jobs.values() if job.share not in kept]:
                if job.state.holds:
                    self.result.released(job, now)
                self.result.terminated(job)
                if self._observer is not None:
                    self._observer.ended(job, now, held=job.state.holds)
            self.scheduler.set_policy(policy)
            self.result.adopt(policy, now)
            if self._observer is not None:
                self._observer.adopt(policy, now)
        self._open = {share.name for share in self.scheduler.policy.shares if share.enabled}

    def _submit(self, plan: WorkloadJob) -> None:
        if plan.share not in self._open:
            self.result.rejected(plan.share)
            return
        job = _SimulatedJob(plan)
        self.scheduler.submit(job, plan.submit)
        if self._observer is not None:
            self._observer.submitted(job, plan.submit)

    def _follow(self, outcome: Outcome) -> None:
        job: _SimulatedJob = outcome.job  # type: ignore[assignment]  # each was made by _submit
        kind, at = outcome.kind, outcome.at
        if kind is _DISPATCHED:
            heappush(self._ends, (at + job.duration - job.done, job.dispatch_order, job))
            self.result.dispatched(job, at, first=job.began is None)
            job.began = at
        elif kind is OutcomeKind.PREEMPTING:
            job.stopped_at = at
            self.result.preempting(job, outcome)
        elif kind is OutcomeKind.PREEMPTED:
            self._keep_checkpoint(job, outcome)
        elif kind is OutcomeKind.BLOCKED:
            self.result.blocked(job)
        elif kind is OutcomeKind.TERMINATED:
            self.result.terminated(job)

    def _keep_checkpoint(self, job: _SimulatedJob, outcome: Outcome) -> None:
        """Count what a preempted job loses: everything since its last checkpoint, and the time it took to stop.

        One that isn't tried again loses its checkpoints, too.
        """
        interval, began = self._settings.checkpoint_seconds, job.began or 0.0
        held = outcome.at - began
        reached = job.done + job.stopped_at - began
        kept = reached // interval * interval if interval and not outcome.after.final else 0.0
        self.result.released(job, outcome.at)
        self.result.lost(job, job.done + held - kept)
        job.done = kept
        if outcome.after.final:
            self.result.failed()
