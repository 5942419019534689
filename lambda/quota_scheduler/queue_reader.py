"""Looking up a live queue through the AWS Batch API: the reader takes the client, so that it needs no boto3.

Field names are those of botocore's ``batch`` service model. A queue goes on while it is looked up: jobs
are listed in the order of their lives, so that one that moves on is seen twice rather than not at all, and
what DescribeServiceJob says of it counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quota_scheduler.demand import demand_from_payload
from quota_scheduler.exceptions import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["read_job", "read_queue"]

_IN_QUEUE = ("RUNNABLE", "SCHEDULED", "STARTING", "RUNNING")


def read_queue(
    batch: Any, queue: str, *, run: Callable[[Callable[[str], dict[str, Any]], Iterable[str]], Iterable[Any]] = map
) -> dict[str, Any]:
    """Return a queue with its shares and jobs as a document for :func:`quota_scheduler.recorded_state.load_state`.

    It takes a call for every 100 jobs, and one for each job, since only DescribeServiceJob tells priorities.

    Parameters
    ----------
    batch : object
        A client such as ``boto3.client("batch")``.
    queue : str
        Name or ARN.
    run : callable, optional
        Like ``map``; that of a thread pool describes several jobs at once.

    Raises
    ------
    DocumentError
        There is no such queue, or it has no quota shares or not exactly one service environment.
    """
    described = batch.describe_job_queues(jobQueues=[queue])["jobQueues"]
    if not described:
        raise DocumentError(f"job queue {queue!r} does not exist: give its name or ARN")
    environment = _environment(batch, described[0])
    shares = [_share(share) for share in _pages(batch, "list_quota_shares", "quotaShares", jobQueue=queue)]
    if not shares:
        raise DocumentError(f"job queue {queue!r} has no quota shares: name a queue with quota management")
    jobs = run(lambda job_id: read_job(batch, job_id), _job_ids(batch, queue))
    return {
        "environment": _limits(environment["capacityLimits"]),
        "paused": environment.get("state") == "DISABLED",
        "shares": shares,
        "jobs": [job for job in jobs if job["state"] in _IN_QUEUE],
    }


def read_job(batch: Any, job_id: str) -> dict[str, Any]:
    """Return a job, whatever its state, as an entry of such a document.

    Parameters
    ----------
    batch : object
        A client such as ``boto3.client("batch")``.
    job_id : str
        Id or ARN.

    Raises
    ------
    PayloadError
        Neither the service nor the job's payload tells what capacity it needs.
    """
    job = batch.describe_service_job(jobId=job_id)
    document = {
        "job": job["jobId"],
        "name": job["jobName"],
        "share": job.get("quotaShareName", ""),
        "demand": _demand(job),
        "state": job["status"],
        "priority": job.get("schedulingPriority"),
        "createdAt": _seconds(job.get("createdAt")),
        "dispatchedAt": _seconds(job.get("scheduledAt")),
        "statusReason": job.get("statusReason"),
        "preemptionRetries": job.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination"),
        "preemptions": [
            {"at": _seconds(attempt.get("stoppedAt")), "reason": attempt.get("statusReason", "")}
            for attempt in job.get("preemptionSummary", {}).get("recentPreemptedAttempts", ())
        ],
    }
    return {key: value for key, value in document.items() if value is not None and value != []}


def _environment(batch: Any, queue: dict[str, Any]) -> dict[str, Any]:
    arns = [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder", ())]
    found = batch.describe_service_environments(serviceEnvironments=arns)["serviceEnvironments"] if arns else []
    if len(found) != 1:
        name = queue["jobQueueName"]
        raise DocumentError(f"job queue {name!r} has {len(found)} service environments: quota management takes one")
    environment: dict[str, Any] = found[0]
    return environment


def _share(share: dict[str, Any]) -> dict[str, Any]:
    sharing = share["resourceSharingConfiguration"]
    borrows = sharing["strategy"] == "LEND_AND_BORROW" and "borrowLimit" in sharing
    document = {
        "name": share["quotaShareName"],
        "limits": _limits(share["capacityLimits"]),
        "strategy": sharing["strategy"],
        "inSharePreemption": share["preemptionConfiguration"]["inSharePreemption"] == "ENABLED",
        "state": share.get("state", "ENABLED"),
    }
    return {**document, "borrowLimit": sharing["borrowLimit"]} if borrows else document


def _limits(capacity_limits: Iterable[dict[str, Any]]) -> dict[str, int]:
    return {limit["capacityUnit"]: limit["maxCapacity"] for limit in capacity_limits}


def _demand(job: dict[str, Any]) -> dict[str, int]:
    if job.get("capacityUsage"):
        return {usage["capacityUnit"]: round(usage["quantity"]) for usage in job["capacityUsage"]}
    return dict(demand_from_payload(job.get("serviceRequestPayload", "")))


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _job_ids(batch: Any, queue: str) -> dict[str, None]:
    pages = (_pages(batch, "list_service_jobs", "jobSummaryList", jobQueue=queue, jobStatus=s) for s in _IN_QUEUE)
    return {job["jobId"]: None for jobs in pages for job in jobs}


def _pages(batch: Any, operation: str, key: str, **request: Any) -> Iterator[dict[str, Any]]:
    for page in batch.get_paginator(operation).paginate(**request):
        yield from page[key]
