"""One wrong decision in an otherwise faithful history, and the rules it breaks.

What is wrong is found with the book kept from plain lists of jobs, not with the auditor's sums.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from support import recording
from support.book import Book
from support.histories import Shape, Writer, step, writer_for

from quota_scheduler import Job, JobState, PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from quota_scheduler import QuotaPolicy

__all__ = ["MUTATIONS", "Mutated", "mutated"]

QUIET = 3.0
"""Seconds without anything else around the wrong decision, so that no equal time excuses it."""


@dataclass(frozen=True)
class Mutated:
    """A history with one wrong decision."""

    policy: QuotaPolicy
    versions: list[tuple[float, QuotaPolicy]]
    """Every policy that was in force, and since when."""
    events: list[dict[str, Any]]
    job: str
    rules: frozenset[str]
    """Ids of the rules it breaks; one of them has to say so."""


STOPS = (1, 5, 20)
"""A job that stops in no time can be replaced in the very instant of the wrong decision, which excuses it."""


def mutated(seed: int, mutation: str, shape: Shape | None = None) -> Mutated | None:
    """Return a history with a wrong decision of one kind, or None where there was no occasion for it."""
    rng = random.Random(f"{seed} {mutation}")
    shape = replace(shape or Shape(), stops=STOPS, crowded=False)
    writer = writer_for(rng, shape)
    for index in range(60):
        step(writer, rng, shape, index)
        if index < 15:
            continue
        writer.wait(QUIET)
        choices = list(MUTATIONS[mutation](writer))
        if choices:
            job, rules = rng.choice(choices)
            policy, second = writer.first_policy, int(writer.now)
            APPLY[mutation](writer, job)
            writer.wait(QUIET)
            if mutation != "requeue" and not is_alone(writer, job, second):
                return None
            for later in range(index + 1, index + 10):
                step(writer, rng, shape, later)
            writer.wait(30.0)
            return Mutated(policy, writer.versions, writer.recording.events, job.id, frozenset(rules))
    return None


def is_alone(writer: Writer, job: Job, second: int) -> bool:
    """Whether no other job has an event in the second of the wrong decision."""
    events = [event for event in writer.recording.events if event["time"] == recording.stamp(second)]
    return all(job.id in str(event["detail"].get("jobArn") or event["detail"]) for event in events)


# -- wrong dispatches ------------------------------------------------------------------


def wrong_dispatches(writer: Writer) -> Iterator[tuple[Job, set[str]]]:
    jobs = list(writer.scheduler.jobs.values())
    before = Book.of(writer.scheduler.policy, jobs)
    for job in jobs:
        if job.state is not JobState.RUNNABLE:
            continue
        units = [unit for unit, _ in job.demand]
        after = before.plus(job)
        rules = {"QM-A02"} if not after.i1(units) else set()
        share = writer.scheduler.policy.share(job.share)
        for unit in units:
            most = after.cap(job.share, unit) + share.borrowable(unit) if unit in share.limits else 0
            if after.use(job.share, unit) > most:
                rules.add("QM-A04" if share.sharing.borrows else "QM-A03")
        slack = {u: writer.scheduler.policy.environment.get(u, 0) for u in units}
        assigned = {u: sum(after.cap(s.name, u) for s in writer.scheduler.policy.shares) for u in units}
        for unit in units:
            unassigned = max(0, slack[unit] - assigned[unit])
            worse = share.sharing.lends or after.use(job.share, unit) > after.cap(job.share, unit)
            if worse and after.borrowed(unit) > after.lendable(unit) + unassigned:
                rules.add("QM-A05")
        if rules:
            yield job, rules


def dispatch(writer: Writer, job: Job) -> None:
    state = writer.scheduler.state
    state.leave_queue(job)
    state.hold(job, writer.now)
    writer.recording.state(writer.now, job.id, "SCHEDULED")


# -- wrong preemptions -----------------------------------------------------------------


def wrong_reclaims(writer: Writer) -> Iterator[tuple[Job, set[str]]]:
    jobs = list(writer.scheduler.jobs.values())
    book = Book.of(writer.scheduler.policy, jobs, settled=True)
    for victim in writer.holding():
        if victim.stopping is not None:
            continue
        units = [unit for unit, _ in victim.demand]
        rules = set()
        if not any(book.over(victim.share, unit) for unit in units):
            rules.add("QM-A06")
        waiting = [j for j in jobs if j.state is JobState.RUNNABLE and j.share != victim.share]
        if not any(book.entitled(j) and {u for u, _ in j.demand} & set(units) for j in waiting):
            share = writer.scheduler.policy.share(victim.share)
            ceilings = {u: share.limits.get(u, 0) + share.borrowable(u) for u in units}
            beyond = any(book.use(victim.share, u) > most for u, most in ceilings.items())
            rules |= set() if beyond else {"QM-A07"}  # else A12 explains it
        if rules:
            yield victim, rules


def wrong_in_share(writer: Writer) -> Iterator[tuple[Job, set[str]]]:
    jobs = list(writer.scheduler.jobs.values())
    for victim in writer.holding():
        rules = set()
        if not writer.scheduler.policy.share(victim.share).in_share_preemption:
            rules.add("QM-A08")
        waiting = [j for j in jobs if j.state is JobState.RUNNABLE and j.share == victim.share]
        if not any(j.rank > victim.rank for j in waiting):
            rules.add("QM-A09")
        if rules and victim.stopping is None:
            yield victim, rules


def reclaim(writer: Writer, job: Job) -> None:
    writer.preempt(job, PreemptionKind.CROSS_SHARE)


def stop_in_share(writer: Writer, job: Job) -> None:
    writer.preempt(job, PreemptionKind.IN_SHARE)


# -- wrong ends ------------------------------------------------------------------------


def stopping_jobs(writer: Writer) -> Iterator[tuple[Job, set[str]]]:
    for job in writer.holding():
        if job.stopping is not None:
            yield job, {"QM-A10"}


def end_wrongly(writer: Writer, job: Job) -> None:
    writer.end_wrongly = job.id
    while writer.end_wrongly is not None and job.stopping is not None:
        writer.wait(QUIET)


def holding_jobs(writer: Writer) -> Iterator[tuple[Job, set[str]]]:
    for job in writer.holding():
        yield job, {"QM-A01"}


def revive(writer: Writer, job: Job) -> None:
    """Let a job end, and then be seen running again."""
    writer.finish(job)
    writer.wait(QUIET)
    writer.recording.state(writer.now, job.id, "RUNNING")


MUTATIONS = {
    "dispatch": wrong_dispatches,
    "reclaim": wrong_reclaims,
    "in-share": wrong_in_share,
    "requeue": stopping_jobs,
    "revive": holding_jobs,
}
APPLY = {
    "dispatch": dispatch,
    "reclaim": reclaim,
    "in-share": stop_in_share,
    "requeue": end_wrongly,
    "revive": revive,
}
