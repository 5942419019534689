"""QM-A12: an entitled job is dispatched when its capacity is free."""

from __future__ import annotations

from preemption_auditor.moments import Need, Waited
from preemption_auditor.rules.waits import judge_wait
from preemption_auditor.verdicts import Answer, Kind, Rule

__all__ = ["RULE"]

RULE = Rule(
    id="QM-A12",
    kind=Kind.VIOLATION,
    judges=Waited,
    proves="the first job of a share stayed within the share's limits and waited longer than is tolerated although "
    "the capacity it needed was free",
    evidence="without a break: that it was first in its share, not blocked and no earlier attempt of it had ended; "
    "what every share used; that neither environment nor queue was DISABLED",
    source="quota-management, quota-shares (shares within their limits are served first)",
    judge=lambda waited: judge_wait(waited, Need.FREE, Answer.VIOLATION),
)
