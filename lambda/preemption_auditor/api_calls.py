"""API calls of a trail that leave no job event: edits of priorities and of the policy.

CloudTrail's ``requestParameters`` have the names of the API (botocore's ``batch`` model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from preemption_auditor.instants import Span
from preemption_auditor.observations import job_id_of, whole
from quota_scheduler import QuotaPolicy, QuotaSchedulerError, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "API_CALL",
    "JOB_CALLS",
    "ApiCall",
    "changed_policy",
    "edited_priority",
    "queue_of",
    "read_api_call",
]

API_CALL = "AWS API Call via CloudTrail"
JOB_CALLS = ("SubmitServiceJob", "UpdateServiceJob", "TerminateServiceJob", "TerminateServiceJobs")
"""Calls about jobs: where one of them is recorded, a trail is, and records edits of priorities."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One successful call to AWS Batch.

    Attributes
    ----------
    name : str
        Such as ``UpdateServiceJob``.
    request : mapping
        ``requestParameters``.
    at : Span
        The second it was made in.
    event : str
        Id of the event.
    """

    name: str
    request: Mapping[str, Any]
    at: Span
    event: str


def read_api_call(event_id: str, time: int, detail: Mapping[str, Any]) -> ApiCall | None:
    """Read a CloudTrail event; None for other services and for calls that failed."""
    name, request = detail.get("eventName"), detail.get("requestParameters")
    if detail.get("eventSource") != "batch.amazonaws.com" or detail.get("errorCode") is not None:
        return None
    if not isinstance(name, str) or not isinstance(request, Mapping):
        return None
    return ApiCall(name, request, Span.of_second(time), event_id)


def edited_priority(call: ApiCall) -> tuple[str, int] | None:
    """Return the job and priority an ``UpdateServiceJob`` call names, or None for any other."""
    job = job_id_of(call.request.get("jobId"))
    priority = whole(call.request.get("schedulingPriority"))
    if call.name != "UpdateServiceJob" or job is None or priority is None:
        return None
    return job, priority


def queue_of(call: ApiCall) -> str | None:
    """Return the name of the queue a quota share call is about, or None where it names none."""
    arn = call.request.get("quotaShareArn")
    if isinstance(arn, str) and "/quota-share/" in arn:
        return job_id_of(arn.split("/quota-share/", 1)[0])
    return job_id_of(call.request.get("jobQueue") or call.request.get("jobQueueName"))


def changed_policy(call: ApiCall, policy: QuotaPolicy) -> QuotaPolicy | None:
    """Return the policy a call turns `policy` into, or None where it doesn't touch it.

    ``UpdateServiceEnvironment`` is taken to speak of the queue's environment where it
    names units that `policy` has: the call doesn't name the queue.
    """
    request = call.request
    try:
        if call.name == "UpdateServiceEnvironment":
            limits = _limits(request.get("capacityLimits"))
            known = limits and set(limits) <= set(policy.environment)
            return QuotaPolicy({**policy.environment, **limits}, policy.shares) if known else None
        if call.name == "CreateQuotaShare":
            return policy.with_share(_created(request))
        name = job_id_of(request.get("quotaShareArn"))
        if name is None or all(share.name != name for share in policy.shares):
            return None
        if call.name == "UpdateQuotaShare":
            return policy.with_share(_updated(policy.share(name), request))
        return policy.without_share(name) if call.name == "DeleteQuotaShare" else None
    except (QuotaSchedulerError, KeyError, TypeError):
        return None


def _limits(entries: Sequence[Mapping[str, Any]] | None) -> dict[str, int]:
    return {entry["capacityUnit"]: int(entry["maxCapacity"]) for entry in entries or ()}


def _created(request: Mapping[str, Any]) -> QuotaShare:
    share = QuotaShare(request["quotaShareName"], _limits(request["capacityLimits"]))
    return _updated(share, {key: value for key, value in request.items() if key != "capacityLimits"})


def _updated(share: QuotaShare, request: Mapping[str, Any]) -> QuotaShare:
    if request.get("capacityLimits"):
        share = replace(share, limits=_limits(request["capacityLimits"]))
    sharing = request.get("resourceSharingConfiguration")
    if sharing:
        share = replace(share, sharing=ResourceSharing(sharing["strategy"], sharing.get("borrowLimit")))
    preemption = request.get("preemptionConfiguration")
    if preemption:
        share = replace(share, in_share_preemption=preemption["inSharePreemption"] == "ENABLED")
    if request.get("state"):
        share = replace(share, enabled=request["state"] == "ENABLED")
    return share
