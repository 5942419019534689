"""QM-A06: cross-share preemption takes only from shares over their limit."""

from __future__ import annotations

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.preemptions import judge_as, over_limit
from preemption_auditor.verdicts import Kind, Rule, Verdict
from quota_scheduler import PreemptionKind

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    return judge_as(
        PreemptionKind.CROSS_SHARE,
        step,
        over_limit,
        lambda attempt: f"no cross-share preemption in {attempt.share}, which was within its limits",
    )


RULE = Rule(
    id="QM-A06",
    kind=Kind.VIOLATION,
    judges=Preempting,
    proves="cross-share preemption stopped a job of a share that was within its limits in all the job held",
    evidence="every job that may have held in the share while the decision can have been taken, those already "
    "being stopped left out; the share's limits then",
    source="quota-management, preemption (it takes back borrowed capacity)",
    judge=_judge,
)
