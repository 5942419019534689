"""QM-Q03: events that must have been are missing."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q03",
    Flaw.MISSING,
    proves="a job was seen in states that no event leads to: events are missing, or states were skipped",
    expected="an event for every step of a job",
    source="service-job-status",
)
