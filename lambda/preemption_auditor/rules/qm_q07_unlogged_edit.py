"""QM-Q07: a priority changed without an API call in the recording."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q07",
    Flaw.UNLOGGED_EDIT,
    proves="a job showed another priority than before although the recording holds no call that changed it",
    expected="a call for every edit of a priority",
    source="API UpdateServiceJob",
)
