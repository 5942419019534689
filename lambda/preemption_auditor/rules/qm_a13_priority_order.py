"""QM-A13: within a share, jobs are dispatched by priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Selection
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict, unknown

if TYPE_CHECKING:
    from preemption_auditor.jobs import Wait
    from preemption_auditor.queue_history import QueueHistory
    from quota_scheduler import Demand

__all__ = ["RULE"]


def _judge(selection: Selection) -> Verdict:
    attempt = selection.attempt
    better = _overtaken(selection)
    if better is None:
        return PASS
    if not selection.queue.complete or attempt.doubtful:
        return unknown(f"no event shows whether {better.job} waited all the while", jobs=(attempt.job,))
    return Verdict(
        Answer.VIOLATION,
        expected=f"{better.job} before {attempt.job}: higher priority and no larger demand",
        seen=f"{attempt.job} dispatched while {better.job} waited in {better.share} with priority {better.priority}",
        shares=(better.share,),
        jobs=(attempt.job, better.job),
        events=(*better.events, attempt.event),
        hinges_on=tuple(selection.queue.jobs[name] for name in (attempt.job, better.job)),
    )


def _overtaken(selection: Selection) -> Wait | None:
    """Return a wait in the same share that surely had a better claim while the decision was taken."""
    queue, attempt = selection.queue, selection.attempt
    job = queue.jobs.get(attempt.job)
    since, until = attempt.taken.lo - queue.lag, attempt.taken.hi
    priorities = job.priorities_within(since, until) if job is not None else []
    if attempt.share is None or attempt.demand is None or not priorities:
        return None
    own = max(priorities)
    for priority, demand, _ in queue.waiting.groups(attempt.share, until):
        if priority is None or priority <= own or not _no_larger(demand, attempt.demand):
            continue
        for wait in queue.waiting.waits(attempt.share, priority, demand):
            lasted = wait.since.hi < since and (wait.until is None or wait.until.lo > until)
            if lasted and not wait.blocked and not wait.after_attempt and _least(queue, wait, since, until) > own:
                return wait
    return None


def _least(queue: QueueHistory, wait: Wait, since: int, until: int) -> int:
    """Return the lowest priority a waiting job may have had from one moment to another."""
    job = queue.jobs.get(wait.job)
    return min(job.priorities_within(since, until), default=-1) if job is not None else -1


def _no_larger(demand: Demand | None, than: Demand) -> bool:
    """Whether `demand` is known, of the same units, and in none of them larger."""
    if demand is None or [unit for unit, _ in demand] != [unit for unit, _ in than]:
        return False
    return all(one <= other for (_, one), (_, other) in zip(demand, than, strict=True))


RULE = Rule(
    id="QM-A13",
    kind=Kind.VIOLATION,
    judges=Selection,
    proves="a job was dispatched while a job of its share with higher priority and no larger demand of the same "
    "units waited",
    evidence="that the other job waited without a break while the decision can have been taken, wasn't blocked and "
    "no earlier attempt of it had ended; both priorities then, with no edit that isn't in the recording",
    source="quota-management, API SubmitServiceJob (schedulingPriority)",
    judge=_judge,
)
