"""Audit a recording, or a stream of events: the auditor's entry point.

Events are taken in as they come, put into order behind a watermark and judged. An event that
comes later than that reopens what was judged; what changes is published as a revision.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from preemption_auditor.coverage import Coverage
from preemption_auditor.instants import SECOND, Span
from preemption_auditor.judge import Judge
from preemption_auditor.moments import Quality
from preemption_auditor.observations import Observation, implied
from preemption_auditor.policy_timeline import PolicyTimeline
from preemption_auditor.quality import Flaw, FlawLog
from preemption_auditor.reading import Skipped, identity, read_event, unwrap
from preemption_auditor.report import Report
from preemption_auditor.rewinding import GENERATIONS, QueueAudits
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.verdicts import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from preemption_auditor.findings import Finding
    from preemption_auditor.judge import Open
    from preemption_auditor.reading import Item
    from preemption_auditor.verdicts import Answer
    from quota_scheduler import QuotaPolicy

__all__ = ["Auditor", "audit"]

_SETTLING = 3 * SECOND
"""How long after the last event things are still looked at."""
_NEVER = 10**15


class Auditor:
    """Audits a stream of events.

    Feed it, then either ask for the :meth:`report` of a recording that has ended, or :meth:`publish`
    from time to time what is new of a stream that goes on.

    Parameters
    ----------
    policy : QuotaPolicy or PolicyTimeline
        In force when the recording begins; API calls in the recording change it.
    settings : AuditSettings, optional
    batch : int
        Events between two steps of the watermark, at least: a recording with fewer is put into order
        as a whole.
    reach : float
        Seconds, beyond the lateness, by which an event may be late in a stream and still be judged in
        its place.
    """

    def __init__(
        self,
        policy: QuotaPolicy | PolicyTimeline,
        settings: AuditSettings | None = None,
        *,
        batch: int = 20_000,
        reach: float = 0,
    ) -> None:
        timeline = policy if isinstance(policy, PolicyTimeline) else PolicyTimeline.constant(policy)
        self._settings = settings or AuditSettings()
        self._batch = batch
        self._lateness = round(self._settings.lateness * SECOND)
        self._audits = QueueAudits(timeline, self._settings, round(reach * SECOND / (GENERATIONS - 1)))
        self._coverage = Coverage()
        self._flaws = FlawLog()
        self._waiting: list[Item] = []
        self._seen: list[tuple[int, set[int]]] = [(-_NEVER, set())]
        self._first, self._latest = _NEVER, -_NEVER
        self._published: dict[tuple[str, object], Finding] = {}

    def feed(self, line: Mapping[str, Any] | str | bytes) -> None:
        """Take in one event or one line of a recording."""
        for event in unwrap(line):
            self._coverage.read += 1
            items = event if isinstance(event, Skipped) else read_event(event)
            if items is Skipped.UNREADABLE:
                self._coverage.unreadable += 1
                self._flaws.add(Flaw.UNREADABLE)
            elif isinstance(items, Skipped):
                self._coverage.ignored += 1
            else:
                self._take(items)
        if len(self._waiting) >= max(self._batch, self._audits.jobs // 2):  # a snapshot costs as much as its jobs
            self._step(self._latest - self._lateness)

    def publish(self, now: float) -> list[Finding]:
        """Judge a stream up to the lateness before `now`, in seconds, and return what is new.

        Returns
        -------
        list of Finding
            Findings that weren't returned before, or are otherwise now: their revision tells.
        """
        watermark = round(now * SECOND) - self._lateness
        if watermark > self._audits.position:
            self._step(watermark, clock=True)
        news = []
        reach = self._audits.reach
        for name, queue in self._audits.queues.items():
            queue.judge.expire(queue.history, reach)
            for key, finding in {**queue.judge.findings, **queue.judge.withdrawn}.items():
                if self._published.get((name, key)) != finding:
                    news.append(finding)
                    self._published[name, key] = finding
            queue.judge.forget(reach)
        self._published = {key: finding for key, finding in self._published.items() if finding.at.hi >= reach}
        return sorted(news, key=_by_time)

    def report(self) -> Report:
        """Judge everything that came in, and end the audit."""
        self._audits.step(self._waiting, self._latest + _SETTLING, last=True)
        self._waiting = []
        for queue in self._audits.queues.values():
            queue.judge.close(queue.history)
        judges = [queue.judge for queue in self._audits.queues.values()]
        findings = [finding for judge in judges for finding in judge.findings.values()]
        withdrawn = [finding for judge in judges for finding in judge.withdrawn.values()]
        return self._report(findings, self._notes() + withdrawn)

    def so_far(self) -> Report:
        """Return the report of a stream up to what was published last, without what :meth:`publish` returned."""
        return self._report([], self._notes())

    def _report(self, findings: list[Finding], notes: list[Finding]) -> Report:
        judges = [queue.judge for queue in self._audits.queues.values()]
        inferences = [inference for judge in judges for inference in judge.beneficiaries.inferences]
        return Report(
            findings=tuple(sorted(findings, key=_by_time)),
            notes=tuple(sorted(notes, key=_by_time)),
            preemptions=tuple(sorted(inferences, key=lambda inference: (inference.at, inference.victim))),
            unknown=tuple(self.unknown),
            coverage=self.coverage,
            answers=_answers(judges),
            settings=self._settings,
        )

    def holding(self) -> list[str]:
        """Return the jobs that hold as far as events tell, judged or not: those worth looking up."""
        queues = self._audits.queues.values()
        held = {attempt.job for queue in queues for attempt in queue.history.capacity.holding}
        shown = [(item.job, item.status) for item in self._waiting if isinstance(item, Observation) and item.status]
        held |= {job for job, status in shown if status.holds}
        return sorted(held - {job for job, status in shown if status.final})

    @property
    def unknown(self) -> list[Open]:
        """Decisions of a stream that couldn't be judged, of late, in order of time."""
        gaps = [gap for queue in self._audits.queues.values() for gap in queue.judge.open.values()]
        return sorted(gaps, key=_open_by_time)

    @property
    def coverage(self) -> Coverage:
        """What was used and judged so far."""
        judges = [queue.judge for queue in self._audits.queues.values()]
        decisions, unknown = sum(judge.decisions for judge in judges), sum(judge.unknown for judge in judges)
        return replace(self._coverage, decisions=decisions, unknown=unknown, judged=decisions - unknown)

    def _take(self, items: tuple[Item, ...]) -> None:
        """Take in what one event says."""
        new = [item for item in items if self._is_new(identity(item))]
        if items and not new:
            self._coverage.duplicate += 1
            self._flaws.add(Flaw.DUPLICATE, event=items[0].event)
            return
        self._coverage.used += 1
        if any(item.at.hi < self._latest - self._lateness for item in new):
            self._coverage.late += 1
            self._flaws.add(Flaw.LATE, event=items[0].event)
        for item in new:
            self._waiting.append(item)
            self._first = min(self._first, item.at.lo)
            self._latest = max(self._latest, item.shown if isinstance(item, Observation) else item.at.hi)
            if isinstance(item, Observation) and self._settings.delivery is Delivery.LOSSY:
                self._take_implied(item)

    def _take_implied(self, item: Observation) -> None:
        """Take in the steps an event tells of, as far as they don't belong to what was judged already."""
        for step in implied(item):
            key = "implied", step.job, step.status, step.at
            if step.at.lo >= self._audits.position and self._is_new(key):
                self._waiting.append(step)

    def _is_new(self, key: Hashable) -> bool:
        """Whether an identity wasn't seen in the last steps; of a million, two are alike once in 10 million audits."""
        known = int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "big")
        if any(known in seen for _, seen in self._seen):
            return False
        self._seen[-1][1].add(known)
        return True

    def _step(self, watermark: int, *, clock: bool = False) -> None:
        waiting, self._waiting = self._waiting, []
        self._audits.step(waiting, watermark, clock=clock)
        reach = self._audits.reach
        self._seen = [(since, seen) for since, seen in self._seen if since >= reach or seen is self._seen[-1][1]]
        self._seen.append((watermark, set()))

    def _notes(self) -> list[Finding]:
        """Return the notes about the events: those of each queue, and those that belong to none."""
        at = Span(min(self._first, self._latest), self._latest)
        flaws = {"": self._flaws, **{name: queue.history.flaws for name, queue in self._audits.queues.items() if name}}
        if "" in self._audits.queues:
            flaws[""] = self._flaws.joined(self._audits.queues[""].history.flaws)
        notes = []
        for name, log in flaws.items():
            judge = Judge(name)
            judge.judge(Quality(at, log))
            notes += [finding for finding in judge.findings.values() if finding.kind is Kind.NOTE]
        return notes


