"""Schedulers that break a rule all the time, and what they did wrong by a count of its own.

Most of them are the reference scheduler under another policy than the one it should keep.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from support.book import Book
from support.histories import Shape, Writer, random_policy, step

from quota_scheduler import (
    Assumptions,
    Job,
    JobState,
    Outcome,
    OutcomeKind,
    PreemptionKind,
    QuotaPolicy,
    ResourceSharing,
    Scheduler,
    VictimOrder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROGUES", "Rogue", "play"]


@dataclass(frozen=True)
class Rogue:
    """One way to go wrong.

    The policy it keeps instead, the rules this can break, and its assumptions.
    """

    keeps: Callable[[QuotaPolicy], QuotaPolicy]
    rules: frozenset[str]
    assumptions: Assumptions = field(default_factory=Assumptions)
    inverted: bool = False
    """Whether it takes the lowest priority for the highest."""


def larger_environment(policy: QuotaPolicy) -> QuotaPolicy:
    return QuotaPolicy({unit: 3 * count for unit, count in policy.environment.items()}, policy.shares)


def larger_limits(policy: QuotaPolicy) -> QuotaPolicy:
    shares = (
        share if share.sharing.borrows else replace(share, limits={u: 2 * n for u, n in share.limits.items()})
        for share in policy.shares
    )
    return replace(larger_environment(policy), shares=tuple(shares))


def no_borrow_limits(policy: QuotaPolicy) -> QuotaPolicy:
    unlimited = ResourceSharing.lend_and_borrow()
    shares = (replace(share, sharing=unlimited) if share.sharing.borrows else share for share in policy.shares)
    return replace(policy, shares=tuple(shares))


def everybody_lends(policy: QuotaPolicy) -> QuotaPolicy:
    lends = ResourceSharing.lend()
    shares = (share if share.sharing.lends else replace(share, sharing=lends) for share in policy.shares)
    return replace(policy, shares=tuple(shares))


def preempts_everywhere(policy: QuotaPolicy) -> QuotaPolicy:
    return replace(policy, shares=tuple(replace(share, in_share_preemption=True) for share in policy.shares))


def the_same(policy: QuotaPolicy) -> QuotaPolicy:
    return policy


ROGUES = {
    "takes the environment for larger": Rogue(larger_environment, frozenset({"QM-A02", "QM-A05"})),
    "takes limits for larger": Rogue(larger_limits, frozenset({"QM-A02", "QM-A03", "QM-A05"})),
    "knows no borrow limit": Rogue(no_borrow_limits, frozenset({"QM-A04"})),
    "lends what is reserved": Rogue(everybody_lends, frozenset({"QM-A05"})),
    "preempts where it is forbidden": Rogue(preempts_everywhere, frozenset({"QM-A08"})),
    "prefers low priorities": Rogue(the_same, frozenset({"QM-A09", "QM-A13"}), inverted=True),
    "stops the oldest": Rogue(the_same, frozenset({"QM-D01"}), Assumptions(victim_order=VictimOrder.OLDEST_FIRST)),
}


class RogueWriter(Writer):
    """Records what a rogue does, and counts its offences against the policy it should keep."""

    def __init__(self, policy: QuotaPolicy, rogue: Rogue, stop: float) -> None:
        scheduler = Scheduler(rogue.keeps(policy), preemption_seconds=stop, assumptions=rogue.assumptions)
        super().__init__(policy, scheduler)
        self.rogue = rogue
        self.true: dict[str, int] = {}
        self.offences: list[tuple[str, str]] = []
        """Rule and job of each."""

    def submit(self, job: Job) -> None:
        self.true[job.id] = job.rank
        if self.rogue.inverted:
            job.priority = 9999 - job.rank
        super().submit(job)

    def wait(self, seconds: float) -> None:
        """Let time pass moment by moment, so that every decision is judged by what held just then."""
        end = self.now + seconds
        while (due := self.scheduler.next_due()) is not None and due <= end:
            super().wait(due - self.now)
        super().wait(end - self.now)

    def priority_of(self, job: Job) -> int:
        return self.true[job.id]

    def show(self, outcome: Outcome) -> None:
        if outcome.kind is OutcomeKind.DISPATCHED:
            self.judge_dispatch(outcome.job)
        elif outcome.kind is OutcomeKind.PREEMPTING and outcome.preemption is PreemptionKind.IN_SHARE:
            self.judge_in_share(outcome.job, outcome.decision.job if outcome.decision is not None else "")
        super().show(outcome)

    def judge_dispatch(self, job: Job) -> None:
        policy, jobs = self.first_policy, list(self.scheduler.jobs.values())
        book = Book.of(policy, jobs)
        units, share = [unit for unit, _ in job.demand], policy.share(job.share)
        if not book.i1(units):
            self.offences.append(("QM-A02", job.id))
        for unit in units:
            most = share.limits[unit] + share.borrowable(unit) if unit in share.limits else 0
            if book.use(job.share, unit) > most:
                self.offences.append(("QM-A04" if share.sharing.borrows else "QM-A03", job.id))
            assigned = sum(other.limits.get(unit, 0) for other in policy.shares)
            unassigned = max(0, policy.environment.get(unit, 0) - assigned)
            worse = share.sharing.lends or book.use(job.share, unit) > book.cap(job.share, unit)
            if worse and book.borrowed(unit) > book.lendable(unit) + unassigned:
                self.offences.append(("QM-A05", job.id))

    def judge_in_share(self, victim: Job, beneficiary: str) -> None:
        if not self.first_policy.share(victim.share).in_share_preemption:
            self.offences.append(("QM-A08", victim.id))
        waiting = [j for j in self.scheduler.jobs.values() if j.share == victim.share and j.state is JobState.RUNNABLE]
        best = max((self.true[job] for job in (beneficiary, *(job.id for job in waiting))), default=-1)
        if best <= self.true[victim.id]:
            self.offences.append(("QM-A09", victim.id))


def play(seed: int, rogue: Rogue) -> RogueWriter:
    """Return the writer of a history of a rogue."""
    rng = random.Random(seed)
    shape = Shape(edits="none", limit_changes=False)
    writer = RogueWriter(random_policy(rng), rogue, stop=rng.choice([1, 5, 20]))
    for index in range(60):
        writer.wait(1.5)  # so that no equal second excuses what it does
        step(writer, rng, shape, index)
    writer.wait(30.0)
    return writer
