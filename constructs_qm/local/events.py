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
        EventBridge envelopes.
    outcomes : list of Outcome
        What the schedulers did, with the reasons that no event carries.
    sinks : list of callable
        Called with every event from now on, in order, outside the endpoint's lock.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.sinks: list[Callable[[Event], None]] = []
        self._delivered = 0

    def add(self, event: Event) -> None:
        """Record an event."""
        self.events.append(event)

    @property
    def undelivered(self) -> bool:
        """Whether there are events no sink has seen yet."""
        return self._delivered < len(self.events)

    def take_undelivered(self) -> Event | None:
        """Return the first event no sink has seen yet and count it as delivered; None after the last."""
        if not self.undelivered:
            return None
        self._delivered += 1
        return self.events[self._delivered - 1]
