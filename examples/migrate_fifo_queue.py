"""Move an existing FIFO queue for SageMaker training jobs to quota management.

A queue's kind of scheduling can't be changed, so a new queue takes over: the old one's settings are carried
over, its capacity is counted in instance types instead of instances, and it becomes one quota share, to be
divided further later. Then disable the old queue; what is in it finishes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from constructs_qm import (
    MISCONFIGURATION_LIMITS,
    InsufficientInstanceCapacity,
    JobStateTimeLimit,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    ResourceSharing,
    ServiceEnvironmentMaxResource,
)

if TYPE_CHECKING:
    from constructs import Construct

# What `aws batch describe-job-queues` and `describe-service-environments` answer.
FIFO_QUEUE: dict[str, Any] = {
    "jobQueueName": "training-fifo",
    "state": "ENABLED",
    "priority": 5,
    "jobQueueType": "SAGEMAKER_TRAINING",
    "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "training-fifo-environment"}],
    "jobStateTimeLimitActions": [
        {
            "reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
            "state": "RUNNABLE",
            "maxTimeSeconds": 43200,
            "action": "TERMINATE",
        }
    ],
}
FIFO_ENVIRONMENT: dict[str, Any] = {
    "serviceEnvironmentName": "training-fifo-environment",
    "capacityLimits": [{"maxCapacity": 6, "capacityUnit": "NUM_INSTANCES"}],
}

# NUM_INSTANCES doesn't say of which type: that is for you to decide.
INSTANCES = {"ml.p4d.24xlarge": 4, "ml.g5.12xlarge": 2}

TIME_LIMITS = {
    kind.reason: kind
    for kind in (ServiceEnvironmentMaxResource, QuotaManagementLimitExceeded, InsufficientInstanceCapacity)
}


class MigratedStack(cdk.Stack):
    """The quota-management queue that takes over from a FIFO queue."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, description="AWS Batch quota management: migrated from a FIFO queue")
        queue = QuotaManagedQueue(
            self,
            "Training",
            capacity=instances(FIFO_ENVIRONMENT),
            priority=FIFO_QUEUE["priority"],
            enabled=FIFO_QUEUE["state"] == "ENABLED",
            time_limits=time_limits(FIFO_QUEUE),
        )
        queue.add_quota_share(
            "everyone",
            capacity=INSTANCES,
            sharing=ResourceSharing.lend(),
            in_share_preemption=False,  # a FIFO queue never preempts
        )
        cdk.CfnOutput(self, "JobQueue", value=queue.job_queue_name, description="Submit here from now on")


def instances(environment: dict[str, Any]) -> dict[str, int]:
    """Return the new capacity; it must add up to what there was."""
    had = sum(limit["maxCapacity"] for limit in environment["capacityLimits"])
    if sum(INSTANCES.values()) != had:
        raise ValueError(f"INSTANCES add up to {sum(INSTANCES.values())}, the environment has {had}")
    return INSTANCES


def time_limits(queue: dict[str, Any]) -> list[JobStateTimeLimit]:
    """Return the old queue's time limits, and the usual ones for misconfigured jobs where it has none."""
    limits = {limit.reason: limit for limit in MISCONFIGURATION_LIMITS}
    for action in queue.get("jobStateTimeLimitActions", []):
        if action["reason"] in TIME_LIMITS:
            duration = cdk.Duration.seconds(action["maxTimeSeconds"])
            limits[action["reason"]] = TIME_LIMITS[action["reason"]](duration)
    return list(limits.values())


if __name__ == "__main__":
    app = cdk.App()
    MigratedStack(app, "Migrated")
    app.synth()
