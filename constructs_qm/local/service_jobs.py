"""Service jobs: SubmitServiceJob and its kin."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from constructs_qm.local import job_life
from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import milliseconds
from constructs_qm.local.lifecycle import Resource
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.rules import require_name
from quota_scheduler import ExitRule, Job, RetryStrategy, demand_from_payload
from quota_scheduler.value_rules import check_priority

if TYPE_CHECKING:
    from constructs_qm.local.attempts import Attempt
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState

__all__ = ["JOB_ID", "ServiceJob", "find_job"]

MAX_PAYLOAD = 10 * 1024
MAX_REQUEST = 30 * 1024
MAX_TERMINATED = 50
PREEMPTION_WINDOW = 10
"""Preempted attempts a job shows; the guide says a sliding window and not how long."""

JOB_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(eq=False, kw_only=True)
class ServiceJob(Resource):
    """A service job as its submitter sees it; :mod:`job_life` changes it.

    Attributes
    ----------
    job : Job
        The same job as the scheduler sees it.
    request : dict
        The submission, fields the job shows unchanged.
    attempt : Attempt or None
        The one that holds capacity.
    latest : Attempt or None
        The last one dispatched.
    attempts : list of Attempt
        Those that ended, without the preempted ones.
    preempted : deque of Attempt
        The latest preempted ones, newest first.
    seized : bool
        Whether it is being preempted behind the scheduler's back.
    """

    name: str
    queue: JobQueue
    job: Job
    request: Request
    status: str = "SUBMITTED"
    status_reason: str | None = None
    terminated: bool = False
    attempt: Attempt | None = None
    latest: Attempt | None = None
    attempts: list[Attempt] = field(default_factory=list)
    preempted: deque[Attempt] = field(default_factory=lambda: deque(maxlen=PREEMPTION_WINDOW))
    preemptions: int = 0
    capacity_failures: int = 0
    seized: bool = False
    stopped_at: float | None = None

    @property
    def id(self) -> str:
        """Its UUID."""
        return self.job.id

    @property
    def ended(self) -> bool:
        """Whether it is SUCCEEDED or FAILED."""
        return self.status in ("SUCCEEDED", "FAILED")

    def ids(self) -> Answer:
        """Return what submit and update answer."""
        return {"jobArn": self.arn, "jobName": self.name, "jobId": self.id}

    def summary(self) -> Answer:
        """Return it as an entry of ListServiceJobs."""
        usage = [{"capacityUnit": unit, "quantity": float(count)} for unit, count in self.job.demand]
        details: Answer = {
            **self.ids(),
            "createdAt": milliseconds(self.job.created),
            "capacityUsage": usage,
            "serviceJobType": self.request["serviceJobType"],
            "quotaShareName": self.job.share,
            "status": self.status,
        }
        if self.latest is not None:
            details["latestAttempt"] = {"serviceResourceId": self.latest.resource_id}
        shown = self.latest if self.ended else self.attempt
        if shown is not None:
            details["scheduledAt"] = milliseconds(shown.scheduled_at)
            if shown.started_at is not None:
                details["startedAt"] = milliseconds(shown.started_at)
        if self.stopped_at is not None:
            details["stoppedAt"] = milliseconds(self.stopped_at)
        if self.status_reason is not None:
            details["statusReason"] = self.status_reason
        if self.terminated:
            details["isTerminated"] = True
        return details

    def details(self) -> Answer:
        """Return it as an event's detail: as DescribeServiceJob does, without tags and payload."""
        details = {
            **self.summary(),
            "attempts": [attempt.describe() for attempt in self.attempts],
            "jobQueue": self.queue.arn,
            "schedulingPriority": self.job.rank,
            "isTerminated": self.terminated,
        }
        for name in ("retryStrategy", "preemptionConfiguration", "timeoutConfig"):
            if name in self.request:
                details[name] = self.request[name]
        if self.preemptions:
            details["preemptionSummary"] = self.preemption_summary()
        return details

    def preemption_summary(self) -> Answer:
        """Return its ``preemptionSummary``."""
        return {
            "preemptedAttemptCount": self.preemptions,
            "recentPreemptedAttempts": [attempt.describe() for attempt in self.preempted],
        }


@operation("SubmitServiceJob")
def _submit(state: BatchState, request: Request) -> Answer:
    name = require_name(request["jobName"], "jobName")
    queue = state.queue(request["jobQueue"])
    _check_sizes(request)
    _check_share(queue, request)
    _check_token(state, request)
    _check_rate(state)
    share = request["quotaShareName"]
    job_id = state.new_id()
    job = Job(
        id=job_id,
        share=share,
        demand=demand_from_payload(request["serviceRequestPayload"]),
        priority=_priority(request),
        created=state.now,
        preemption_retries=_preemption_retries(request),
        retry=_retry_strategy(request),
        timeout=_timeout(request),
    )
    record = ServiceJob(
        arn=state.arns.batch("service-job", job_id),
        sequence=state.next_sequence(),
        tags=request.get("tags", {}),
        name=name,
        queue=queue,
        job=job,
        request=request,
    )
    state.jobs[job_id] = record
    state.submits.append(state.now)
    if "clientToken" in request:
        state.tokens[request["clientToken"]] = job_id
    state.timers.at(state.now + state.settings.submitted_seconds, lambda: job_life.make_runnable(state, record))
    return record.ids()


@operation("DescribeServiceJob")
def _describe(state: BatchState, request: Request) -> Answer:
    job = find_job(state, request["jobId"])
    return {
        **job.details(),
        "serviceRequestPayload": job.request["serviceRequestPayload"],
        "tags": job.tags,
    }


