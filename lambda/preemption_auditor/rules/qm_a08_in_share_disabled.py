"""QM-A08: no in-share preemption where it is disabled."""

from __future__ import annotations

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.preemptions import in_share_enabled, judge_as
from preemption_auditor.verdicts import Kind, Rule, Verdict
from quota_scheduler import PreemptionKind

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    return judge_as(
        PreemptionKind.IN_SHARE,
        step,
        in_share_enabled,
        lambda attempt: f"no in-share preemption in {attempt.share}, where it is disabled",
    )


RULE = Rule(
    id="QM-A08",
    kind=Kind.VIOLATION,
    judges=Preempting,
    proves="a job was stopped for another of its share although in-share preemption was disabled there",
    evidence="the share's preemption configuration while the decision can have been taken; the kind of preemption "
    "from its reason, or that it can't have been the other kind",
    source="quota-shares, API CreateQuotaShare (inSharePreemption)",
    judge=_judge,
)
