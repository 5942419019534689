"""QM-Q04: events that cannot be read are counted and left out."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q04",
    Flaw.UNREADABLE,
    proves="events could not be read and were left out",
    expected="JSON objects with a time and, for jobs, a job",
    source="service-job-events",
)
