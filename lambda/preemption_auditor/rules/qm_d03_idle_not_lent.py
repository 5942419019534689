"""QM-D03: idle capacity that may be lent goes to a job that may borrow it."""

from __future__ import annotations

from preemption_auditor.moments import Need, Waited
from preemption_auditor.rules.waits import judge_wait
from preemption_auditor.verdicts import Answer, Kind, Rule

__all__ = ["RULE"]

RULE = Rule(
    id="QM-D03",
    kind=Kind.DIVERGENCE,
    judges=Waited,
    proves="the first job of a share that borrows waited longer than is tolerated although idle lendable capacity "
    "and the share's borrow limit would have sufficed",
    evidence="without a break: that it was first in its share, not blocked and no earlier attempt of it had ended; "
    "what every share used; that neither environment nor queue was DISABLED",
    source="quota-shares (idle capacity of lending shares can be borrowed); contract section 3, step 3",
    judge=lambda waited: judge_wait(waited, Need.IDLE, Answer.DIVERGENCE),
)
