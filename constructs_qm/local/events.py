"""EventBridge events as AWS Batch sends them (batch-service-job-events and the pages beside it)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from quota_scheduler import Outcome


__all__ = [
    "API_CALL",
    "PREEMPTION_COMPLETED",
    "PREEMPTION_STARTED",
    "QUEUE_BLOCKED",
    "STATE_CHANGE",
    "Event",
    "EventLog",
    "iso_time",
    "milliseconds",
]

Event: TypeAlias = dict[str, Any]

STATE_CHANGE = "Batch Service Job State Change"
PREEMPTION_STARTED = "Batch Service Job Preemption Started"
PREEMPTION_COMPLETED = "Batch Service Job Preemption Completed"
QUEUE_BLOCKED = "Batch Service Job Queue Blocked"
API_CALL = "AWS API Call via CloudTrail"


def iso_time(seconds: float) -> str:
    """Return a time as events and CloudTrail write it: UTC, in whole seconds."""
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def milliseconds(seconds: float) -> int:
    """Return a time as Batch's own fields have it."""
    return round(seconds * 1000)


class EventLog:
    """Every event so far, in order, and whoever wants the next ones.

    Attributes
    ----------
    events : list of dict
        EventBridge envelopes, as they were sent.
    outcomes : list of Outcome
        What the schedulers did, with the reasons that no event carries.
    delivered : list of dict
        The same as they arrived: without faults, the same in the same order.
    sinks : list of callable
        Called with every event that arrives, in order, outside the endpoint's lock.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.delivered: list[Event] = []
        self.sinks: list[Callable[[Event], None]] = []
        self._sent = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sinks": []}

    def add(self, event: Event) -> None:
        """Record an event."""
        self.events.append(event)

    def take_unsent(self) -> Event | None:
        """Return the first event that isn't on its way yet and count it as sent; None after the last."""
        if self._sent == len(self.events):
            return None
        self._sent += 1
        return self.events[self._sent - 1]

    def arrive(self, event: Event) -> None:
        """Let an event arrive."""
        self.delivered.append(event)
        for sink in self.sinks:
            sink(event)