def audit(
    events: Iterable[Mapping[str, Any] | str | bytes],
    policy: QuotaPolicy | PolicyTimeline,
    settings: AuditSettings | None = None,
) -> Report:
    """Audit recorded events against a policy.

    Parameters
    ----------
    events : iterable
        EventBridge events as mappings or as lines of JSON, in any order, with duplicates.
        Blank lines are skipped; what can't be read is counted.
    policy : QuotaPolicy or PolicyTimeline
    settings : AuditSettings, optional

    Returns
    -------
    Report

    Examples
    --------
    >>> from quota_scheduler import QuotaPolicy
    >>> audit([], QuotaPolicy({"ml.g5.xlarge": 3})).findings
    ()
    """
    auditor = Auditor(policy, settings)
    for line in events:
        if not isinstance(line, (str, bytes)) or line.strip():
            auditor.feed(line)
    return auditor.report()


def _by_time(finding: Finding) -> tuple[object, ...]:
    return finding.at, finding.rule, finding.queue, finding.jobs


def _open_by_time(gap: Open) -> tuple[object, ...]:
    return gap.at, gap.rule, gap.jobs


def _answers(judges: list[Judge]) -> dict[str, dict[Answer, int]]:
    """Count how often each rule gave each answer, over all queues."""
    counts: Counter[tuple[str, Answer]] = Counter()
    for judge in judges:
        counts.update(judge.answers)
    answers: dict[str, dict[Answer, int]] = {}
    for (rule, answer), count in sorted(counts.items()):
        answers.setdefault(rule, {})[answer] = count
    return answers
