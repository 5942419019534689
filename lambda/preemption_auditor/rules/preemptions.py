"""What can explain a preemption, for the rules QM-A06 to QM-A09.

Each explanation is looked for over the whole time in which the decision may have been taken. A
reason that tells no kind means either, so a rule then accuses only where the other kind is
ruled out too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from preemption_auditor.capacity_book import HoldingOf
from preemption_auditor.rules.dispatches import ceiling, share_in
from preemption_auditor.verdicts import PASS, Answer, Verdict, unknown
from quota_scheduler import PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from preemption_auditor.jobs import Attempt, JobRecord, Wait
    from preemption_auditor.moments import Preempting
    from quota_scheduler import Demand

__all__ = [
    "Explanation",
    "could_be_entitled",
    "entitled_job",
    "in_share_enabled",
    "judge_as",
    "over_limit",
    "superior_job",
]

_FOLLOWED = 50
"""Waiting jobs whose later events are waited for, to see whether their priorities changed."""
_UNSHOWN = "it rests on jobs that no event shows to have held still"
_UNSEEN = "a job that no event shows could explain it"


class Explanation(NamedTuple):
    """Whether something explains a preemption.

    Attributes
    ----------
    answer : Answer
        Pass where it does, violation where it surely doesn't.
    gap : str
        What would have to be known, for unknown; the assumption, for divergence.
    hinges_on : tuple of JobRecord or None
        Jobs an edit of whose priority could explain it, if it isn't in the recording; None for any.
    """

    answer: Answer
    gap: str = ""
    hinges_on: tuple[JobRecord, ...] | None = ()


FOUND = Explanation(Answer.PASS)


def over_limit(step: Preempting, attempt: Attempt) -> Explanation:
    """Whether the victim's share may have been over its limit in a unit the victim held."""
    queue, share = step.queue, attempt.share or ""
    for policy in queue.policies(step.at):
        own = share_in(policy, share)
        if own is None:
            return Explanation(Answer.UNKNOWN, f"the policy has no share {share}")
        for unit, _ in attempt.demand or ():
            limit = own.limits.get(unit, 0)
            if queue.capacity.most(share, unit, step.at.lo - queue.lag) > limit:
                return FOUND if _surely_over(step, attempt, unit, limit) else Explanation(Answer.UNKNOWN, _UNSHOWN)
    return Explanation(Answer.VIOLATION) if queue.complete else Explanation(Answer.UNKNOWN, _UNSEEN)


def entitled_job(step: Preempting, attempt: Attempt) -> Explanation:
    """Whether another share may have had a waiting job within its limits that needs what the victim held."""
    since, gap = step.at.lo - step.queue.lag, ""
    for share in step.queue.waiting.shares():
        if share == attempt.share:
            continue
        for _, demand, wait in step.queue.waiting.groups(share, since):
            if demand is None:
                gap = f"no event tells the demand of {wait.job}"
            elif could_be_entitled(step, attempt, wait):
                if step.queue.waited(wait, step.at.lo):
                    return FOUND
                gap = f"no event shows whether {wait.job} still waited"
    if gap or not step.queue.complete:
        return Explanation(Answer.UNKNOWN, gap or _UNSEEN)
    if _beyond_ceiling(step, attempt):
        return Explanation(Answer.DIVERGENCE, "assumption A12: lowered limits alone stop nothing")
    return Explanation(Answer.VIOLATION)


def could_be_entitled(step: Preempting, victim: Attempt, wait: Wait) -> bool:
    """Whether a waiting job of another share may have been within its limits, and needs what the victim held."""
    units = {unit for unit, _ in victim.demand or ()}
    demand = wait.demand or ()
    return not units.isdisjoint(unit for unit, _ in demand) and _entitled(step, wait.share, demand)


def in_share_enabled(step: Preempting, attempt: Attempt) -> Explanation:
    """Whether in-share preemption may have been enabled for the victim's share."""
    shares = [share_in(policy, attempt.share or "") for policy in step.queue.policies(step.at)]
    if None in shares:
        return Explanation(Answer.UNKNOWN, f"the policy has no share {attempt.share}")
    enabled = any(share is not None and share.in_share_preemption for share in shares)
    return FOUND if enabled else Explanation(Answer.VIOLATION)


def superior_job(step: Preempting, attempt: Attempt) -> Explanation:
    """Whether a job of higher priority than the victim's may have waited in its share."""
    since = step.at.lo - step.queue.lag
    own = step.job.priorities_within(since, step.at.hi)
    lowest = min(own, default=0)
    undefined = not own
    gap = _UNSEEN
    for priority, _, wait in step.queue.waiting.groups(attempt.share or "", since, attempt.job):
        undefined = undefined or priority is None
        if (priority or 0) > lowest:
            if step.queue.waited(wait, step.at.lo):
                return FOUND
            gap = f"no event shows whether {wait.job} still waited"
    if not step.queue.complete:
        return Explanation(Answer.UNKNOWN, gap)
    if undefined:
        return Explanation(Answer.DIVERGENCE, "assumption A1: a job without priority counts as 0")
    return Explanation(Answer.VIOLATION, hinges_on=_comparable(step, attempt))


