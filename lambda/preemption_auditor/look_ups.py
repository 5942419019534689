"""Look-ups through the AWS Batch API, as events the auditor reads. They take the client, and need no boto3.

Field names are those of botocore's ``batch`` service model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preemption_auditor.instants import iso
from preemption_auditor.reading import LOOK_UPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["look_up_jobs", "look_up_policy"]


def look_up_jobs(batch: Any, jobs: Iterable[str], now: int) -> Iterator[dict[str, Any]]:
    """Yield a ``Service Job Look-up`` for each job that still can be described.

    Parameters
    ----------
    batch : object
        A client such as ``boto3.client("batch")``.
    jobs : iterable of str
        Their ids.
    now : int
        Milliseconds.
    """
    for job in jobs:
        try:
            detail = batch.describe_service_job(jobId=job)
        except batch.exceptions.ClientException:
            continue  # it is no longer kept
        hidden = ("ResponseMetadata", "serviceRequestPayload", "tags")
        yield _event("Service Job Look-up", now, {key: value for key, value in detail.items() if key not in hidden})


def look_up_policy(batch: Any, queue: str, now: int) -> dict[str, Any] | None:
    """Return a ``Quota Policy Look-up`` of a queue, or None where it isn't a queue with quota shares.

    Parameters
    ----------
    batch : object
        A client such as ``boto3.client("batch")``.
    queue : str
        Name or ARN.
    now : int
        Milliseconds.
    """
    queues = batch.describe_job_queues(jobQueues=[queue])["jobQueues"]
    order = queues[0].get("serviceEnvironmentOrder", ()) if queues else ()
    names = [entry["serviceEnvironment"] for entry in order]
    answer = batch.describe_service_environments(serviceEnvironments=names) if names else {}
    environments = answer.get("serviceEnvironments", ())
    capacity = {
        limit["capacityUnit"]: limit["maxCapacity"]
        for environment in environments
        for limit in environment["capacityLimits"]
    }
    shares = list(_shares(batch, queue)) if capacity else []
    if not shares:
        return None
    detail = {
        "jobQueue": queue,
        "environment": capacity,
        "shares": shares,
        "paused": any(one.get("state") == "DISABLED" for one in (queues[0], *environments)),
        "serviceEnvironments": [environment["serviceEnvironmentName"] for environment in environments],
    }
    return _event("Quota Policy Look-up", now, detail)


def _shares(batch: Any, queue: str) -> Iterator[dict[str, Any]]:
    request = {"jobQueue": queue}
    while True:
        answer = batch.list_quota_shares(**request)
        for share in answer["quotaShares"]:
            sharing = share["resourceSharingConfiguration"]
            borrows = sharing["strategy"] == "LEND_AND_BORROW"
            yield {
                "name": share["quotaShareName"],
                "limits": {limit["capacityUnit"]: limit["maxCapacity"] for limit in share["capacityLimits"]},
                "strategy": sharing["strategy"],
                **({"borrowLimit": sharing.get("borrowLimit", -1)} if borrows else {}),
                "inSharePreemption": share["preemptionConfiguration"]["inSharePreemption"] == "ENABLED",
                "state": share["state"],
            }
        if "nextToken" not in answer:
            return
        request["nextToken"] = answer["nextToken"]


def _event(kind: str, now: int, detail: dict[str, Any]) -> dict[str, Any]:
    name = detail.get("jobId", "policy")
    return {"id": f"look-up-{name}-{now}", "source": LOOK_UPS, "detail-type": kind, "time": iso(now), "detail": detail}
