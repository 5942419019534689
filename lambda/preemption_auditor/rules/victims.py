"""What the reference scheduler would have stopped, for the rules QM-D01 and QM-D02.

It is asked only where the state it would decide from is known exactly: nothing else is being
stopped, nothing ended or was dispatched in the second of the preemption, and one policy and one
priority of each job are possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quota_scheduler import Job, OutcomeKind, QuotaSchedulerError, Scheduler

if TYPE_CHECKING:
    from preemption_auditor.jobs import Attempt, Wait
    from preemption_auditor.moments import Preempting
    from quota_scheduler import Demand, QuotaPolicy

__all__ = ["Choice", "reference_choice"]

_NEVER = 1e12
"""Seconds a preemption takes here: who is dispatched afterwards doesn't matter."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was stopped, and what the reference stops.

    Attributes
    ----------
    policy : QuotaPolicy
    stopped : tuple of Attempt
        Everything stopped in that second.
    reference : tuple of Attempt
        What the reference scheduler stops.
    holding : tuple of Attempt
        Everything that held.
    fronts : tuple of Wait
        Who waited first in each share.
    """

    policy: QuotaPolicy
    stopped: tuple[Attempt, ...]
    reference: tuple[Attempt, ...]
    holding: tuple[Attempt, ...]
    fronts: tuple[Wait, ...]

    @property
    def events(self) -> tuple[str, ...]:
        """Return the ids of all events that show the state and what was stopped."""
        waits = [event for wait in self.fronts for event in wait.events]
        starts = [attempt.stopping.event for attempt in self.stopped if attempt.stopping is not None]
        return (*(attempt.event for attempt in self.holding), *waits, *starts)


def reference_choice(step: Preempting) -> Choice | None:
    """Return what the reference chooses, or None where the state isn't known exactly.

    Only the last victim of a second is compared, since all of its victims are known by then.
    """
    queue, policies = step.queue, step.queue.policy.within(step.at.lo, step.at.hi)
    book, waiting = queue.capacity, queue.waiting
    stopped = tuple(attempt for attempt in book.holding if attempt.stopping is not None)
    together = all(a.stopping is not None and a.stopping.at.lo == step.at.lo for a in stopped)
    # one job may have come in that second, but nothing else may have happened, and no job tried again unseen
    calm = max(book.changed, waiting.ended, waiting.begun[0]) < step.at.lo and not waiting.lacking
    if not queue.complete or len(policies) != 1 or not stopped or not together or not calm:
        return None
    if step.preemption is not stopped[-1].stopping or queue.doubt(step.at.lo - queue.memory) is not None:
        return None
    fronts = [queue.waiting.front(share.name) for share in policies[0].shares]
    waits = tuple(wait for first in fronts for wait in first)
    if any(len(first) > 1 for first in fronts):
        return None  # it isn't clear who is first
    holding = tuple(book.holding)
    reference = _decide(step, policies[0], holding, waits)
    return None if reference is None else Choice(policies[0], stopped, reference, holding, waits)


def _decide(
    step: Preempting, policy: QuotaPolicy, holding: tuple[Attempt, ...], waits: tuple[Wait, ...]
) -> tuple[Attempt, ...] | None:
    """Run one pass of the reference; None where something isn't known, or it would dispatch first."""
    scheduler = Scheduler(policy, preemption_seconds=_NEVER)
    try:
        for attempt in sorted(holding, key=lambda attempt: attempt.taken):
            job = _job(step, attempt.job, attempt.share, attempt.demand, attempt.taken.lo)
            scheduler.place(job, attempt.taken.lo)
        for wait in sorted(waits, key=lambda wait: wait.created):
            scheduler.submit(_job(step, wait.job, wait.share, wait.demand, wait.created), step.at.hi)
    except (QuotaSchedulerError, _UnknownError):
        return None
    outcomes = scheduler.run(step.at.hi)
    if any(outcome.kind is OutcomeKind.DISPATCHED for outcome in outcomes):
        return None
    names = {outcome.job.id for outcome in outcomes if outcome.kind is OutcomeKind.PREEMPTING}
    return tuple(attempt for attempt in holding if attempt.job in names)


class _UnknownError(Exception):
    """Something about a job isn't known exactly."""


def _job(step: Preempting, name: str, share: str | None, demand: Demand | None, created: float) -> Job:
    record = step.queue.jobs.get(name)
    priorities = set(record.priorities_within(step.at.lo, step.at.hi)) if record is not None else set()
    if share is None or demand is None or len(priorities) != 1:
        raise _UnknownError
    return Job(name, share, demand, priorities.pop(), created)
