"""The state of a queue as a plain document: written down, looked up, or made up for a dry run.

``{"environment", "shares", "paused", "jobs": [...]}``, the policy as in a policy file. ``paused``
(default false) says that the service environment is DISABLED. Each job has ``job``, ``share`` and
``demand``, and optionally ``state`` (default RUNNABLE), ``priority``, ``createdAt``,
``dispatchedAt`` (seconds), ``preemptionRetries``, and what AWS Batch shows of it: ``name``,
``statusReason`` and ``preemptions``, a list of ``{"at", "reason"}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quota_scheduler.demand import make_demand
from quota_scheduler.exceptions import DocumentError, QuotaSchedulerError
from quota_scheduler.job import Job
from quota_scheduler.job_state import JobState, PreemptionKind
from quota_scheduler.policy_document import dump_policy, load_policy, require_mapping
from quota_scheduler.scheduler import Scheduler
from quota_scheduler.value_rules import check_priority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quota_scheduler.assumptions import Assumptions

__all__ = ["PREEMPTION_IN_PROGRESS", "dump_state", "find_job", "job_from_document", "load_state"]

PREEMPTION_IN_PROGRESS = "PREEMPTION_IN_PROGRESS"
"""What the status reason of a job that is being preempted begins with (facts.md, Events)."""

_LACKS_CAPACITY = "CAPACITY:"
_JOB_KEYS = {
    *("job", "share", "demand", "state", "priority", "createdAt", "dispatchedAt", "preemptionRetries"),
    *("name", "statusReason", "preemptions"),
}
_STATES = (*(state.value for state in JobState), "PENDING")
_NEVER = float("inf")


def load_state(document: object, assumptions: Assumptions | None = None) -> tuple[Scheduler, float]:
    """Make a scheduler that stands where a document says, before any pass.

    Jobs that are SUBMITTED, PENDING or have ended aren't in the queue, and are left out.

    Returns
    -------
    Scheduler
    float
        The latest time the document names, in seconds: now.

    Raises
    ------
    DocumentError, PolicyError
    """
    mapping = require_mapping(document, "state")
    scheduler = Scheduler(load_policy(mapping, as_deployed=True), assumptions=assumptions)
    entries = _entries(mapping)
    entries.sort(key=lambda entry: (_time(entry, "createdAt"), str(entry.get("job"))))
    now = max((_time(entry, key) for entry in entries for key in ("createdAt", "dispatchedAt")), default=0.0)
    waiting = [entry for entry in entries if _state(entry) == "RUNNABLE"]
    holding = [entry for entry in entries if _state(entry) in ("SCHEDULED", "STARTING", "RUNNING")]
    try:
        for entry in sorted(holding, key=lambda entry: _time(entry, "dispatchedAt")):
            _place(scheduler, entry, now)
        for entry in waiting:
            _queue(scheduler, entry)
    except QuotaSchedulerError as error:
        raise DocumentError(f"state: {error}") from None
    paused = mapping.get("paused", False)
    if not isinstance(paused, bool):
        raise DocumentError(f"state.paused is {paused!r}: use true or false")
    scheduler.paused = paused
    return scheduler, now


def dump_state(scheduler: Scheduler) -> dict[str, Any]:
    """Return the document :func:`load_state` makes such a scheduler from."""
    document = {**dump_policy(scheduler.policy), "jobs": [_dump_job(job) for job in scheduler.jobs.values()]}
    return {**document, "paused": True} if scheduler.paused else document


def find_job(document: object, job: str) -> Mapping[str, Any]:
    """Return the entry of a job, by id or by a name that only one job has.

    Raises
    ------
    DocumentError
        There is none, or several jobs have that name.
    """
    entries = _entries(require_mapping(document, "state"))
    found = [entry for entry in entries if entry.get("job") == job]
    found = found or [entry for entry in entries if entry.get("name") == job]
    if len(found) == 1:
        return found[0]
    if found:
        raise DocumentError(f"{len(found)} jobs are called {job!r}: name one by its id, such as {found[0].get('job')}")
    raise DocumentError(f"job {job!r} is not in the queue: name one by its id")


def job_from_document(entry: Mapping[str, Any]) -> Job:
    """Make a job that was not submitted yet; raises DocumentError naming the job."""
    name = entry.get("job")
    unknown = sorted(set(entry) - _JOB_KEYS)
    if not isinstance(name, str) or not name or unknown:
        what = f"has unknown key {unknown[0]!r}" if unknown else f"is called {name!r}"
        raise DocumentError(f"a job {what}: give {', '.join(sorted(_JOB_KEYS))}")
    retries = entry.get("preemptionRetries")
    if retries is not None and (isinstance(retries, bool) or not isinstance(retries, int) or retries < 0):
        raise DocumentError(f"job {name}: preemptionRetries is {retries!r}: use a whole number of 0 or more")
    priority = entry.get("priority")
    for problem in () if priority is None else check_priority(priority):
        raise DocumentError(f"job {name}: {problem}")
    try:
        demand = make_demand(entry.get("demand"))
    except QuotaSchedulerError as error:
        raise DocumentError(f"job {name}: {error}") from None
    return Job(
        id=name,
        share=str(entry.get("share", "")),
        demand=demand,
        priority=priority,
        created=_time(entry, "createdAt"),
        preemption_retries=retries,
    )


def _entries(mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    jobs = mapping.get("jobs", [])
    if not isinstance(jobs, list):
        raise DocumentError("state.jobs is no list: give one entry for each job")
    return [require_mapping(entry, f"jobs[{index}]") for index, entry in enumerate(jobs)]


def _state(entry: Mapping[str, Any]) -> str:
    state = entry.get("state", "RUNNABLE")
    if state not in _STATES:
        raise DocumentError(f"job {entry.get('job')}: state is {state!r}: use one of {', '.join(_STATES)}")
    return str(state)


def _place(scheduler: Scheduler, entry: Mapping[str, Any], now: float) -> None:
    job = job_from_document(entry)
    scheduler.place(job, _time(entry, "dispatchedAt"))
    scheduler.progress(job.id, JobState(entry["state"]), job.dispatched_at)
    reason = str(entry.get("statusReason", ""))
    if reason.startswith(PREEMPTION_IN_PROGRESS):
        kind = PreemptionKind.IN_SHARE if "in-share" in reason.lower() else PreemptionKind.CROSS_SHARE
        scheduler.note_preemption(job.id, kind, now)


def _queue(scheduler: Scheduler, entry: Mapping[str, Any]) -> None:
    job = job_from_document(entry)
    if str(entry.get("statusReason", "")).startswith(_LACKS_CAPACITY):
        scheduler.place(job, job.created)
        scheduler.lack_capacity(job.id, job.created, retry_at=_NEVER)
    else:
        scheduler.submit(job, job.created, accepted=True)


def _time(entry: Mapping[str, Any], key: str) -> float:
    value = entry.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _NEVER:
        raise DocumentError(f"job {entry.get('job')}: {key} is {value!r}: use a number of seconds")
    return float(value)


def _dump_job(job: Job) -> dict[str, Any]:
    document = {
        "job": job.id,
        "share": job.share,
        "demand": dict(job.demand),
        "state": job.state.value,
        "priority": job.rank,
        "createdAt": job.created,
    }
    if job.state.holds:
        document["dispatchedAt"] = job.dispatched_at
    if job.preemption_retries is not None:
        document["preemptionRetries"] = job.preemption_retries
    if job.stopping is not None:
        document["statusReason"] = f"{PREEMPTION_IN_PROGRESS}: {job.stopping.value}"
    elif job.blocked is not None:
        document["statusReason"] = job.blocked
    return document
