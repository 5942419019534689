"""How much of a recording an audit could use, and how much of it was judged."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["Coverage"]


@dataclass
class Coverage:
    """Counts of one audit.

    Attributes
    ----------
    read : int
        Events found in the recording: used, duplicate, unreadable and ignored ones.
    used : int
    duplicate : int
        Events delivered again.
    late : int
        Used events that came after younger ones by more than the lateness allows.
    unreadable : int
    ignored : int
        Events of other sources or of kinds the auditor doesn't know.
    decisions : int
        Dispatches, preemptions and completed preemptions.
    judged : int
        Decisions to which every rule had an answer.
    unknown : int
        Decisions with a rule whose evidence has a gap.
    """

    read: int = 0
    used: int = 0
    duplicate: int = 0
    late: int = 0
    unreadable: int = 0
    ignored: int = 0
    decisions: int = 0
    judged: int = 0
    unknown: int = 0

    def minus(self, earlier: Coverage) -> Coverage:
        """Return what was added since an earlier count; late events may take decisions back, which counts as none."""
        mine, its = asdict(self), asdict(earlier)
        return Coverage(**{name: max(0, count - its[name]) for name, count in mine.items()})

    def to_document(self) -> dict[str, int]:
        """Return the counts as ``batch-quota audit --json`` prints them."""
        return asdict(self)
