"""QM-Q02: events that came late are used, and what they change is published as a revision."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q02",
    Flaw.LATE,
    proves="events came after younger ones by more than the lateness allows; what they changed was judged again",
    expected="events in time",
    source="batch_cwe_events; AuditSettings.lateness",
)
