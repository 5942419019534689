"""QM-D04: idle capacity is given out in the order in which jobs came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Dispatch
from preemption_auditor.rules.dispatches import ceiling, share_in
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict

if TYPE_CHECKING:
    from preemption_auditor.jobs import Attempt, Wait
    from quota_scheduler import Demand, QuotaPolicy

__all__ = ["RULE"]


def _judge(dispatch: Dispatch) -> Verdict | None:
    """Judge a borrower that was dispatched alone, with nobody being stopped: then no claim can explain it."""
    queue = dispatch.queue
    policies = queue.policies(dispatch.at)
    (attempt, *more) = dispatch.attempts
    calm = queue.stopped < dispatch.at.lo - queue.memory and not queue.stopping and queue.is_sharp(dispatch.at.hi)
    if more or not calm or not queue.complete or attempt.doubtful or len(policies) != 1:
        return None
    if not _borrows(dispatch, policies[0], attempt):
        return None
    job = queue.jobs.get(attempt.job)
    if job is None or job.created is None:
        return None
    for share in queue.waiting.shares():
        first = queue.waiting.front(share)
        if share == attempt.share or len(first) != 1 or first[0].created >= job.created:
            continue
        if _could_borrow(dispatch, policies[0], attempt, first[0]):
            return _verdict(dispatch, attempt, first[0])
    return PASS


def _borrows(dispatch: Dispatch, policy: QuotaPolicy, attempt: Attempt) -> bool:
    own = share_in(policy, attempt.share or "")
    return own is not None and any(
        dispatch.holding.use(own.name, unit) > own.limits.get(unit, 0) for unit, _ in attempt.demand or ()
    )


def _could_borrow(dispatch: Dispatch, policy: QuotaPolicy, attempt: Attempt, front: Wait) -> bool:
    """Whether the front of another share, waiting since before the decision, fitted in place of what was dispatched."""
    own = share_in(policy, front.share)
    steady = front.since.hi < dispatch.at.lo - dispatch.queue.lag and not front.blocked and not front.after_attempt
    if own is None or not own.sharing.borrows or not own.enabled or not steady or front.demand is None:
        return False
    return all(
        dispatch.holding.use(own.name, unit) + count <= ceiling(policy, own.name, unit)
        and _fits(dispatch, policy, attempt.demand or (), front, unit, count)
        for unit, count in front.demand
    )


def _fits(dispatch: Dispatch, policy: QuotaPolicy, given: Demand, front: Wait, unit: str, count: int) -> bool:
    """Whether I1 and I4 hold in a unit with the front in place of what was given."""
    taken = dict(given).get(unit, 0)
    use = {share.name: dispatch.holding.use(share.name, unit) for share in policy.shares}
    use[dispatch.attempts[0].share or ""] -= taken
    use[front.share] += count
    borrowed = sum(max(0, use[share.name] - share.limits.get(unit, 0)) for share in policy.shares)
    lendable = sum(
        max(0, share.limits.get(unit, 0) - use[share.name]) for share in policy.shares if share.sharing.lends
    )
    total = dispatch.holding.total(unit) - taken + count
    return borrowed <= lendable and total <= policy.environment.get(unit, 0)


def _verdict(dispatch: Dispatch, attempt: Attempt, front: Wait) -> Verdict:
    job = dispatch.queue.jobs[attempt.job]
    chosen = job.wait.events if job.wait is not None else ()
    return Verdict(
        Answer.DIVERGENCE,
        expected=f"{front.job} of {front.share} before {attempt.job}: it came earlier and fitted",
        seen=f"{attempt.job} of {attempt.share} borrowed while {front.job} waited",
        shares=(attempt.share or "", front.share),
        jobs=(attempt.job, front.job),
        events=(*(holder.event for holder in dispatch.queue.capacity.holding), *front.events, *chosen),
        hinges_on=None if dispatch.queue.waiting.others(front.share, front.job, dispatch.at.lo, 1) else (),
    )


RULE = Rule(
    id="QM-D04",
    kind=Kind.DIVERGENCE,
    judges=Dispatch,
    proves="a job borrowed idle capacity although the first job of another share came earlier and could have "
    "borrowed it",
    evidence="a single dispatch with nobody being stopped before, a policy without doubt, and that the other job "
    "waited without a break, first in its share",
    source="API CreateSchedulingPolicy (idleResourceAssignmentStrategy FIFO); assumptions A8, A9",
    judge=_judge,
)
