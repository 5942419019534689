"""What is noticed about the events themselves, beside what they tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Flaw", "FlawLog"]

_EXAMPLES = 10


class Flaw(str, Enum):
    """Kinds of flaws, one for each of the rules QM-Q01 to QM-Q07."""

    DUPLICATE = "duplicate"
    LATE = "late"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    UNKNOWN_JOB = "unknown job"
    UNKNOWN_SHARE = "unknown share"
    UNLOGGED_EDIT = "unlogged edit"


@dataclass
class FlawLog:
    """Counts flaws of each kind, and keeps the first few as examples.

    Attributes
    ----------
    counts : dict of Flaw to int
    jobs, events : dict of Flaw to list of str
        At most ten of each.
    """

    counts: dict[Flaw, int] = field(default_factory=dict)
    jobs: dict[Flaw, list[str]] = field(default_factory=dict)
    events: dict[Flaw, list[str]] = field(default_factory=dict)

    def add(self, flaw: Flaw, job: str = "", event: str = "") -> None:
        """Count one more."""
        self.counts[flaw] = self.counts.get(flaw, 0) + 1
        for name, examples in ((job, self.jobs), (event, self.events)):
            kept = examples.setdefault(flaw, [])
            if name and name not in kept and len(kept) < _EXAMPLES:
                kept.append(name)

    def joined(self, other: FlawLog) -> FlawLog:
        """Return both logs as one."""
        joined = FlawLog()
        for log in (self, other):
            for flaw, count in log.counts.items():
                joined.counts[flaw] = joined.counts.get(flaw, 0) + count
                joined.jobs.setdefault(flaw, []).extend(log.jobs.get(flaw, ()))
                joined.events.setdefault(flaw, []).extend(log.events.get(flaw, ()))
        return joined
