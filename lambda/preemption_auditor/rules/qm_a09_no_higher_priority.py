"""QM-A09: in-share preemption happens for a job of strictly higher priority."""

from __future__ import annotations

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.preemptions import judge_as, superior_job
from preemption_auditor.verdicts import Kind, Rule, Verdict
from quota_scheduler import PreemptionKind

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    return judge_as(
        PreemptionKind.IN_SHARE,
        step,
        superior_job,
        lambda attempt: f"a waiting job of {attempt.share} with higher priority than {attempt.job}",
    )


RULE = Rule(
    id="QM-A09",
    kind=Kind.VIOLATION,
    judges=Preempting,
    proves="a job was stopped for another of its share although none of higher priority waited there",
    evidence="every job that may have waited in the share while the decision can have been taken; all priorities "
    "then, with no edit that isn't in the recording. Where a job has no priority, a divergence from assumption A1",
    source="preemption (in-share preemption)",
    judge=_judge,
)
