"""QM-A14: a job that can never run shows why, and no other job does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Blocked
from preemption_auditor.rules.dispatches import share_in
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict, unknown
from quota_scheduler import Assumptions
from quota_scheduler.blocked import BlockedReason, blocked_reason
from quota_scheduler.time_limits import reason_code

if TYPE_CHECKING:
    from quota_scheduler import Demand

__all__ = ["RULE"]

_OURS = Assumptions()
_OTHERS = tuple(
    Assumptions(unassigned_capacity_lent=lent, borrow_without_limit=without, disabled_shares_lend=disabled)
    for lent in (False, True)
    for without in (False, True)
    for disabled in (False, True)
)
_TEXTS = (BlockedReason.ENVIRONMENT, BlockedReason.LIMIT, BlockedReason.BORROW_LIMIT, BlockedReason.BORROWABLE)


def _judge(step: Blocked) -> Verdict:
    job, shown = step.job, "" if step.observation is None else step.observation.reason
    if shown and reason_code(shown) not in {reason_code(text) for text in _TEXTS}:
        return PASS if shown.startswith("CAPACITY:") else unknown(f"the reason is a new one: {shown}", jobs=(job.id,))
    if job.share is None or job.demand is None:
        return unknown(f"no event tells share and demand of {job.id}", jobs=(job.id,))
    ours = _reasons(step, job.share, job.demand, (_OURS,))
    if not ours:
        return unknown(f"the policy has no share {job.share}", jobs=(job.id,))
    if _agrees(shown, ours):
        return PASS
    if not shown and not step.queue.complete:
        return unknown(f"the event that tells why {job.id} is blocked may be missing", jobs=(job.id,))
    assumed = _agrees(shown, _reasons(step, job.share, job.demand, _OTHERS))
    events = (step.queue.last_event,) if step.observation is None else (step.observation.event,)
    waiting = job.wait.events if job.wait is not None and step.observation is None else ()
    return Verdict(
        Answer.DIVERGENCE if assumed else Answer.VIOLATION,
        expected=(ours[-1] or f"no blocked reason for {job.id}") + (" (assumptions A2 to A4)" if assumed else ""),
        seen=f"{job.id} of {job.share} shows {shown or 'no reason'}",
        shares=(job.share,),
        jobs=(job.id,),
        events=(*waiting, *events),
        hinges_on=() if shown or not step.queue.waiting.others(job.share, job.id, step.at.lo, 1) else None,
        if_running=not shown,
    )


def _reasons(step: Blocked, share: str, demand: Demand, assumptions: tuple[Assumptions, ...]) -> list[str | None]:
    """Return every reason contract.md section 4 may give, None where the job could run."""
    policies = step.queue.policies(step.at)
    shares = [(policy, own) for policy in policies if (own := share_in(policy, share)) is not None]
    return [blocked_reason(policy, option, own, demand) for policy, own in shares for option in assumptions]


def _agrees(shown: str, reasons: list[str | None]) -> bool:
    """Whether a reason, or none, is among those expected; an unknown wording is known by its code."""
    if not shown:
        return None in reasons
    if shown in _TEXTS:
        return shown in reasons
    return any(reason is not None and reason_code(reason) == reason_code(shown) for reason in reasons)


RULE = Rule(
    id="QM-A14",
    kind=Kind.VIOLATION,
    judges=Blocked,
    proves="a blocked job shows another reason than the policy gives, or one although it could run, or the first "
    "job of a share can never run and shows none",
    evidence="the event that tells the reason, or that there was none for longer than is tolerated, with neither "
    "environment nor queue DISABLED; the job's share and demand; the policy then. Where another assumption A2 to "
    "A4 gives the reason, a divergence",
    source="sm_job_stuck_in_runnable_misconfiguration; contract section 4",
    judge=_judge,
)
