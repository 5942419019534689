"""What one event of a service job says: the job's state at a moment, and facts about the job.

Field names are those of DescribeServiceJob (botocore's ``batch`` model). A field that is
missing or has an unexpected form is left out: what isn't known is a gap, never an error.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from preemption_auditor.instants import SECOND, Span
from quota_scheduler import JobState, PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from quota_scheduler import Demand

__all__ = ["EventKind", "Facts", "Observation", "implied", "job_id_of", "kind_of_reason", "read_job_event"]

_SHARPEN = 60 * SECOND
"""How far before its event a moment in the detail may lie and still be the transition's own."""


class EventKind(str, Enum):
    """The service job events of the guide, by their ``detail-type``."""

    STATE = "Batch Service Job State Change"
    STARTED = "Batch Service Job Preemption Started"
    COMPLETED = "Batch Service Job Preemption Completed"
    BLOCKED = "Batch Service Job Queue Blocked"
    LOOKED_UP = "Service Job Look-up"
    """Not of the guide: what DescribeServiceJob or ListServiceJobs answered, in a recording beside the events."""
    IMPLIED = "implied"
    """A step that no event shows, but a later one tells the time of."""


class Facts(NamedTuple):
    """What a job is, as far as an event tells.

    Attributes
    ----------
    queue, share : str or None
        Name of its queue and of its quota share.
    demand : Demand or None
        Instances per unit, from ``capacityUsage``.
    priority : int or None
        ``schedulingPriority`` at the time of the event.
    created : int or None
        Milliseconds.
    retries : int or None
        ``preemptionRetriesBeforeTermination``; None is without limit.
    attempts : int
        How often its retry strategy lets it become RUNNABLE.
    """

    queue: str | None
    share: str | None
    demand: Demand | None
    priority: int | None
    created: int | None
    retries: int | None
    attempts: int


class Observation(NamedTuple):
    """One event of a job.

    Attributes
    ----------
    kind : EventKind
    job : str
        Id from the job's ARN.
    at : Span
        When the job came into `status`, or when its preemption started.
    shown : int
        End of the second the event is stamped with, in milliseconds.
    status : JobState or None
        None where the event doesn't say.
    event : str
        Its id.
    facts : Facts or None
        None for preemption events, which carry none.
    attempt : tuple of int
        Preemptions so far and attempts ended so far, as the event counts them; -1 where it doesn't.
    dispatched : int or None
        ``scheduledAt`` in milliseconds.
    stopped : int or None
        End of the latest attempt that has ended, in milliseconds.
    resource : str or None
        ARN of the latest training job: what tells one attempt from another.
    terminated : bool
        ``isTerminated``.
    reason : str
        ``statusReason``, or empty.
    """

    kind: EventKind
    job: str
    at: Span
    shown: int
    status: JobState | None
    event: str
    facts: Facts | None
    attempt: tuple[int, int]
    dispatched: int | None
    stopped: int | None
    resource: str | None
    terminated: bool
    reason: str


def job_id_of(arn: object) -> str | None:
    """Return the job's id from its ARN or, where the text is no ARN, the text itself."""
    if not isinstance(arn, str) or not arn:
        return None
    return arn.rsplit("/", 1)[-1] or None


def kind_of_reason(reason: str) -> PreemptionKind | None:
    """Return the kind of preemption a status reason speaks of, or None where it doesn't say.

    Only the cross-share text is published (batch-service-job-preemption-events); the other is
    recognised by the same form, and any other text means either kind.
    """
    text = reason.removeprefix("PREEMPTION_IN_PROGRESS:").strip().lower()
    if text.startswith("cross-share"):
        return PreemptionKind.CROSS_SHARE
    return PreemptionKind.IN_SHARE if text.startswith("in-share") else None


def read_job_event(kind: EventKind, event_id: str, time: int, detail: Mapping[str, Any]) -> Observation | None:
    """Read the event of a service job.

    Parameters
    ----------
    kind : EventKind
    event_id : str
    time : int
        Of the event, in milliseconds; only look-ups have them exactly.
    detail : mapping

    Returns
    -------
    Observation or None
        None where it doesn't name a job.
    """
    preemption = kind in (EventKind.STARTED, EventKind.COMPLETED)
    job = job_id_of(detail.get("preemptedJobArn") if preemption else detail.get("jobArn"))
    job = job or job_id_of(detail.get("jobId"))
    if job is None:
        return None
    status = _status(detail.get("status"))
    second = Span(time, time) if kind is EventKind.LOOKED_UP else Span.of_second(time - time % SECOND)
    summary = _mapping(detail.get("preemptionSummary"))
    ends = _ends(detail, summary)
    latest = _mapping(_mapping(detail.get("latestAttempt")).get("serviceResourceId")).get("value")
    reason = detail.get("statusReason")
    return Observation(
        kind=kind,
        job=job,
        at=second if kind is EventKind.STARTED else _sharpen(kind, status, second, detail, ends),
        shown=second.hi,
        status=status,
        event=event_id,
        facts=None if preemption else _facts(detail),
        attempt=_attempt(detail, summary),
        dispatched=whole(detail.get("scheduledAt")),
        stopped=max(ends, default=None),
        resource=latest if isinstance(latest, str) else None,
        terminated=detail.get("isTerminated") is True,
        reason=reason if isinstance(reason, str) else "",
    )


