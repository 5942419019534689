"""A scheduler that breaks one chosen rule of contract.md section 5, to try out whatever watches the queue.

The reference scheduler goes on as ever; what breaks the rule is done behind its back, with its own
methods for jobs that are simply there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constructs_qm.local import job_life
from quota_scheduler import JobState, Outcome, OutcomeKind, PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState
    from quota_scheduler import Job, QuotaShare

__all__ = ["RULES", "Rogue"]


@dataclass
class Rogue:
    """Which rule is broken, and how often.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`.
    times : int
        After so many offences it behaves.

    Attributes
    ----------
    offences : list of str
        Ids of the jobs the rule was broken with.

    Raises
    ------
    ValueError
        The rule is unknown, or `times` is below 1.
    """

    rule: str
    times: int = 1
    offences: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule {self.rule!r} can't be broken here: use one of {', '.join(RULES)}")
        if isinstance(self.times, bool) or not isinstance(self.times, int) or self.times < 1:
            raise ValueError(f"times {self.times!r} is not allowed: use a whole number of 1 or more")

    def is_at(self, rule: str) -> bool:
        """Whether it is about to break `rule`."""
        return self.rule == rule and len(self.offences) < self.times

    def commit(self, job_id: str) -> None:
        """Note an offence."""
        self.offences.append(job_id)

    def pauses(self, queue: JobQueue) -> bool:
        """Whether the queue's scheduler is kept from its work: QM-A11 and QM-A12.

        While an entitled job waits for borrowed capacity, or for capacity that is free.
        """
        if not self.is_at("QM-A11") and not self.is_at("QM-A12"):
            return False
        view = _View(queue)
        for job in view.fronts():
            if view.is_entitled(job) and (not view.broken_by(job)) == self.is_at("QM-A12"):
                if job.id not in self.offences:
                    self.offences.append(job.id)
                    self.times = max(self.times, len(self.offences) + 1)  # a pause has no end of its own
                return True
        return False

    def act(self, state: BatchState, queue: JobQueue) -> None:
        """Break the rule in `queue` if there is an opportunity."""
        deed = _DEEDS.get(self.rule)
        if deed is not None and self.is_at(self.rule):
            deed(self, state, queue)


class _View:
    """A queue's jobs and sums, read off its jobs: what contract.md section 1 speaks of."""

    def __init__(self, queue: JobQueue) -> None:
        self.policy = queue.policy_in_force()
        jobs = [job for job in queue.scheduler.jobs.values() if job.share in queue.shares]
        self.waiting = sorted(
            (job for job in jobs if job.state is JobState.RUNNABLE and job.blocked is None),
            key=lambda job: (-job.rank, job.created, job.sequence),
        )
        self.holding = [job for job in jobs if job.state.holds]
        self.victims = [job for job in self.holding if job.stopping is None]

    def fronts(self) -> list[Job]:
        """Return the first waiting job of each share."""
        first: dict[str, Job] = {}
        for job in self.waiting:
            first.setdefault(job.share, job)
        return list(first.values())

    def use(self, share: str, unit: str, extra: Job | None = None) -> int:
        jobs = self.holding if extra is None else [*self.holding, extra]
        return sum(count for job in jobs if job.share == share for name, count in job.demand if name == unit)

    def over(self, share: QuotaShare, unit: str, extra: Job | None = None) -> int:
        return max(0, self.use(share.name, unit, extra) - share.limits.get(unit, 0))

    def is_entitled(self, job: Job) -> bool:
        return all(self.over(self.policy.share(job.share), unit, job) == 0 for unit, _ in job.demand)

    def broken_by(self, job: Job) -> set[str]:
        """Return the rules that dispatching `job` would break."""
        share, broken = self.policy.share(job.share), set()
        for unit, _ in job.demand:
            shares = self.policy.shares
            if sum(self.use(other.name, unit, job) for other in shares) > self.policy.environment.get(unit, 0):
                broken.add("QM-A02")
            if self.over(share, unit, job) > share.borrowable(unit):
                broken.add("QM-A04" if share.sharing.borrows else "QM-A03")
            borrowed = sum(self.over(other, unit, job) for other in shares)
            idle = sum(
                max(0, other.limits.get(unit, 0) - self.use(other.name, unit, job))
                for other in shares
                if other.sharing.lends
            )
            if borrowed > idle:
                broken.add("QM-A05")
        return broken


# -- deeds ------------------------------------------------------------------------------


def _dispatch_too_much(rogue: Rogue, state: BatchState, queue: JobQueue) -> None:
    """QM-A02 to QM-A05: dispatch a front job that breaks the rule, and as few others as possible."""
    view = _View(queue)
    broken = [(job, view.broken_by(job)) for job in view.fronts()]
    choices = [(job, rules) for job, rules in broken if rogue.rule in rules]
    if choices:
        job, _ = min(choices, key=lambda choice: len(choice[1]))
        _dispatch(rogue, state, queue, job)


def _dispatch_the_lesser(rogue: Rogue, state: BatchState, queue: JobQueue) -> None:
    """QM-A13: dispatch a job of lower priority while a higher one with the same demand waits."""
    view = _View(queue)
    for front in view.fronts():
        for job in reversed(view.waiting):
            if job.share == front.share and job.rank < front.rank and job.demand == front.demand:
                if not view.broken_by(job):
                    _dispatch(rogue, state, queue, job)
                return


def _preempt_across(rogue: Rogue, state: BatchState, queue: JobQueue) -> None:
    """QM-A06: reclaim from a share within its limits. QM-A07: reclaim though nobody is entitled to it."""
    view = _View(queue)
    for victim in view.victims:
        borrows = any(view.over(view.policy.share(victim.share), unit) for unit, _ in victim.demand)
        waiting = [job for job in view.waiting if job.share != victim.share]
        entitled = any(view.is_entitled(job) for job in waiting)
        if (waiting and not borrows) if rogue.rule == "QM-A06" else (borrows and not entitled):
            _preempt(rogue, state, queue, victim, PreemptionKind.CROSS_SHARE)
            return


def _preempt_within(rogue: Rogue, state: BatchState, queue: JobQueue) -> None:
    """QM-A08: in a share where that is off. QM-A09: with nobody of higher priority waiting."""
    view = _View(queue)
    for victim in view.victims:
        share = view.policy.share(victim.share)
        better = any(job.share == victim.share and job.rank > victim.rank for job in view.waiting)
        if (
            (better and not share.in_share_preemption)
            if rogue.rule == "QM-A08"
            else (share.in_share_preemption and not better)
        ):
            _preempt(rogue, state, queue, victim, PreemptionKind.IN_SHARE)
            return


def _dispatch(rogue: Rogue, state: BatchState, queue: JobQueue, job: Job) -> None:
    rogue.commit(job.id)
    queue.scheduler.terminate(job.id)
    queue.scheduler.place(job, state.now)
    _tell(state, job, OutcomeKind.DISPATCHED, JobState.RUNNABLE)


def _preempt(rogue: Rogue, state: BatchState, queue: JobQueue, job: Job, kind: PreemptionKind) -> None:
    rogue.commit(job.id)
    record = state.jobs[job.id]
    attempt = record.attempt
    record.seized = True
    _tell(state, job, OutcomeKind.PREEMPTING, job.state, kind)

    def stopped() -> None:
        record.seized = False
        if record.attempt is attempt and job.stopping is None:
            before = job.state
            queue.scheduler.terminate(job.id)
            job.state = JobState.SUBMITTED
            queue.scheduler.submit(job, state.now, accepted=True)
            _tell(state, job, OutcomeKind.PREEMPTED, before, kind)

    state.timers.at(state.now + state.settings.preemption_seconds, stopped)


def _tell(state: BatchState, job: Job, what: OutcomeKind, before: JobState, kind: PreemptionKind | None = None) -> None:
    outcome = Outcome(state.now, what, job, before, job.state, preemption=kind)
    job_life.apply(state, state.jobs[job.id], outcome)


_DEEDS: dict[str, Callable[[Rogue, BatchState, JobQueue], None]] = {
    "QM-A02": _dispatch_too_much,
    "QM-A03": _dispatch_too_much,
    "QM-A04": _dispatch_too_much,
    "QM-A05": _dispatch_too_much,
    "QM-A06": _preempt_across,
    "QM-A07": _preempt_across,
    "QM-A08": _preempt_within,
    "QM-A09": _preempt_within,
    "QM-A13": _dispatch_the_lesser,
}

RULES = ("QM-A01", *_DEEDS, "QM-A10", "QM-A11", "QM-A12", "QM-A14")
"""Rules that can be broken. QM-A15, a deployment that differs from what was declared, takes an API call only."""
