"""What an audit reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preemption_auditor.instants import iso

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.verdicts import Kind

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; its form as JSON is a public interface.

    Attributes
    ----------
    rule : str
        Id of contract.md section 5.
    kind : Kind
    queue : str
    shares, jobs : tuple of str
    at : Span
        The window it speaks of.
    events : tuple of str
        Ids of the events that show it.
    expected, seen : str
        What should have been, and what was.
    revision : int
        0 where it was first published; grows when late events change it.
    source : str
        Page of the guide.
    about : tuple
        What tells it from every other finding of its rule and queue, whatever its revision.
    """

    rule: str
    kind: Kind
    queue: str
    shares: tuple[str, ...]
    jobs: tuple[str, ...]
    at: Span
    events: tuple[str, ...]
    expected: str
    seen: str
    revision: int = 0
    source: str = ""
    about: tuple[object, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the finding as ``batch-quota audit --json`` prints it."""
        return {
            "rule": self.rule,
            "kind": self.kind.value,
            "queue": self.queue,
            "shares": list(self.shares),
            "jobs": list(self.jobs),
            "from": iso(self.at.lo),
            "to": iso(self.at.hi),
            "events": list(self.events),
            "expected": self.expected,
            "seen": self.seen,
            "revision": self.revision,
            "source": self.source,
        }