@operation("UpdateServiceJob")
def _update(state: BatchState, request: Request) -> Answer:
    job = find_job(state, request["jobId"])
    priority = _priority(request)
    if job.ended:
        raise ClientException(f"Service job {job.id} is {job.status}: its priority can't be changed any more")
    if job.status == "SUBMITTED":
        job.job.priority = priority
    else:
        job.queue.scheduler.set_priority(job.id, request["schedulingPriority"])
    return job.ids()


@operation("TerminateServiceJob")
def _terminate(state: BatchState, request: Request) -> Answer:
    _check_reason(request)
    if not _is_job_id(request["jobId"]):
        raise ClientException(f"{request['jobId']!r} is neither the id nor the ARN of a service job")
    _terminate_one(state, request["jobId"], request["reason"])
    return {}


@operation("TerminateServiceJobs")
def _terminate_many(state: BatchState, request: Request) -> Answer:
    _check_reason(request)
    if not 1 <= len(request["jobs"]) <= MAX_TERMINATED:
        raise ClientException(f"{len(request['jobs'])} jobs given: give 1 to {MAX_TERMINATED}")
    successful, errors = [], []
    for job in request["jobs"]:
        if _is_job_id(job):
            _terminate_one(state, job, request["reason"])
            successful.append(job)
        else:
            message = f"{job!r} is neither the id nor the ARN of a service job"
            errors.append({"job": job, "code": "ValidationException", "message": message})
    return {"successful": successful, "errors": errors}


def find_job(state: BatchState, id_or_arn: str) -> ServiceJob:
    """Return the job with this id or ARN."""
    job = state.jobs.get(id_or_arn.rpartition("/")[2])
    if job is None or id_or_arn not in (job.id, job.arn):
        raise ClientException(f"Service job {id_or_arn} does not exist")
    return job


def _terminate_one(state: BatchState, id_or_arn: str, reason: str) -> None:
    """Terminate a job; one that is unknown or has ended is left alone, as AWS does."""
    job = state.jobs.get(id_or_arn.rpartition("/")[2])
    if job is not None and not job.ended:
        job_life.terminate(state, job, reason)


def _is_job_id(text: str) -> bool:
    prefix, slash, job_id = text.rpartition("/")
    return bool(JOB_ID.fullmatch(job_id)) and (not slash or prefix.endswith(":service-job"))


def _check_reason(request: Request) -> None:
    if not request["reason"]:
        raise ClientException("reason is empty: say why")


def _check_sizes(request: Request) -> None:
    payload = len(request["serviceRequestPayload"].encode())
    if payload > MAX_PAYLOAD:
        raise ClientException(f"serviceRequestPayload has {payload} bytes: use at most {MAX_PAYLOAD}")
    whole = len(json.dumps(request, ensure_ascii=False).encode())
    if whole > MAX_REQUEST:
        raise ClientException(f"the request has {whole} bytes: use at most {MAX_REQUEST}")


def _check_share(queue: JobQueue, request: Request) -> None:
    if queue.state != "ENABLED" or queue.status not in ("VALID", "UPDATING"):
        raise ClientException(
            f"Job queue {queue.name} is {queue.state} and {queue.status}: it takes no jobs until it is "
            "ENABLED and VALID"
        )
    if "shareIdentifier" in request:
        raise ClientException("shareIdentifier can't be specified: the job queue has no fair-share policy")
    if "quotaShareName" not in request:
        raise ClientException("quotaShareName is required: the job queue has a quota share policy")
    share = queue.shares.get(request["quotaShareName"])
    if share is None:
        raise ClientException(f"Quota share {request['quotaShareName']} does not exist in job queue {queue.name}")
    if not share.value.enabled or share.status not in ("VALID", "UPDATING"):
        raise ClientException(
            f"Quota share {share.value.name} is {share.state} and {share.status}: it takes no jobs until it "
            "is ENABLED and VALID"
        )


def _check_token(state: BatchState, request: Request) -> None:
    earlier = state.tokens.get(request.get("clientToken", ""))
    if earlier is not None:
        raise ClientException(f"clientToken {request['clientToken']} was used for service job {earlier}: use another")


def _check_rate(state: BatchState) -> None:
    limit = state.settings.submits_per_second
    state.submits = [time for time in state.submits if time > state.now - 1]
    if limit is not None and len(state.submits) >= limit:
        raise ClientException(f"Too Many Requests: submit at most {limit} service jobs a second")


def _priority(request: Request) -> int | None:
    priority: int | None = request.get("schedulingPriority")
    if priority is not None:
        for problem in check_priority(priority):
            raise ClientException(problem)
    return priority


def _preemption_retries(request: Request) -> int | None:
    retries: int | None = request.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination")
    if retries is not None and retries < 0:
        raise ClientException(f"preemptionRetriesBeforeTermination {retries} is not allowed: use 0 or more")
    return retries


def _retry_strategy(request: Request) -> RetryStrategy | None:
    strategy: dict[str, Any] | None = request.get("retryStrategy")
    if strategy is None:
        return None
    rules = (ExitRule(rule.get("action"), rule.get("onStatusReason")) for rule in strategy.get("evaluateOnExit", ()))
    return RetryStrategy(strategy["attempts"], tuple(rules))


def _timeout(request: Request) -> int | None:
    seconds: int | None = request.get("timeoutConfig", {}).get("attemptDurationSeconds")
    if seconds is not None and seconds < 1:
        raise ClientException(f"attemptDurationSeconds {seconds} is not allowed: use 1 or more")
    return seconds
