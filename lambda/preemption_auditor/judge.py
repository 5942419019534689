"""Rules applied to moments, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from preemption_auditor.beneficiaries import Beneficiaries
from preemption_auditor.findings import Finding
from preemption_auditor.moments import (
    Blocked,
    Comparison,
    Dispatch,
    Key,
    Moment,
    Preempting,
    Quality,
    Requeue,
    Selection,
    Transition,
    Waited,
)
from preemption_auditor.rules import RULES
from preemption_auditor.verdicts import Answer, Kind, unknown

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.queue_history import QueueHistory
    from preemption_auditor.verdicts import Rule, Verdict

__all__ = ["Judge", "Open"]

_Key: TypeAlias = tuple[str, Key]

_MOMENTS = (Transition, Dispatch, Selection, Preempting, Requeue, Blocked, Waited, Comparison, Quality)
_BY_MOMENT = {kind: tuple(rule for rule in RULES if rule.judges is kind) for kind in _MOMENTS}
_NO_LIMITS = ("QM-A01", "QM-A09", "QM-A10", "QM-A13", "QM-A15")
"""Rules that don't look at the policy's limits, or that judge the policy itself."""
_UNSEEN_LIMITS = "the policy changed, or a change of it may be missing"
_DECISIONS = (Dispatch, Preempting, Requeue, Blocked)
_UNSEEN_EDIT = "an edit of a priority could explain it, and the recording doesn't hold all of them"
_UNSEEN_PAUSE = "the service environment or the queue may have been DISABLED, which no call and no look-up denies"
_FOREVER = 10**18


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
    withdrawn : dict
        Findings that late events took back, likewise.
    open : dict
        What couldn't be judged, likewise.
    beneficiaries : Beneficiaries
        For whom jobs were preempted.
    suspended : dict
        Verdicts that wait for whether all edits, and what was disabled, are in the recording.
    on_limits : dict
        Verdicts that wait for whether the next look-up finds the policy unchanged.
    answers : Counter
        By rule and answer.
    decisions : int
    forgotten : int
        Unknown decisions that aren't remembered one by one any more.
    """

    queue: str
    findings: dict[_Key, Finding] = field(default_factory=dict)
    withdrawn: dict[_Key, Finding] = field(default_factory=dict)
    open: dict[_Key, Open] = field(default_factory=dict)
    beneficiaries: Beneficiaries = field(default_factory=Beneficiaries)
    suspended: dict[_Key, tuple[Verdict, Span]] = field(default_factory=dict)
    on_limits: dict[_Key, tuple[Verdict, Span]] = field(default_factory=dict)
    answers: Counter[tuple[str, Answer]] = field(default_factory=Counter)
    decisions: int = 0
    forgotten: int = 0
    _undecided: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def judge(self, moment: Moment) -> None:
        """Let every rule that speaks of such a moment judge it."""
        subject = moment.key
        if isinstance(moment, Preempting):
            self.beneficiaries.preempted(moment)
        elif isinstance(moment, Dispatch):
            self.beneficiaries.dispatched(moment)
        if isinstance(moment, _DECISIONS):
            self.decisions += len(moment.attempts) if isinstance(moment, Dispatch) else 1
        for rule in _BY_MOMENT[type(moment)]:
            verdict = rule.judge(moment)
            if verdict is None:
                continue
            accuses = verdict.answer in (Answer.VIOLATION, Answer.DIVERGENCE)
            if accuses and not isinstance(moment, Quality) and not moment.queue.complete and rule.id not in _NO_LIMITS:
                self.on_limits[rule.id, subject] = verdict, moment.at
            elif verdict.hinges_on is None or verdict.hinges_on or verdict.if_running:
                self.suspended[rule.id, subject] = verdict, moment.at
            else:
                self._record(rule, verdict, subject, moment.at)

        if isinstance(moment, Comparison):
            self._resolve(self.on_limits, _UNSEEN_LIMITS if moment.queue.policy_in_doubt else "")

    def close(self, queue: QueueHistory) -> None:
        """Decide what was suspended, now that it is known what the recording holds."""
        self.expire(queue, _FOREVER)

    def expire(self, queue: QueueHistory, before: int) -> None:
        """Decide what was suspended, where that is possible now; what is older than a moment stays unknown."""
        for key, (verdict, at) in list(self.on_limits.items()):
            if not queue.policy_in_doubt or at.hi < before:
                del self.on_limits[key]
                self._resolve({key: (verdict, at)}, _UNSEEN_LIMITS if queue.policy_in_doubt else "")
        for key, (verdict, at) in list(self.suspended.items()):
            edits = () if verdict.hinges_on == () else queue.shows_priorities(verdict.hinges_on, at)
            states = queue.pauses.shown(at) if verdict.if_running else ()
            if (edits is not None and states is not None) or at.hi < before:
                del self.suspended[key]
                proved = replace(verdict, events=verdict.events + (edits or ()) + (states or ()))
                gap = _UNSEEN_EDIT if edits is None else _UNSEEN_PAUSE if states is None else ""
                self._resolve({key: (proved, at)}, gap)

    def forget(self, before: int) -> None:
        """Drop what late events can't change any more; the counts stay."""
        for kept in (self.findings, self.withdrawn, self.open):
            for key in [key for key, item in kept.items() if item.at.hi < before]:
                del kept[key]
        for subject, (count, until) in list(self._undecided.items()):
            if until < before:
                del self._undecided[subject]
                self.forgotten += count
        self.beneficiaries.forget(before)

    def _resolve(self, suspended: dict[_Key, tuple[Verdict, Span]], gap: str) -> None:
        """Record suspended verdicts, or unknown for each where there is a gap."""
        rules = {rule.id: rule for rule in RULES}
        for (rule_id, subject), (verdict, at) in suspended.items():
            open_verdict = unknown(gap, jobs=verdict.jobs, events=verdict.events)
            self._record(rules[rule_id], open_verdict if gap else verdict, subject, at)
        suspended.clear()

    @property
    def unknown(self) -> int:
        """Return the decisions with a rule that couldn't judge them."""
        return self.forgotten + sum(count for count, _ in self._undecided.values())

    def _record(self, rule: Rule[Any], verdict: Verdict, subject: Key, at: Span) -> None:
        if rule.kind is not Kind.NOTE:
            self.answers[rule.id, verdict.answer] += 1
        if verdict.answer is Answer.PASS:
            return
        if verdict.answer is Answer.UNKNOWN:
            self.open[rule.id, subject] = Open(rule.id, at, verdict.jobs, verdict.gap)
            known = self._undecided.get(subject, (0, 0))[0]
            self._undecided[subject] = max(known, len(verdict.jobs) or 1), at.hi
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
            about=subject,
        )

    def revise(self, earlier: Judge, since: int, judged: int) -> None:
        """Give findings their revisions after everything from a moment on was judged again.

        Parameters
        ----------
        earlier : Judge
            As it stood before; what it found and no longer holds is withdrawn.
        since : int
            From when on everything was judged again, in milliseconds.
        judged : int
            Up to when it had been judged before.
        """
        for key, finding in self.findings.items():
            before = earlier.findings.get(key) or earlier.withdrawn.get(key)
            if before is None:
                revision = int(finding.at.hi <= judged)
            else:
                revision = before.revision + (replace(finding, revision=before.revision) != before)
            self.findings[key] = replace(finding, revision=revision)
        self.withdrawn = {key: note for key, note in earlier.withdrawn.items() if key not in self.findings}
        for key, before in earlier.findings.items():
            if key not in self.findings and before.at.hi > since:
                self.withdrawn[key] = _withdrawn(before, "an event that came late explains it")

    def withdraw(self, since: int) -> None:
        """Withdraw every finding from a moment on: an event came too late for it to be judged again."""
        for key, finding in list(self.findings.items()):
            if finding.at.hi >= since:
                del self.findings[key]
                self.withdrawn[key] = _withdrawn(finding, "an event came too late to judge it again")


def _withdrawn(finding: Finding, why: str) -> Finding:
    seen = f"withdrawn, since {why}: {finding.seen}"
    return replace(finding, kind=Kind.NOTE, seen=seen, revision=finding.revision + 1)