def implied(observation: Observation) -> Iterator[Observation]:
    """Yield the steps an observation tells the time of: waiting, an attempt's end, a dispatch."""
    facts, status, dispatched, stopped = (
        observation.facts,
        observation.status,
        observation.dispatched,
        observation.stopped,
    )
    if facts is None or status is None:
        return
    if facts.created is not None:
        yield _step(observation, JobState.RUNNABLE, facts.created, None)
    ended = stopped is not None and dispatched is not None and stopped >= dispatched
    held = status.holds or status is JobState.SUCCEEDED or (ended and status.final)
    if stopped is not None and (status is JobState.RUNNABLE or (dispatched is not None and stopped < dispatched)):
        yield _step(observation, JobState.RUNNABLE, stopped, None)
    shown = observation.kind is EventKind.STATE and status is JobState.SCHEDULED
    if dispatched is not None and held and not shown:
        yield _step(observation, JobState.SCHEDULED, dispatched, dispatched)


def _step(source: Observation, status: JobState, at: int, dispatched: int | None) -> Observation:
    return source._replace(
        kind=EventKind.IMPLIED,
        status=status,
        at=Span(at, at),
        attempt=(-1, -1),
        dispatched=dispatched,
        stopped=None,
        resource=None,
    )


def whole(value: object) -> int | None:
    """Return a JSON number that is a whole number of at least 0, else None."""
    if type(value) is int:
        return value if 0 <= value < 10**16 else None
    if isinstance(value, float) and 0 <= value < 1e16 and value == int(value):
        return int(value)
    return None


def _status(text: object) -> JobState | None:
    if text == "PENDING":  # between SUBMITTED and RUNNABLE, and as SUBMITTED to everything here
        return JobState.SUBMITTED
    try:
        return JobState(str(text))
    except ValueError:
        return None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _facts(detail: Mapping[str, Any]) -> Facts:
    share, queue = detail.get("quotaShareName"), detail.get("jobQueue")
    attempts = whole(_mapping(detail.get("retryStrategy")).get("attempts"))
    return Facts(
        queue=job_id_of(queue),
        share=share if isinstance(share, str) and share else None,
        demand=_demand(detail.get("capacityUsage")),
        priority=whole(detail.get("schedulingPriority")),
        created=whole(detail.get("createdAt")),
        retries=whole(_mapping(detail.get("preemptionConfiguration")).get("preemptionRetriesBeforeTermination")),
        attempts=attempts or 1,
    )


def _demand(usage: object) -> Demand | None:
    """Return the demand, or None unless every entry can be read."""
    instances: dict[str, int] = {}
    for entry in usage if isinstance(usage, list) else ():
        unit = _mapping(entry).get("capacityUnit")
        count = whole(_mapping(entry).get("quantity"))
        if not isinstance(unit, str) or not count:
            return None
        instances[unit] = instances.get(unit, 0) + count
    return tuple(sorted(instances.items())) or None


def _attempt(detail: Mapping[str, Any], summary: Mapping[str, Any]) -> tuple[int, int]:
    preempted = whole(summary.get("preemptedAttemptCount"))
    ended = sum("stoppedAt" in attempt for attempt in _items(detail.get("attempts")))
    known = isinstance(detail.get("attempts"), list)
    return (-1 if preempted is None else preempted, ended if known else -1)


def _sharpen(
    kind: EventKind, status: JobState | None, second: Span, detail: Mapping[str, Any], ends: list[int]
) -> Span:
    """Return when the job came into `status`, as closely as the detail's milliseconds tell."""
    stopped, dispatched = whole(detail.get("stoppedAt")), whole(detail.get("scheduledAt"))
    final = status is not None and status.final
    if kind is EventKind.LOOKED_UP:
        return Span(stopped, stopped) if final and stopped is not None else second
    scheduled = kind is EventKind.STATE and status is JobState.SCHEDULED
    if scheduled and dispatched is not None and _near(dispatched, second):
        return Span(dispatched, dispatched)
    created, started = whole(detail.get("createdAt")), whole(detail.get("startedAt"))
    came: list[int | None] = []
    if kind is EventKind.BLOCKED:
        pass  # it was seen so, and didn't come into it
    elif status is JobState.RUNNING:
        came = [started]
    elif status is JobState.RUNNABLE:
        first_time = not ends and "latestAttempt" not in detail and dispatched is None
        came = [created] if first_time else [at for at in ends if at > (dispatched or 0)]
    elif final:
        came = [stopped, *ends]
    lo = max((at for at in came if at is not None and _near(at, second)), default=second.lo)
    # whatever the detail tells of had happened by then
    past = (created, dispatched, started, stopped, *ends)
    return Span(max([lo, *(at for at in past if at is not None and second.lo <= at <= second.hi)]), second.hi)


def _ends(detail: Mapping[str, Any], summary: Mapping[str, Any]) -> list[int]:
    """Return when attempts ended, as far as the detail tells."""
    ended = _items(detail.get("attempts")) + _items(summary.get("recentPreemptedAttempts"))
    ends = (whole(attempt.get("stoppedAt")) for attempt in ended)
    return [at for at in ends if at is not None]


def _near(at: int, second: Span) -> bool:
    return second.lo - _SHARPEN <= at <= second.hi
