"""QM-A07: cross-share preemption happens for a waiting job that is within its share's limits."""

from __future__ import annotations

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.preemptions import entitled_job, judge_as
from preemption_auditor.verdicts import Kind, Rule, Verdict
from quota_scheduler import PreemptionKind

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    return judge_as(
        PreemptionKind.CROSS_SHARE,
        step,
        entitled_job,
        lambda attempt: (
            f"a waiting job of another share than {attempt.share}, within its limits, that needs "
            + " or ".join(unit for unit, _ in attempt.demand or ())
        ),
    )


RULE = Rule(
    id="QM-A07",
    kind=Kind.VIOLATION,
    judges=Preempting,
    proves="cross-share preemption stopped a job although no job of another share could claim what it held",
    evidence="every job that may have waited while the decision can have been taken, with its demand; what its "
    "share surely used and its limits then. Where the victim's share was beyond a lowered limit, a divergence "
    "from assumption A12",
    source="quota-management, preemption",
    judge=_judge,
)
