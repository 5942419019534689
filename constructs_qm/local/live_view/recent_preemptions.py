"""The latest preemptions of every queue: from the events, with the scheduler's reasons beside them."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from constructs_qm.local.events import PREEMPTION_COMPLETED, PREEMPTION_STARTED, STATE_CHANGE, iso_time
from quota_scheduler import OutcomeKind

if TYPE_CHECKING:
    from constructs_qm.local.events import Event, EventLog
    from quota_scheduler import Decision

__all__ = ["RecentPreemptions"]

_KEPT = 20
"""Preemptions kept of each queue."""


class RecentPreemptions:
    """Follows a log; what it costs doesn't grow with what was read before."""

    def __init__(self) -> None:
        self._events = self._outcomes = 0
        self._decisions: dict[tuple[str, str], Decision] = {}
        self._jobs: dict[str, tuple[str, str, str]] = {}
        """Queue, name and share of each job, by its ARN."""
        self._kept: dict[str, deque[dict[str, Any]]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._going_on: dict[str, dict[str, Any]] = {}

    def follow(self, log: EventLog) -> None:
        """Take in what is new."""
        events = log.events[self._events :]
        for outcome in log.outcomes[self._outcomes :]:  # after the events: a decision comes before its event
            self._outcomes += 1
            if outcome.kind is OutcomeKind.PREEMPTING and outcome.decision is not None:
                self._decisions[outcome.job.id, iso_time(outcome.at)] = outcome.decision
        for event in events:
            self._events += 1
            self._take(event)

    def show(self, queue: str) -> list[dict[str, Any]]:
        """Return the latest preemptions of the queue with this ARN, latest first."""
        return list(reversed(self._kept[queue]))

    def _take(self, event: Event) -> None:
        kind, detail = event["detail-type"], event["detail"]
        if kind == STATE_CHANGE:
            self._jobs[detail["jobArn"]] = detail["jobQueue"], detail["jobName"], detail["quotaShareName"]
        elif kind == PREEMPTION_STARTED:
            self._start(detail["preemptedJobArn"], event["time"], detail["statusReason"])
        elif kind == PREEMPTION_COMPLETED:
            entry = self._going_on.pop(detail["preemptedJobArn"], None)
            if entry is not None:
                entry.update(stopped=event["time"], then=detail["status"])

    def _start(self, arn: str, time: str, shown: str) -> None:
        queue, name, share = self._jobs[arn]
        decision = self._decisions.pop((arn.rpartition("/")[2], time), None)
        entry = {
            "at": time,
            "job": arn.rpartition("/")[2],
            "name": name,
            "share": share,
            "kind": shown.partition(": ")[2].partition(" ")[0].lower(),
            "reason": "" if decision is None else decision.sentence(),
            "shown": shown,
            "for": None if decision is None else {"job": decision.job, "share": decision.share},
            "stopped": None,
            "then": None,
        }
        self._kept[queue].append(entry)
        self._going_on[arn] = entry
