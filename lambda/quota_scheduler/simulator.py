"""What a policy does to a workload: a discrete-event simulation around the reference scheduler."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quota_scheduler.exceptions import JobError
from quota_scheduler.job import Job
from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.scheduler import Scheduler
from quota_scheduler.simulation_result import ResultBuilder, SimulationResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.policy import QuotaPolicy
    from quota_scheduler.time_limits import TimeLimit
    from quota_scheduler.workload import Workload, WorkloadJob

__all__ = ["SimulationSettings", "simulate"]

_NEVER = float("inf")


@dataclass(frozen=True)
class SimulationSettings:
    """How jobs behave in a simulation.

    Parameters
    ----------
    preemption_seconds : float
        Time between the start of a preemption and the moment the job has stopped.
    checkpoint_seconds : float, optional
        A preempted job resumes from the last multiple of this much work; None restarts it.
    """

    preemption_seconds: float = 20.0
    checkpoint_seconds: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.preemption_seconds < _NEVER:
            raise JobError(f"preemption of {self.preemption_seconds} s is not allowed: use 0 or more")
        if self.checkpoint_seconds is not None and not 0 < self.checkpoint_seconds < _NEVER:
            raise JobError(f"checkpoint interval of {self.checkpoint_seconds} s is not allowed: use more than 0")


def simulate(
    policy: QuotaPolicy,
    workload: Workload,
    settings: SimulationSettings | None = None,
    *,
    assumptions: Assumptions | None = None,
    changes: Iterable[tuple[float, QuotaPolicy]] = (),
    time_limits: Iterable[TimeLimit] = (),
    on_progress: Callable[[int], None] | None = None,
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
    run = _Simulation(scheduler, workload, settings, changes)
    run.to_the_end(on_progress or (lambda count: None))
    return run.result.build()


class _Work:
    """What is left of a job's work."""

    __slots__ = ("done", "job", "plan", "stopped_at")

    def __init__(self, plan: WorkloadJob, job: Job) -> None:
        self.plan = plan
        self.job = job
        self.done = 0.0
        self.stopped_at = 0.0


class _Simulation:
    def __init__(
        self,
        scheduler: Scheduler,
        workload: Workload,
        settings: SimulationSettings,
        changes: Iterable[tuple[float, QuotaPolicy]],
    ) -> None:
        self.scheduler = scheduler
        self.result = ResultBuilder(scheduler.policy)
        self.now = workload.jobs[0].submit if workload.jobs else 0.0
        self._settings = settings
        self._jobs = workload.jobs
        self._changes = deque(sorted(changes, key=lambda change: change[0]))
        self._open = _shares_that_take_jobs(scheduler.policy)
        self._work: dict[str, _Work] = {}
        self._ends: list[tuple[float, int, _Work]] = []

    def to_the_end(self, on_progress: Callable[[int], None]) -> None:
        """Submit every job when its time has come, and go on until nothing runs any more."""
        self.result.begin(self.now)
        self._change_policy()
        arrivals, ends, scheduler = self._jobs, self._ends, self.scheduler
        submitted, total = 0, len(arrivals)
        while True:
            arrival = arrivals[submitted].submit if submitted < total else _NEVER
            end = ends[0][0] if ends else _NEVER
            due = scheduler.next_due()
            change = self._changes[0][0] if self._changes else _NEVER
            self.now = min(arrival, end, change, due if due is not None else _NEVER)
            if self.now == _NEVER:
                break
            while ends and ends[0][0] == self.now:
                self._end(*heapq.heappop(ends)[1:])
            if change == self.now:
                self._change_policy()
            while submitted < total and arrivals[submitted].submit == self.now:
                self._submit(arrivals[submitted])
                submitted += 1
                if submitted % 1000 == 0:
                    on_progress(submitted)
            for outcome in scheduler.run(self.now):
                self._follow(outcome)
        on_progress(submitted)

    def _change_policy(self) -> None:
        """Put in force what is due, and end the jobs of shares that are deleted."""
        while self._changes and self._changes[0][0] <= self.now:
            _, policy = self._changes.popleft()
            kept = {share.name for share in policy.shares}
            for job in [job for job in self.scheduler.jobs.values() if job.share not in kept]:
                if job.state.holds:
                    self.result.released(job, self.now)
                self._terminated(job)
            self.scheduler.set_policy(policy)
            self.result.adopt(policy, self.now)
            self._open = _shares_that_take_jobs(policy)

    def _submit(self, plan: WorkloadJob) -> None:
        self.result.submitted(plan.share)
        if plan.share not in self._open:
            self.result.rejected(plan.share)
            return
        job = Job(plan.id, plan.share, plan.demand, plan.priority, plan.submit)
        job.preemption_retries = plan.preemption_retries
        self.scheduler.submit(job, plan.submit)
        self._work[plan.id] = _Work(plan, job)

    def _terminated(self, job: Job) -> None:
        self.result.terminated(job)
        del self._work[job.id]

    def _end(self, dispatch: int, work: _Work) -> None:
        job = work.job
        if job.dispatch_order == dispatch and job.state.holds:
            self.scheduler.finish(job.id)
            self.result.released(job, self.now)
            self.result.finished(job)
            del self._work[job.id]

    def _follow(self, outcome: Outcome) -> None:
        job, result = outcome.job, self.result
        if outcome.kind is OutcomeKind.DISPATCHED:
            work = self._work[job.id]
            heapq.heappush(self._ends, (outcome.at + work.plan.duration - work.done, job.dispatch_order, work))
            result.dispatched(job, outcome)
        elif outcome.kind is OutcomeKind.PREEMPTING:
            self._work[job.id].stopped_at = outcome.at
            result.preempting(job, outcome)
        elif outcome.kind is OutcomeKind.PREEMPTED:
            self._keep_checkpoint(self._work[job.id], outcome)
        elif outcome.kind is OutcomeKind.BLOCKED:
            result.blocked(job)
        elif outcome.kind is OutcomeKind.TERMINATED:
            self._terminated(job)

    def _keep_checkpoint(self, work: _Work, outcome: Outcome) -> None:
        """Count what a preempted job loses: everything since its last checkpoint, and the time it took to stop.

        One that isn't tried again loses its checkpoints, too.
        """
        job, interval = work.job, self._settings.checkpoint_seconds
        held = outcome.at - job.dispatched_at
        reached = work.done + work.stopped_at - job.dispatched_at
        kept = reached // interval * interval if interval and not outcome.after.final else 0.0
        self.result.released(job, outcome.at)
        self.result.lost(job, work.done + held - kept)
        work.done = kept
        if outcome.after.final:
            self.result.failed()
            del self._work[job.id]


def _shares_that_take_jobs(policy: QuotaPolicy) -> set[str]:
    return {share.name for share in policy.shares if share.enabled}
