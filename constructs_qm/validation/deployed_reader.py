"""A deployed queue, looked up through the AWS Batch API and read into a declared one.

Field names are those of botocore's ``batch`` service model.
"""

from __future__ import annotations

from typing import Any

from constructs_qm.aws_errors import describe_failure
from constructs_qm.validation.declared import (
    DeclaredEnvironment,
    DeclaredPolicy,
    DeclaredQueue,
    DeclaredShare,
    Field,
    Limits,
    Source,
)
from quota_scheduler import DocumentError

__all__ = ["look_up", "read_deployed"]


def look_up(queue: str, endpoint_url: str | None = None, region: str | None = None) -> DeclaredQueue:
    """Look up a queue with boto3.

    Parameters
    ----------
    queue : str
        Name or ARN; an ARN's Region counts.
    endpoint_url : str, optional
        Of an endpoint other than AWS's.
    region : str, optional
        That of the configuration by default.

    Raises
    ------
    DocumentError
        The queue can't be looked up.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    if queue.startswith("arn:") and queue.count(":") > 4:
        region = queue.split(":")[3]
    try:
        return read_deployed(boto3.client("batch", endpoint_url=endpoint_url, region_name=region), queue)
    except (BotoCoreError, ClientError, ValueError) as error:
        raise DocumentError(f"job queue {queue!r}: {describe_failure(error)}") from None


def read_deployed(batch: Any, queue: str) -> DeclaredQueue:
    """Read a queue with its policy, environment and shares.

    Parameters
    ----------
    batch : object
        A client such as ``boto3.client("batch")``.
    queue : str
        Name or ARN.

    Raises
    ------
    DocumentError
        There is no such queue.
    """
    found = batch.describe_job_queues(jobQueues=[queue])["jobQueues"]
    if not found:
        raise DocumentError("it does not exist: give its name or ARN")
    described = found[0]
    path = f"job-queue/{described['jobQueueName']}"
    limits = described.get("jobStateTimeLimitActions", [])
    return DeclaredQueue(
        Source(path),
        Field(described["jobQueueName"], ("jobQueueName",)),
        queue_type=Field(described.get("jobQueueType"), ("jobQueueType",)),
        priority=Field(described.get("priority"), ("priority",)),
        time_limits=[
            Field(_capitalised(limit), ("jobStateTimeLimitActions", index)) for index, limit in enumerate(limits)
        ],
        time_limits_keys=("jobStateTimeLimitActions",),
        policy=_policy(batch, described),
        has_policy="schedulingPolicyArn" in described,
        environment=_environment(batch, described),
        shares=[_share(share, path) for share in _shares(batch, described["jobQueueArn"])],
    )


def _policy(batch: Any, queue: dict[str, Any]) -> DeclaredPolicy | None:
    arn = queue.get("schedulingPolicyArn")
    found = batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"] if arn else []
    if not found:
        return None
    kind = Field(found[0].get("quotaSharePolicy"), ("quotaSharePolicy",))
    return DeclaredPolicy(Source(f"scheduling-policy/{found[0]['name']}"), Field(found[0]["name"], ("name",)), kind)


def _environment(batch: Any, queue: dict[str, Any]) -> DeclaredEnvironment | None:
    arns = [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder", [])]
    found = batch.describe_service_environments(serviceEnvironments=arns)["serviceEnvironments"] if arns else []
    if not found:
        return None
    name = found[0]["serviceEnvironmentName"]
    return DeclaredEnvironment(Source(f"service-environment/{name}"), Field(name, ()), _limits(found[0]))


def _share(share: dict[str, Any], queue_path: str) -> DeclaredShare:
    sharing = share.get("resourceSharingConfiguration", {})
    borrows = sharing.get("strategy") == "LEND_AND_BORROW"
    preemption = share.get("preemptionConfiguration", {})
    return DeclaredShare(
        Source(f"{queue_path}/quota-share/{share['quotaShareName']}"),
        Field(share["quotaShareName"], ("quotaShareName",)),
        limits=_limits(share),
        strategy=Field(sharing.get("strategy"), ("resourceSharingConfiguration", "strategy")),
        borrow_limit=Field(
            sharing.get("borrowLimit") if borrows else None, ("resourceSharingConfiguration", "borrowLimit")
        ),
        in_share_preemption=Field(
            preemption.get("inSharePreemption"), ("preemptionConfiguration", "inSharePreemption")
        ),
        state=Field(share.get("state"), ("state",)),
    )


def _shares(batch: Any, queue_arn: str) -> list[dict[str, Any]]:
    pages = batch.get_paginator("list_quota_shares").paginate(jobQueue=queue_arn)
    return [share for page in pages for share in page["quotaShares"]]


def _limits(described: dict[str, Any]) -> Limits:
    keys = ("capacityLimits",)
    pairs = [(limit["capacityUnit"], limit["maxCapacity"]) for limit in described.get("capacityLimits", [])]
    return Limits(pairs, keys, {unit: (*keys, index, "maxCapacity") for index, (unit, _) in enumerate(pairs)})


def _capitalised(action: dict[str, Any]) -> dict[str, Any]:
    """Return a time limit with the names that CloudFormation gives its parts."""
    return {key[0].upper() + key[1:]: value for key, value in action.items()}
