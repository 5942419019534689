"""Audit a recording: the auditor's entry point.

Events are taken in as they come, put into order behind a watermark and judged. An event that
comes later than that sends the audit back to an earlier state, from which everything is judged
again; what changes is published as a revision.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from preemption_auditor.api_calls import ApiCall, edited_priority, queue_of
from preemption_auditor.coverage import Coverage
from preemption_auditor.instants import SECOND, Span
from preemption_auditor.judge import Judge
from preemption_auditor.moments import Quality
from preemption_auditor.observations import Observation, implied
from preemption_auditor.policy_timeline import PolicyTimeline
from preemption_auditor.quality import Flaw, FlawLog
from preemption_auditor.queue_history import QueueHistory
from preemption_auditor.reading import PolicyFound, Skipped, identity, read_event, unwrap
from preemption_auditor.report import Report
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.snapshots import restore, take_snapshot
from preemption_auditor.verdicts import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from preemption_auditor.findings import Finding
    from preemption_auditor.reading import Item
    from preemption_auditor.verdicts import Answer
    from quota_scheduler import QuotaPolicy

__all__ = ["Auditor", "audit"]

_GENERATIONS = 3
"""Snapshots kept: an event may be late by up to as many batches."""
_SETTLING = 3 * SECOND
"""How long after the last event things are still looked at."""
_FOREVER = 10**15


@dataclass
class _Queue:
    history: QueueHistory
    judge: Judge


@dataclass
class _Generation:
    """A snapshot, and what came in after it."""

    position: int
    snapshot: bytes
    items: list[Item] = field(default_factory=list)


class Auditor:
    """Audits a stream of events.

    Parameters
    ----------
    policy : QuotaPolicy or PolicyTimeline
        In force when the recording begins; API calls in the recording change it.
    settings : AuditSettings, optional
    batch : int
        Events between two steps of the watermark, at least: a recording with fewer is put into order
        as a whole.
    """

    def __init__(
        self, policy: QuotaPolicy | PolicyTimeline, settings: AuditSettings | None = None, *, batch: int = 20_000
    ) -> None:
        self._policy = policy if isinstance(policy, PolicyTimeline) else PolicyTimeline.constant(policy)
        self._settings = settings or AuditSettings()
        self._batch = batch
        self._lateness = round(self._settings.lateness * SECOND)
        self._coverage = Coverage()
        self._queues: dict[str, _Queue] = {}
        self._waiting: list[Item] = []
        self._fresh = 0
        self._generations = deque([_Generation(-_FOREVER, take_snapshot({}))], maxlen=_GENERATIONS)
        self._seen: deque[set[int]] = deque([set()], maxlen=_GENERATIONS)
        self._flaws = FlawLog()
        self._first, self._latest = _FOREVER, -_FOREVER

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

    def report(self) -> Report:
        """Judge everything that came in, and end the audit."""
        self._advance(self._latest + _SETTLING, last=True)
        for queue in self._queues.values():
            queue.judge.close(queue.history)
        judges = [queue.judge for queue in self._queues.values()]
        counts: Counter[tuple[str, Answer]] = sum((judge.answers for judge in judges), Counter())
        answers: dict[str, dict[Answer, int]] = {}
        for (rule, answer), count in sorted(counts.items()):
            answers.setdefault(rule, {})[answer] = count
        coverage = replace(self._coverage)
        coverage.decisions = sum(judge.decisions for judge in judges)
        coverage.unknown = sum(judge.unknown for judge in judges)
        coverage.judged = coverage.decisions - coverage.unknown
        findings = [finding for judge in judges for finding in judge.findings.values()]
        notes = [finding for judge in (*judges, self._judge_quality()) for finding in judge.findings.values()]
        notes = [note for note in notes if note.kind is Kind.NOTE]
        notes += [finding for judge in judges for finding in judge.withdrawn.values()]
        inferences = [inference for judge in judges for inference in judge.beneficiaries.inferences]
        gaps = [gap for judge in judges for gap in judge.open.values()]
        return Report(
            findings=tuple(sorted((f for f in findings if f.kind is not Kind.NOTE), key=_by_time)),
            notes=tuple(sorted(notes, key=_by_time)),
            preemptions=tuple(sorted(inferences, key=lambda inference: (inference.at, inference.victim))),
            unknown=tuple(sorted(gaps, key=lambda gap: (gap.at, gap.rule, gap.jobs))),
            coverage=coverage,
            answers=answers,
            settings=self._settings,
        )

    def _judge_quality(self) -> Judge:
        """Judge the events as such: those of all queues, and those that belong to none."""
        everything = Judge("")
        at = Span(min(self._first, self._latest), self._latest)
        everything.judge(Quality(at, self._flaws))
        for name, queue in self._queues.items():
            judge = Judge(name)
            judge.judge(Quality(at, queue.history.flaws))
            everything.findings.update({(rule, (name,)): note for (rule, _), note in judge.findings.items()})
        return everything

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
            self._first = min(self._first, item.at.lo)
            self._waiting.append(item)
            if isinstance(item, Observation):
                self._latest = max(self._latest, item.shown)
                if self._settings.delivery is Delivery.LOSSY:
                    self._take_implied(item)
            else:
                self._latest = max(self._latest, item.at.hi)
        self._fresh += 1
        jobs = sum(len(queue.history.jobs) for queue in self._queues.values())
        if self._fresh >= max(self._batch, jobs // 2):  # a snapshot costs as much as there are jobs
            self._fresh = 0
            self._advance(self._latest - self._lateness)
            self._seen.append(set())

    def _take_implied(self, item: Observation) -> None:
        """Take in the steps an event tells of, as far as they don't belong to what was judged already."""
        for step in implied(item):
            key = "implied", step.job, step.status, step.at
            if step.at.lo >= self._generations[-1].position and self._is_new(key):
                self._waiting.append(step)

    def _is_new(self, key: Hashable) -> bool:
        known = hash(key)  # a fraction of the memory; of a million events two are alike once in ten million audits
        if any(known in seen for seen in self._seen):
            return False
        self._seen[-1].add(known)
        return True

    def _advance(self, watermark: int, *, last: bool = False) -> None:
        """Let everything up to the watermark be judged, from as far back as the oldest new event asks."""
        items = self._admit(last)
        oldest = min((item.at.lo for item in items), default=watermark)
        judged, earlier = self._generations[-1].position, self._queues
        late = oldest < judged
        if late:
            items = self._go_back(oldest, items)
        self._generations[-1].items.extend(items)
        self._route(items)
        for name, queue in self._queues.items():
            for moment in queue.history.advance(watermark):
                queue.judge.judge(moment)
            if late:
                before = earlier[name].judge if name in earlier else Judge(name)
                queue.judge.revise(before, self._generations[-1].position, judged)
                if oldest < self._generations[0].position:
                    queue.judge.withdraw(oldest)
        if not last:
            self._generations.append(_Generation(watermark, take_snapshot(self._queues)))

    def _admit(self, last: bool) -> list[Item]:
        """Return what is to be judged now; preemptions of jobs nothing tells of yet go on waiting."""
        items, self._waiting = self._waiting, []
        described = {item.job for item in items if isinstance(item, Observation) and item.facts is not None}
        reach = self._generations[0].position
        admitted: list[Item] = []
        for item in items:
            known = not isinstance(item, Observation) or item.job in described or self._home(item.job) is not None
            (admitted if known or last or item.at.lo < reach else self._waiting).append(item)
        return admitted

    def _go_back(self, oldest: int, items: list[Item]) -> list[Item]:
        """Return to the last state before `oldest`, or to the first there is; return all that came in since."""
        while True:
            generation = self._generations[-1]
            items = generation.items + items
            generation.items = []
            if generation.position <= oldest or len(self._generations) == 1:
                break
            self._generations.pop()
        self._queues = restore(generation.snapshot)
        return items

    # -- which queue an item belongs to ---------------------------------------------------

    def _route(self, items: list[Item]) -> None:
        """Hand every item to its queue; preemption events and most calls only name a job."""
        jobs = [item for item in items if isinstance(item, Observation)]
        homes = {item.job: item.facts.queue or "" for item in jobs if item.facts is not None}
        for item in jobs:
            name = homes.get(item.job) or self._home(item.job) or ""  # the queue of jobs nothing else is known of
            self._queue(name).history.observe(item)
        for other in items:
            if isinstance(other, ApiCall):
                self._route_call(other, homes)
            elif isinstance(other, PolicyFound):
                for name in list(self._queues) if other.queue is None else [other.queue]:
                    self._queue(name).history.record_policy(other)

    def _route_call(self, call: ApiCall, homes: Mapping[str, str]) -> None:
        edit = edited_priority(call)
        about = queue_of(call) if edit is None else homes.get(edit[0]) or self._home(edit[0])
        names = list(self._queues) if about is None else [about]
        for name in names:
            self._queue(name).history.record_call(call)

    def _home(self, job: str) -> str | None:
        return next((name for name, queue in self._queues.items() if queue.history.knows(job)), None)

    def _queue(self, name: str) -> _Queue:
        queue = self._queues.get(name)
        if queue is None:
            history = QueueHistory(name, self._policy, self._settings)
            queue = self._queues[name] = _Queue(history, Judge(name))
        return queue


def _by_time(finding: Finding) -> tuple[object, ...]:
    return finding.at, finding.rule, finding.queue, finding.jobs


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
