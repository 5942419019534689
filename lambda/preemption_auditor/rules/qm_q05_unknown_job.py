"""QM-Q05: a preemption of a job that no other event tells of."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q05",
    Flaw.UNKNOWN_JOB,
    proves="a preemption names a job whose queue, share and demand no event tells",
    expected="an event that describes every preempted job",
    source="batch-service-job-preemption-events",
)
