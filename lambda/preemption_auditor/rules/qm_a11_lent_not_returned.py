"""QM-A11: an entitled job gets back what others borrow."""

from __future__ import annotations

from preemption_auditor.moments import Need, Waited
from preemption_auditor.rules.waits import judge_wait
from preemption_auditor.verdicts import Answer, Kind, Rule

__all__ = ["RULE"]

RULE = Rule(
    id="QM-A11",
    kind=Kind.VIOLATION,
    judges=Waited,
    proves="the first job of a share stayed within the share's limits and waited longer than is tolerated while "
    "other shares borrowed what it needed, and nobody was stopped for it",
    evidence="without a break: that it was first in its share, not blocked and no earlier attempt of it had ended; "
    "what every share used; limits that add up to no more than the environment has; that neither environment nor "
    "queue was DISABLED",
    source="quota-management, preemption (jobs that arrive take borrowed capacity back)",
    judge=lambda waited: judge_wait(waited, Need.LENT, Answer.VIOLATION),
)
