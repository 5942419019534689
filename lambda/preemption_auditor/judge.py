"""Rules applied to moments, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from preemption_auditor.findings import Finding
from preemption_auditor.moments import Dispatch, Moment, Preempting, Requeue, Transition
from preemption_auditor.rules import RULES
from preemption_auditor.verdicts import Answer, Kind, unknown

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.verdicts import Rule, Verdict

__all__ = ["Judge", "Open"]

Key: TypeAlias = tuple[str, object]

_BY_MOMENT = {
    kind: tuple(rule for rule in RULES if rule.judges is kind) for kind in (Transition, Dispatch, Preempting, Requeue)
}
_UNSEEN_EDIT = "priorities changed without an API call in the recording; another such edit could explain it"


@dataclass(frozen=True, slots=True)
class Open:
    """A decision a rule couldn't judge.

    Attributes
    ----------
    rule : str
    at : Span
    jobs : tuple of str
    gap : str
        What is missing.
    """

    rule: str
    at: Span
    jobs: tuple[str, ...]
    gap: str


@dataclass
class Judge:
    """Findings and counts of one queue so far.

    Attributes
    ----------
    queue : str
    findings : dict
        By rule and moment.
    open : dict
        What couldn't be judged, likewise.
    suspended : dict
        Verdicts that wait for whether all edits are in the recording.
    answers : Counter
        By rule and answer.
    decisions : int
    """

    queue: str
    findings: dict[Key, Finding] = field(default_factory=dict)
    open: dict[Key, Open] = field(default_factory=dict)
    suspended: dict[Key, tuple[Verdict, Span]] = field(default_factory=dict)
    answers: Counter[tuple[str, Answer]] = field(default_factory=Counter)
    decisions: int = 0
    undecided: Counter[object] = field(default_factory=Counter)

    def judge(self, moment: Moment) -> None:
        """Let every rule that speaks of such a moment judge it."""
        subject = _subject(moment)
        if not isinstance(moment, Transition):
            self.decisions += len(moment.attempts) if isinstance(moment, Dispatch) else 1
        for rule in _BY_MOMENT[type(moment)]:
            verdict = rule.judge(moment)
            if verdict.needs_edits and verdict.answer is Answer.VIOLATION:
                self.suspended[rule.id, subject] = verdict, moment.at
            else:
                self._record(rule, verdict, subject, moment.at)

    def close(self, unlogged_edits: bool) -> None:
        """Decide what was suspended, now that it is known whether the recording holds every edit."""
        rules = {rule.id: rule for rule in RULES}
        for (rule_id, subject), (verdict, at) in self.suspended.items():
            gap = unknown(_UNSEEN_EDIT, jobs=verdict.jobs, events=verdict.events)
            self._record(rules[rule_id], gap if unlogged_edits else verdict, subject, at)
        self.suspended.clear()

    @property
    def unknown(self) -> int:
        """Return the decisions with a rule that couldn't judge them."""
        return sum(self.undecided.values())

    def _record(self, rule: Rule[Any], verdict: Verdict, subject: object, at: Span) -> None:
        self.answers[rule.id, verdict.answer] += 1
        if verdict.answer is Answer.PASS:
            return
        if verdict.answer is Answer.UNKNOWN:
            self.open[rule.id, subject] = Open(rule.id, at, verdict.jobs, verdict.gap)
            self.undecided[subject] = max(self.undecided[subject], len(verdict.jobs) or 1)
            return
        self.findings[rule.id, subject] = Finding(
            rule=rule.id,
            kind=Kind.DIVERGENCE if verdict.answer is Answer.DIVERGENCE else rule.kind,
            queue=self.queue,
            shares=verdict.shares,
            jobs=verdict.jobs,
            at=at,
            events=verdict.events,
            expected=verdict.expected,
            seen=verdict.seen,
            source=rule.source,
        )

    def revise(self, earlier: dict[Key, Finding]) -> None:
        """Number the findings that differ from those published before, and say which no longer hold."""
        for key, finding in list(self.findings.items()):
            before = earlier.get(key)
            if before is not None and before != finding:
                same = replace(finding, revision=before.revision) == before
                self.findings[key] = replace(finding, revision=before.revision + (not same))


def _subject(moment: Moment) -> object:
    """Return what tells a moment from all others, however often it is judged."""
    if isinstance(moment, Dispatch):
        return "dispatch", moment.at.hi
    if isinstance(moment, Transition):
        return "transition", moment.job.id, moment.after.shown, moment.after.status, moment.after.kind.value
    return type(moment).__name__, moment.job.id, moment.at.lo
