"""QM-Q01: events that were delivered again are counted once."""

from __future__ import annotations

from preemption_auditor.quality import Flaw
from preemption_auditor.rules.flaws import note

__all__ = ["RULE"]

RULE = note(
    "QM-Q01",
    Flaw.DUPLICATE,
    proves="events were delivered more than once; each was used once",
    expected="each event once",
    source="batch_cwe_events (delivery is at least once)",
)
