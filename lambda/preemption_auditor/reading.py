"""From recorded events, as objects or JSON text, to what the auditor understands."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from preemption_auditor.api_calls import API_CALL, ApiCall, read_api_call
from preemption_auditor.instants import SECOND, Span, parse_time
from preemption_auditor.observations import EventKind, Observation, job_id_of, read_job_event
from quota_scheduler import QuotaPolicy, QuotaSchedulerError, load_policy

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["LOOK_UPS", "Item", "PolicyFound", "Skipped", "identity", "only_events", "read_event", "unwrap"]

LOOK_UPS = "constructs-qm.auditor"
"""Source of what look-ups found, in a recording beside the events."""

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")
_KINDS = {kind.value: kind for kind in (EventKind.STATE, EventKind.STARTED, EventKind.COMPLETED, EventKind.BLOCKED)}


@dataclass(frozen=True, slots=True)
class PolicyFound:
    """The policy a queue really has, as a look-up found it.

    Attributes
    ----------
    queue : str or None
    at : Span
    event : str
        Id of the look-up.
    policy : QuotaPolicy
    paused : bool or None
        Whether its service environment, or the queue itself, is DISABLED; None where it wasn't told.
    environments : tuple of str
        Names of its service environments, where they were told.
    """

    queue: str | None
    at: Span
    event: str
    policy: QuotaPolicy
    paused: bool | None = None
    environments: tuple[str, ...] = ()


Item: TypeAlias = Observation | ApiCall | PolicyFound


class Skipped(Enum):
    """Why an event isn't used."""

    UNREADABLE = "unreadable"
    """No JSON object, no time, or no job named where one must be."""
    IGNORED = "ignored"
    """Of another source, of an unknown kind, or a call that changes nothing."""


def unwrap(line: Mapping[str, Any] | str | bytes) -> Iterator[Mapping[str, Any] | Skipped]:
    """Yield the events in one line of a recording.

    Besides an event itself these are understood: a CloudWatch Logs record whose ``message`` is
    the event, a list of either under ``events`` or ``logEvents``, the lines of a log export,
    which begin with a time, and several objects with nothing between them, as Firehose writes them.
    """
    left: list[object] = [line]
    while left:
        item = left.pop()
        if isinstance(item, (str, bytes)):
            try:
                left += reversed(_documents(item.decode() if isinstance(item, bytes) else item))
            except (ValueError, RecursionError):
                yield Skipped.UNREADABLE
        elif not isinstance(item, Mapping):
            yield Skipped.UNREADABLE
        elif "detail" in item:
            yield item
        elif isinstance(message := item.get("message"), (Mapping, str)):
            left.append(message)
        elif isinstance(records := item.get("events", item.get("logEvents")), list):
            left += reversed(records)
        else:
            yield Skipped.UNREADABLE


def _documents(text: str) -> list[object]:
    """Return the JSON objects in a text, from its first brace on; raise ValueError where one can't be read."""
    documents, at = [], text.index("{")
    while True:
        document, at = _DECODER.raw_decode(text, at)
        documents.append(document)
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return documents


def read_event(event: Mapping[str, Any]) -> tuple[Item, ...] | Skipped:
    """Read one event; whatever is in it, this doesn't raise.

    Besides EventBridge's events there are three kinds of look-ups, whose source is
    ``constructs-qm.auditor``: ``Service Job Look-up`` and ``Job Queue Look-up``, whose details are
    what DescribeServiceJob answers and a list ``jobs`` of what ListServiceJobs does, and ``Quota
    Policy Look-up``, whose detail is a policy document, with ``paused`` (whether the service environment
    or the queue is DISABLED) and ``serviceEnvironments``. Both of the latter name the ``jobQueue``.
    """
    detail, time, event_id = event.get("detail"), parse_time(event.get("time")), event.get("id")
    if not isinstance(detail, dict) or time is None:
        return Skipped.UNREADABLE
    name = event_id if isinstance(event_id, str) else ""
    kind, source = str(event.get("detail-type")), event.get("source")
    if source == LOOK_UPS:
        return _read_look_up(kind, name, time, detail)
    if kind == API_CALL:
        call = read_api_call(name, time - time % SECOND, detail)
        return Skipped.IGNORED if call is None else (call,)
    if kind not in _KINDS or source != "aws.batch":
        return Skipped.IGNORED
    observation = read_job_event(_KINDS[kind], name, time, detail)
    return Skipped.UNREADABLE if observation is None else (observation,)


def _read_look_up(kind: str, name: str, time: int, detail: Mapping[str, Any]) -> tuple[Item, ...] | Skipped:
    queue = job_id_of(detail.get("jobQueue"))
    if kind == "Quota Policy Look-up":
        try:
            policy = load_policy(detail, as_deployed=True)
        except QuotaSchedulerError:
            return Skipped.UNREADABLE
        paused, names = detail.get("paused"), detail.get("serviceEnvironments")
        environments = tuple(entry for entry in names if isinstance(entry, str)) if isinstance(names, list) else ()
        known = paused if isinstance(paused, bool) else None
        return (PolicyFound(queue, Span(time, time), name, policy, known, environments),)
    jobs = detail.get("jobs") if kind == "Job Queue Look-up" else [detail]
    if kind not in ("Job Queue Look-up", EventKind.LOOKED_UP.value) or not isinstance(jobs, list):
        return Skipped.IGNORED
    named = [{"jobQueue": queue, **job} for job in jobs if isinstance(job, Mapping)]
    found = (read_job_event(EventKind.LOOKED_UP, name, time, job) for job in named)
    return tuple(observation for observation in found if observation is not None)


def only_events(lines: Iterable[Mapping[str, Any] | str | bytes], ids: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the events of a recording whose id is one of `ids`: what a finding's witness replays.

    Parameters
    ----------
    lines : iterable of mapping, str or bytes
        As :func:`~preemption_auditor.audit` takes them.
    ids : collection of str
        Ids of events, such as a finding's ``events``.
    """
    for line in lines:
        for event in unwrap(line):
            if not isinstance(event, Skipped) and event.get("id") in ids:
                yield event


def identity(item: Item) -> Hashable:
    """Return what two deliveries of one event have in common: job, attempt, status and time, not the event's id."""
    if isinstance(item, PolicyFound):
        return item.queue, item.at
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
