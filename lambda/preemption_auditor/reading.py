"""From recorded events, as objects or JSON text, to what the auditor understands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from preemption_auditor.api_calls import API_CALL, ApiCall, read_api_call
from preemption_auditor.instants import SECOND, parse_time
from preemption_auditor.observations import EventKind, Observation, read_job_event

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["Item", "Skipped", "identity", "read_event", "unwrap"]

Item: TypeAlias = Observation | ApiCall

_KINDS = {kind.value: kind for kind in EventKind}


class Skipped(Enum):
    """Why an event isn't used."""

    UNREADABLE = "unreadable"
    """No JSON object, no time, or no job named where one must be."""
    IGNORED = "ignored"
    """Of another source, of an unknown kind, or a call that changes nothing."""


def unwrap(line: Mapping[str, Any] | str | bytes) -> Iterator[Mapping[str, Any] | Skipped]:
    """Yield the events in one line of a recording.

    Besides an event itself these are understood: a CloudWatch Logs record whose ``message`` is
    the event, a list of either under ``events`` or ``logEvents``, and the lines of a log export,
    which begin with a time.
    """
    document: object = line
    if isinstance(line, (str, bytes)):
        try:
            text = line.decode() if isinstance(line, bytes) else line
            document = json.loads(text if text.lstrip().startswith("{") else text[text.index("{") :])
        except (ValueError, RecursionError):
            yield Skipped.UNREADABLE
            return
    if not isinstance(document, Mapping):
        yield Skipped.UNREADABLE
    elif "detail" in document:
        yield document
    elif isinstance(document.get("message"), str):
        yield from unwrap(document["message"])
    elif isinstance(records := document.get("events", document.get("logEvents")), list):
        for record in records:
            yield from unwrap(record) if isinstance(record, (Mapping, str)) else [Skipped.UNREADABLE]
    else:
        yield Skipped.UNREADABLE


def read_event(event: Mapping[str, Any]) -> Item | Skipped:
    """Read one EventBridge event; whatever is in it, this doesn't raise."""
    detail, time, event_id = event.get("detail"), parse_time(event.get("time")), event.get("id")
    if not isinstance(detail, Mapping) or time is None:
        return Skipped.UNREADABLE
    name = event_id if isinstance(event_id, str) else ""
    time -= time % SECOND
    if event.get("detail-type") == API_CALL:
        return read_api_call(name, time, detail) or Skipped.IGNORED
    kind = _KINDS.get(str(event.get("detail-type")))
    if kind is None or event.get("source") != "aws.batch":
        return Skipped.IGNORED
    return read_job_event(kind, name, time, detail) or Skipped.UNREADABLE


def identity(item: Item) -> Hashable:
    """Return what two deliveries of one event have in common: job, attempt, status and time, not the event's id."""
    if isinstance(item, ApiCall):
        return item.name, item.at, json.dumps(item.request, sort_keys=True, default=str)
    return (
        item.job,
        item.kind,
        item.status,
        item.at,
        item.shown,
        item.attempt,
        item.dispatched,
        item.resource,
        item.reason,
    )
