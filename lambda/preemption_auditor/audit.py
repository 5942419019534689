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
from preemption_auditor.instants import SECOND
from preemption_auditor.judge import Judge
from preemption_auditor.observations import Observation, implied
from preemption_auditor.policy_timeline import PolicyTimeline
from preemption_auditor.queue_history import QueueHistory
from preemption_auditor.reading import PolicyFound, Skipped, identity, read_event, unwrap
from preemption_auditor.report import Report
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.snapshots import restore, take_snapshot

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from preemption_auditor.reading import Item
    from preemption_auditor.verdicts import Answer
    from quota_scheduler import QuotaPolicy

__all__ = ["Auditor", "audit"]

_BATCH = 20_000
"""Events between two steps of the watermark: a recording with fewer is put into order as a whole."""
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
    """

    def __init__(self, policy: QuotaPolicy | PolicyTimeline, settings: AuditSettings | None = None) -> None:
        self._policy = policy if isinstance(policy, PolicyTimeline) else PolicyTimeline.constant(policy)
        self._settings = settings or AuditSettings()
        self._lateness = round(self._settings.lateness * SECOND)
        self._coverage = Coverage()
        self._queues: dict[str, _Queue] = {}
        self._waiting: list[Item] = []
        self._generations = deque([_Generation(-_FOREVER, take_snapshot({}))], maxlen=_GENERATIONS)
        self._seen: deque[dict[Hashable, None]] = deque([{}], maxlen=_GENERATIONS)
        self._latest = -_FOREVER

    def feed(self, line: Mapping[str, Any] | str | bytes) -> None:
        """Take in one event or one line of a recording."""
        for event in unwrap(line):
            self._coverage.read += 1
            items = event if isinstance(event, Skipped) else read_event(event)
            if items is Skipped.UNREADABLE:
                self._coverage.unreadable += 1
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
        gaps = [gap for judge in judges for gap in judge.open.values()]
        return Report(
            findings=tuple(sorted(findings, key=lambda finding: (finding.at, finding.rule, finding.jobs))),
            unknown=tuple(sorted(gaps, key=lambda gap: (gap.at, gap.rule, gap.jobs))),
            coverage=coverage,
            answers=answers,
        )

    def _take(self, items: tuple[Item, ...]) -> None:
        """Take in what one event says."""
        new = [item for item in items if self._is_new(identity(item))]
        if items and not new:
            self._coverage.duplicate += 1
            return
        self._coverage.used += 1
        self._coverage.late += any(item.at.hi < self._latest - self._lateness for item in new)
        for item in new:
            self._waiting.append(item)
            if isinstance(item, Observation):
                self._latest = max(self._latest, item.shown)
                if self._settings.delivery is Delivery.LOSSY:
                    self._take_implied(item)
            else:
                self._latest = max(self._latest, item.at.hi)
        if len(self._waiting) >= _BATCH:
            self._advance(self._latest - self._lateness)
            self._seen.append({})

    def _take_implied(self, item: Observation) -> None:
        """Take in the steps an event tells of, as far as they don't belong to what was judged already."""
        for step in implied(item):
            key = "implied", step.job, step.status, step.at
            if step.at.lo >= self._generations[-1].position and self._is_new(key):
                self._waiting.append(step)

    def _is_new(self, key: Hashable) -> bool:
        if any(key in seen for seen in self._seen):
            return False
        self._seen[-1][key] = None
        return True

    def _advance(self, watermark: int, *, last: bool = False) -> None:
        """Let everything up to the watermark be judged, from as far back as the oldest new event asks."""
        items, self._waiting = self._waiting, []
        oldest = min((item.at.lo for item in items), default=watermark)
        earlier = {name: queue.judge.findings for name, queue in self._queues.items()}
        back = len(self._generations) > 1 and oldest < self._generations[-1].position
        while back and len(self._generations) > 1 and oldest < self._generations[-1].position:
            items = self._generations.pop().items + items
        if back:
            self._queues = restore(self._generations[-1].snapshot)
            items = self._generations[-1].items + items
            self._generations[-1].items = []
        self._generations[-1].items.extend(items)
        self._route(items)
        for name, queue in self._queues.items():
            for moment in queue.history.advance(watermark):
                queue.judge.judge(moment)
            if back:
                queue.judge.revise(earlier.get(name, {}))
        if not last:
            self._generations.append(_Generation(watermark, take_snapshot(self._queues)))

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
        if edit is not None:
            name = homes.get(edit[0], self._home(edit[0]))
            names = [name] if name is not None else []
        else:
            about = queue_of(call)
            names = list(self._queues) if about is None else [about]
        for name in names:
            self._queue(name).history.record_call(call)

    def _home(self, job: str) -> str | None:
        return next((name for name, queue in self._queues.items() if job in queue.history.jobs), None)

    def _queue(self, name: str) -> _Queue:
        queue = self._queues.get(name)
        if queue is None:
            history = QueueHistory(name, self._policy, self._settings)
            queue = self._queues[name] = _Queue(history, Judge(name))
        return queue


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
