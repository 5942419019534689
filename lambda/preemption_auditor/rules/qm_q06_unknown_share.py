"""QM-Q06: a job of a share that the policy does not have."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q06",
    Flaw.UNKNOWN_SHARE,
    proves="a job was dispatched in a share that the policy given does not have",
    expected="only shares of the policy",
    source="quota-shares",
)
