"""Histories of the reference scheduler, recorded as the events AWS Batch would send."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from support import recording
from support.recording import ACCOUNT, G5, P4, QUEUE, REGION, Recording

from quota_scheduler import (
    Job,
    JobState,
    Outcome,
    OutcomeKind,
    PreemptionKind,
    QuotaPolicy,
    QuotaShare,
    ResourceSharing,
    RetryStrategy,
    Scheduler,
    dump_policy,
    make_demand,
)
from quota_scheduler.action import Action, Rule

__all__ = ["Shape", "Writer", "faithful", "random_policy", "step", "writer_for", "written"]


@dataclass(frozen=True)
class Shape:
    """What kind of history to make."""

    actions: int = 60
    longest_pause: float = 4.0
    whole_seconds: bool = False
    edits: str = "logged"
    """Priority edits: ``none``, ``logged`` as API calls, or ``unlogged``."""
    crowded: bool = True
    """Whether a job may be edited several times in a second, so that nobody can tell the order."""
    limit_changes: bool = True
    units: int = 2
    look_ups: float | None = None
    """Seconds between two look-ups of all jobs; None for none."""
    stops: tuple[int, ...] = (0, 1, 5, 20)
    """Seconds a preemption may take."""


class Writer:
    """A scheduler whose every step is recorded."""

    def __init__(
        self, policy: QuotaPolicy, scheduler: Scheduler, start: float = 0.0, look_ups: float | None = None
    ) -> None:
        self.scheduler = scheduler
        self.look_ups = look_ups or 0.0
        self.looks_up = None if look_ups is None else start
        self.recording = Recording()
        self.now = start
        self.trail = True
        """Whether a trail records calls about jobs."""
        self.first_policy = policy
        self.versions = [(start, policy)]
        self.edited: dict[str, int] = {}
        self.end_wrongly: str | None = None
        """Job whose next preemption is to end as it must not."""

    # -- what happens to it ------------------------------------------------------

    def submit(self, job: Job) -> None:
        job.created = self.now
        self.scheduler.submit(job, self.now)
        record = recording.Job(job.share, job.demand, self.priority_of(job), job.preemption_retries, self.now)
        self.recording.jobs[job.id] = record
        if self.trail:
            self.recording.submission(self.now, job.id)
        self.recording.state(self.now, job.id, "RUNNABLE")
        self.settle()

    def priority_of(self, job: Job) -> int:
        """Return the priority that events show."""
        return job.rank

    def progress(self, job: Job) -> None:
        state = JobState.STARTING if job.state is JobState.SCHEDULED else JobState.RUNNING
        self.scheduler.progress(job.id, state, self.now)
        self.recording.state(self.now, job.id, state.value)

    def finish(self, job: Job) -> None:
        self.scheduler.finish(job.id)
        self.recording.state(self.now, job.id, "SUCCEEDED")
        self.settle()

    def fail(self, job: Job) -> None:
        if self.scheduler.fail(job.id, self.now, "error") is JobState.RUNNABLE:
            self.recording.retried(self.now, job.id)
        else:
            self.recording.state(self.now, job.id, "FAILED")
        self.settle()

    def terminate(self, job: Job) -> None:
        self.scheduler.terminate(job.id)
        self.recording.jobs[job.id].terminated = True
        self.recording.state(self.now, job.id, "FAILED")
        self.settle()

    def lack_capacity(self, job: Job, seconds: float) -> None:
        self.scheduler.lack_capacity(job.id, self.now, self.now + seconds)
        self.recording.state(self.now, job.id, "RUNNABLE")
        self.settle()

    def set_priority(self, job: Job, priority: int, *, logged: bool) -> None:
        self.scheduler.set_priority(job.id, priority)
        self.edited[job.id] = int(self.now)
        self.recording.jobs[job.id].priority = priority
        if logged:
            request = {"jobId": job.id, "schedulingPriority": priority}
            self.recording.call(self.now, "UpdateServiceJob", request)
        self.settle()

    def set_limits(self, share: QuotaShare, limits: dict[str, int]) -> None:
        self.scheduler.set_limits(share.name, limits)
        self.versions.append((self.now, self.scheduler.policy))
        arn = f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{QUEUE}/quota-share/{share.name}"
        entries = [{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in limits.items()]
        self.recording.call(self.now, "UpdateQuotaShare", {"quotaShareArn": arn, "capacityLimits": entries})
        self.settle()

    def wait(self, seconds: float) -> None:
        """Let time pass, with everything that happens in it."""
        end = self.now + seconds
        while self.looks_up is not None and self.looks_up <= end:
            self.now, self.looks_up = self.looks_up, self.looks_up + self.look_ups
            self.settle()
            self.look_up()
        self.now = end
        self.settle()

    def look_up(self) -> None:
        """Record what every job is now, as look-ups would find it: those that ended, too."""
        jobs = []
        for name, record in self.recording.jobs.items():
            live = self.scheduler.jobs.get(name)
            status = live.state.value if live is not None else self.recording.last[name]
            jobs.append({**self.recording.detail(name, status), "schedulingPriority": record.priority})
        self.recording.look_up(self.now, jobs, dump_policy(self.scheduler.policy))

    # -- what it does ------------------------------------------------------------

    def settle(self) -> None:
        for outcome in self.scheduler.run(self.now):
            self.show(outcome)

    def show(self, outcome: Outcome) -> None:
        name, at = outcome.job.id, outcome.at
        if outcome.kind is OutcomeKind.DISPATCHED:
            self.recording.state(at, name, "SCHEDULED")
        elif outcome.kind is OutcomeKind.PREEMPTING and outcome.preemption is not None:
            self.recording.record(at, name, "STOPPING", outcome.preemption.value)
        elif outcome.kind is OutcomeKind.PREEMPTED:
            self.stopped(outcome)
        elif outcome.kind is OutcomeKind.BLOCKED:
            self.recording.record(at, name, "BLOCKED", outcome.reason)
        elif outcome.kind is OutcomeKind.TIMED_OUT:
            self.recording.state(at, name, outcome.after.value)

    def stopped(self, outcome: Outcome) -> None:
        status = outcome.after.value
        if outcome.job.id == self.end_wrongly:
            self.end_wrongly = None
            status = "RUNNABLE" if status == "FAILED" else "FAILED"
            if status == "FAILED" and outcome.job.id in self.scheduler.jobs:
                self.scheduler.terminate(outcome.job.id)
        self.recording.stopped(outcome.at, outcome.job.id, status)

    def preempt(self, job: Job, kind: PreemptionKind) -> None:
        """Stop a job for nobody, whatever the rules say."""
        victim = Action(Rule.LOWERED_LIMIT, None, None, ((job, kind),))
        self.scheduler._carry_out(victim, self.now)
        self.settle()

    def holding(self) -> list[Job]:
        return [job for job in self.scheduler.jobs.values() if job.state.holds]


def random_policy(rng: random.Random, units: int = 2) -> QuotaPolicy:
    names = (G5, P4)[: rng.randint(1, units)]
    shares = []
    for index in range(rng.randint(2, 4)):
        limits = {unit: rng.randint(1, 4) for unit in names if unit == names[0] or rng.random() < 0.7}
        percent = rng.choice([-1, -1, 50, 100, 200])
        sharing = rng.choice(
            [
                ResourceSharing.reserve(),
                ResourceSharing.lend(),
                ResourceSharing.lend_and_borrow(limit_percent=percent),
                ResourceSharing.lend_and_borrow(limit_percent=percent),
            ]
        )
        shares.append(QuotaShare(f"S{index}", limits, sharing, rng.random() < 0.6))
    slack = rng.choice([-1, 0, 0, 0, 2])
    environment = {u: max(1, sum(s.limits.get(u, 0) for s in shares) + slack) for u in names}
    return QuotaPolicy(environment, tuple(shares))


def faithful(seed: int, shape: Shape | None = None) -> tuple[QuotaPolicy, list[dict[str, Any]]]:
    """Return a random policy and the events of a history the reference scheduler made under it."""
    writer = written(seed, shape or Shape())
    return writer.first_policy, writer.recording.events


def written(seed: int, shape: Shape) -> Writer:
    """Return the writer of a history the reference scheduler made."""
    rng = random.Random(seed)
    writer = writer_for(rng, shape)
    for index in range(shape.actions):
        step(writer, rng, shape, index)
    writer.wait(30.0)
    if writer.looks_up is not None:
        writer.look_up()
    return writer


def writer_for(rng: random.Random, shape: Shape) -> Writer:
    policy = random_policy(rng, shape.units)
    scheduler = Scheduler(policy, preemption_seconds=rng.choice(shape.stops))
    writer = Writer(policy, scheduler, float(rng.randint(0, 5)), shape.look_ups)
    writer.trail = shape.edits != "unlogged"
    return writer


def step(writer: Writer, rng: random.Random, shape: Shape, index: int) -> None:
    """Let a random time pass and something random happen."""
    pause = rng.choice([0.0, rng.random(), rng.random() * shape.longest_pause])
    writer.wait(float(round(pause)) if shape.whole_seconds else round(pause, 3))
    _act(writer, rng, shape, index)


def _act(writer: Writer, rng: random.Random, shape: Shape, index: int) -> None:
    holding = writer.holding()
    jobs = list(writer.scheduler.jobs.values())
    dice = rng.random()
    if dice < 0.45 or not jobs:
        writer.submit(_new_job(writer, rng, index))
    elif dice < 0.65 and holding:
        job = rng.choice(holding)
        if job.stopping is None and job.state is not JobState.RUNNING:
            writer.progress(job)
        else:
            writer.finish(job)
    elif dice < 0.75 and holding:
        rng.choice([writer.finish, writer.fail, writer.terminate])(rng.choice(holding))
    elif dice < 0.80 and holding and (job := rng.choice(holding)).stopping is None:
        writer.lack_capacity(job, rng.choice([1.0, 10.0]))
    elif dice < 0.90 and shape.edits != "none":
        job = rng.choice(jobs)
        if shape.crowded or writer.edited.get(job.id) != int(writer.now):
            writer.set_priority(job, rng.randint(0, 5), logged=shape.edits == "logged")
    elif dice < 0.95 and shape.limit_changes:
        share = rng.choice(writer.scheduler.policy.shares)
        writer.set_limits(share, {unit: rng.randint(1, 4) for unit in share.limits})
    elif jobs:
        writer.terminate(rng.choice(jobs))


def _new_job(writer: Writer, rng: random.Random, index: int) -> Job:
    share = rng.choice(writer.scheduler.policy.shares)
    units = rng.sample(sorted(share.limits), rng.randint(1, len(share.limits)))
    demand = make_demand({unit: rng.choice([1, 1, 1, 2, 3]) for unit in units})
    retry = RetryStrategy(rng.randint(1, 3)) if rng.random() < 0.3 else None
    retries = rng.choice([None, None, None, 0, 1])
    return Job(f"j{index}", share.name, demand, rng.randint(0, 3), preemption_retries=retries, retry=retry)
