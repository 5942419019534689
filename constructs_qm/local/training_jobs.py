"""SageMaker's view of service jobs: DescribeTrainingJob and StopTrainingJob for what was dispatched.

moto keeps answering for the training jobs it made itself.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session
from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.responses import SageMakerResponse

from constructs_qm.local.current import current
from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.attempts import Attempt
    from constructs_qm.local.service_jobs import ServiceJob

__all__ = ["PATCHES", "describe_training_job"]

_IN_PROGRESS = {"SCHEDULED": "Pending", "STARTING": "Downloading", "RUNNING": "Training"}
"""Batch's states to SageMaker's secondary ones (service-job-status)."""


@cache
def _members() -> frozenset[str]:
    """Return the members of DescribeTrainingJob's answer."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    return frozenset(model.operation_model("DescribeTrainingJob").output_shape.members)


def describe_training_job(job: ServiceJob, attempt: Attempt) -> dict[str, Any]:
    """Return what SageMaker's DescribeTrainingJob says of an attempt.

    Parameters
    ----------
    job : ServiceJob
    attempt : Attempt
        One of the job's.
    """
    payload = json.loads(job.request["serviceRequestPayload"])
    status, secondary = _status(job, attempt)
    name = attempt.training_job.rpartition("/")[2]
    output = payload.get("OutputDataConfig", {}).get("S3OutputPath", f"s3://unknown/{name}")
    details = {
        "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        **{key: value for key, value in payload.items() if key in _members()},
        "TrainingJobName": name,
        "TrainingJobArn": attempt.training_job,
        "ModelArtifacts": {"S3ModelArtifacts": f"{output.rstrip('/')}/{name}/output/model.tar.gz"},
        "TrainingJobStatus": status,
        "SecondaryStatus": secondary,
        "CreationTime": _time(attempt.scheduled_at),
        "LastModifiedTime": _time(attempt.stopped_at or attempt.started_at or attempt.scheduled_at),
    }
    if attempt.started_at is not None:
        details["TrainingStartTime"] = _time(attempt.started_at)
    if attempt.stopped_at is not None:
        details["TrainingEndTime"] = _time(attempt.stopped_at)
    if status == "Failed" and attempt.status_reason is not None:
        details["FailureReason"] = attempt.status_reason
    return details


def _status(job: ServiceJob, attempt: Attempt) -> tuple[str, str]:
    if attempt is job.attempt:
        if job.job.stopping is not None:
            return "Stopping", "Stopping"
        return "InProgress", _IN_PROGRESS[job.status]
    if attempt in job.preempted or (attempt is job.latest and job.terminated):
        return "Stopped", "Stopped"
    if attempt is job.latest and job.status == "SUCCEEDED":
        return "Completed", "Completed"
    return ("Failed", "Failed") if attempt in job.attempts else ("Stopped", "Stopped")


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _find(response: SageMakerResponse) -> tuple[ServiceJob, Attempt] | None:
    state = current().state(response.current_account, response.region, response.partition)
    return state.training_jobs.get(response._get_param("TrainingJobName"))


def _describe(original: Callable[[SageMakerResponse], ActionResult]) -> Any:
    def describe(self: SageMakerResponse) -> ActionResult:
        found = _find(self)
        if found is None:
            return original(self)
        job, attempt = found
        return ActionResult(describe_training_job(job, attempt))

    return describe


def _stop(_: None) -> Any:
    def stop(self: SageMakerResponse) -> ActionResult:
        found = _find(self)
        if found is not None:
            job, attempt = found
            if attempt is job.attempt:
                current().fail(job.id, "Training job stopped")
        return EmptyResult()

    return stop


PATCHES = [
    Patch(SageMakerResponse, "describe_training_job", "self", _describe),
    Patch(SageMakerResponse, "stop_training_job", None, _stop),
]
