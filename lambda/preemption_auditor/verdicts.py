"""What a rule answers, and what a rule is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from preemption_auditor.jobs import JobRecord

__all__ = ["PASS", "Answer", "Kind", "Rule", "Verdict", "unknown"]

M = TypeVar("M")


class Kind(str, Enum):
    """Kinds of findings (contract.md section 5)."""

    VIOLATION = "violation"
    """A documented rule was broken."""
    DIVERGENCE = "divergence"
    """It differs from an assumption of ours, or from our choice of victims."""
    NOTE = "note"
    """Something about the events themselves."""


class Answer(str, Enum):
    """What a rule says of a moment."""

    PASS = "pass"
    VIOLATION = "violation"
    DIVERGENCE = "divergence"
    UNKNOWN = "unknown"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's answer, with its smallest witness.

    Attributes
    ----------
    answer : Answer
    expected, seen : str
        One plain sentence each, for a violation or divergence.
    shares, jobs, events : tuple of str
        The witness: what the sentence speaks of, and the events that show it.
    gap : str
        What is missing, for unknown.
    hinges_on : tuple of JobRecord or None
        Jobs an edit of whose priority could explain it, if it isn't in the recording; None for any job.
    if_running : bool
        Whether a service environment, or a queue, that was DISABLED unseen could explain it.
    """

    answer: Answer
    expected: str = ""
    seen: str = ""
    shares: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    gap: str = ""
    hinges_on: tuple[JobRecord, ...] | None = ()
    if_running: bool = False


PASS = Verdict(Answer.PASS)


def unknown(gap: str, *, jobs: tuple[str, ...] = (), events: tuple[str, ...] = ()) -> Verdict:
    """Return the answer of a rule whose evidence has a gap."""
    return Verdict(Answer.UNKNOWN, jobs=jobs, events=events, gap=gap)


@dataclass(frozen=True)
class Rule(Generic[M]):
    """One audit rule.

    Attributes
    ----------
    id : str
        Part of the public interface, never reused.
    kind : Kind
        Of its findings.
    judges : type
        The kind of moment it judges.
    proves : str
        What a finding of it proves.
    evidence : str
        What it needs to see before it accuses.
    source : str
        Page of the guide, or the assumption it rests on.
    judge : callable
        From a moment to a verdict, or to None where the rule doesn't speak of it.
    """

    id: str
    kind: Kind
    judges: type[M]
    proves: str
    evidence: str
    source: str
    judge: Callable[[M], Verdict | None] = field(repr=False)
