"""The state of a queue as a plain document: written down, looked up, or made up for a dry run.

``{"environment", "shares", "jobs": [...]}``, the policy as in a policy file, and for each job
``job``, ``share``, ``demand``, and optionally ``state`` (default RUNNABLE), ``priority``,
``createdAt``, ``dispatchedAt`` (seconds) and ``preemptionRetries``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quota_scheduler.demand import make_demand
from quota_scheduler.exceptions import DocumentError, QuotaSchedulerError
from quota_scheduler.job import Job, JobState
from quota_scheduler.policy_document import dump_policy, load_policy, require_mapping
from quota_scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quota_scheduler.assumptions import Assumptions

__all__ = ["dump_state", "job_from_document", "load_state"]

_JOB_KEYS = {"job", "share", "demand", "state", "priority", "createdAt", "dispatchedAt", "preemptionRetries"}
_STATES = {state.value: state for state in JobState if state.holds or state is JobState.RUNNABLE}


def load_state(document: object, assumptions: Assumptions | None = None) -> tuple[Scheduler, float]:
    """Make a scheduler that stands where a document says, before any pass.

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
    scheduler = Scheduler(load_policy(mapping), assumptions=assumptions)
    jobs = mapping.get("jobs", [])
    if not isinstance(jobs, list):
        raise DocumentError("state.jobs is no list: give one entry for each job")
    entries = [require_mapping(entry, f"jobs[{index}]") for index, entry in enumerate(jobs)]
    entries.sort(key=lambda entry: (_time(entry, "createdAt"), str(entry.get("job"))))
    for entry in sorted(entries, key=lambda entry: _time(entry, "dispatchedAt")):
        if entry.get("state", "RUNNABLE") != "RUNNABLE":
            _place(scheduler, entry)
    for entry in entries:
        if entry.get("state", "RUNNABLE") == "RUNNABLE":
            scheduler.submit(job_from_document(entry), _time(entry, "createdAt"))
    times = [_time(entry, key) for entry in entries for key in ("createdAt", "dispatchedAt")]
    return scheduler, max(times, default=0.0)


def dump_state(scheduler: Scheduler) -> dict[str, Any]:
    """Return the document :func:`load_state` makes such a scheduler from."""
    return {**dump_policy(scheduler.policy), "jobs": [_dump_job(job) for job in scheduler.jobs.values()]}


def job_from_document(entry: Mapping[str, Any]) -> Job:
    """Make a job that was not submitted yet; raises DocumentError naming the job."""
    name = entry.get("job")
    unknown = sorted(set(entry) - _JOB_KEYS)
    if not isinstance(name, str) or not name or unknown:
        what = f"has unknown key {unknown[0]!r}" if unknown else f"is called {name!r}"
        raise DocumentError(f"a job {what}: give {', '.join(sorted(_JOB_KEYS))}")
    try:
        demand = make_demand(entry.get("demand"))
    except QuotaSchedulerError as error:
        raise DocumentError(f"job {name}: {error}") from None
    return Job(
        id=name,
        share=str(entry.get("share", "")),
        demand=demand,
        priority=entry.get("priority"),
        created=_time(entry, "createdAt"),
        preemption_retries=entry.get("preemptionRetries"),
    )


def _place(scheduler: Scheduler, entry: Mapping[str, Any]) -> None:
    state = _STATES.get(str(entry["state"]))
    if state is None:
        raise DocumentError(f"job {entry.get('job')}: state is {entry['state']!r}: use one of {', '.join(_STATES)}")
    job = job_from_document(entry)
    scheduler.place(job, _time(entry, "dispatchedAt"))
    scheduler.progress(job.id, state, job.dispatched_at)


def _time(entry: Mapping[str, Any], key: str) -> float:
    value = entry.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
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
    return document