def judge_as(
    kind: PreemptionKind,
    step: Preempting,
    explain: Callable[[Preempting, Attempt], Explanation],
    expected: Callable[[Attempt], str],
) -> Verdict | None:
    """Judge a preemption by an explanation one kind of preemption needs.

    Parameters
    ----------
    kind : PreemptionKind
        The kind that needs it.
    step : Preempting
    explain : callable
        Looks for the explanation.
    expected : callable
        Says what should have been, from the attempt.
    """
    shown = step.preemption.kind
    if shown is not None and shown is not kind:
        return None
    attempt = step.preemption.attempt
    if attempt is None or attempt.share is None or attempt.demand is None:
        gap = f"no event tells what {step.job.id} held"
        return unknown(gap, jobs=(step.job.id,), events=(step.preemption.event,))
    found = explain(step, attempt)
    if shown is None:
        found = min(found, _as_other_kind(kind, step, attempt), key=lambda item: _SEVERITY.index(item.answer))
    if found.answer is Answer.PASS:
        return PASS
    doubtful = step.queue.doubt(step.at.lo - step.queue.memory)
    if doubtful is not None:
        found = Explanation(Answer.UNKNOWN, f"the events of {doubtful} can be read in several orders")
    if found.answer is Answer.UNKNOWN:
        return unknown(found.gap, jobs=(step.job.id,), events=(step.preemption.event,))
    word = shown.value if shown is not None else "cross-share or in-share"
    demand = ", ".join(f"{count} {unit}" for unit, count in attempt.demand)
    return Verdict(
        found.answer,
        expected=expected(attempt) + (f" ({found.gap})" if found.gap else ""),
        seen=f"{word} preemption stopped {attempt.job} of {attempt.share}, which held {demand}",
        shares=(attempt.share,),
        jobs=(attempt.job,),
        events=(attempt.event, step.preemption.event),
        hinges_on=found.hinges_on,
    )


_SEVERITY = (Answer.PASS, Answer.UNKNOWN, Answer.DIVERGENCE, Answer.VIOLATION)


def _as_other_kind(kind: PreemptionKind, step: Preempting, attempt: Attempt) -> Explanation:
    """Explain a preemption as the kind that isn't `kind`: both of its explanations are needed."""
    pairs = {
        PreemptionKind.CROSS_SHARE: (in_share_enabled, superior_job),
        PreemptionKind.IN_SHARE: (over_limit, entitled_job),
    }
    found = [explain(step, attempt) for explain in pairs[kind]]
    return max(found, key=lambda item: _SEVERITY.index(item.answer))


def _surely_over(step: Preempting, victim: Attempt, unit: str, limit: int) -> bool:
    """Whether the share was over its limit by jobs that surely held, those stopped together with the victim too."""
    queue = step.queue
    if queue.complete:
        return True
    firm = [
        holder
        for holder in queue.capacity.holders(unit, victim.share)
        if holder is victim
        or (
            queue.confirmed(holder, step.at.lo)
            and (holder.stopping is None or holder.stopping.at.hi >= step.at.lo - queue.lag)
        )
    ]
    return HoldingOf(firm).use(victim.share or "", unit) > limit


def _entitled(step: Preempting, share: str, demand: Demand) -> bool:
    queue = step.queue
    since = step.at.lo - queue.lag
    least = {unit: queue.capacity.least(share, unit, since) for unit, _ in demand}
    shares = (share_in(policy, share) for policy in queue.policies(step.at))
    return any(
        own is None or all(least[unit] + count <= own.limits.get(unit, 0) for unit, count in demand) for own in shares
    )


def _comparable(step: Preempting, victim: Attempt) -> tuple[JobRecord, ...] | None:
    """Return the jobs whose priorities decide an in-share preemption; None where they are too many to follow."""
    since = step.at.lo - step.queue.lag
    waits = step.queue.waiting.others(victim.share or "", victim.job, since, _FOLLOWED)
    if len(waits) == _FOLLOWED:
        return None
    records = [step.queue.jobs[wait.job] for wait in waits]
    return (step.job, *records) if records else ()


def _beyond_ceiling(step: Preempting, attempt: Attempt) -> bool:
    """Whether the victim's share may have used more than it could ever get under the policy then."""
    share = attempt.share or ""
    since = step.at.lo - step.queue.lag
    return any(
        step.queue.capacity.most(share, unit, since) > ceiling(policy, share, unit)
        for policy in step.queue.policies(step.at)
        for unit, _ in attempt.demand or ()
    )
