"""Where the walk-through's queue comes from: API calls as in the article, or a CDK app that is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from constructs_qm.local.cdk_cli import CdkCli
    from quota_scheduler import QuotaPolicy, QuotaShare

__all__ = ["ApiResources", "CdkResources", "Resources"]

QUEUE, ENVIRONMENT, POLICY = "my-sm-training-qm-jq", "my-sm-training-qm-se", "my-qm-scheduling-policy"
"""As the article names them."""


class Resources(Protocol):
    """A queue with its scheduling policy, service environment and quota shares."""

    def create(self, batch: Any) -> str:
        """Create everything with a boto3 Batch client at hand; return the queue's name."""

    def delete(self, batch: Any) -> None:
        """Delete everything; no job is left by then."""


class CdkResources:
    """What a CDK app with a single quota-management queue deploys.

    Parameters
    ----------
    cli : CdkCli
    """

    def __init__(self, cli: CdkCli) -> None:
        self._cli = cli

    def create(self, batch: Any) -> str:
        """Deploy the app; raises CdkError."""
        self._cli.deploy()
        [queue] = batch.describe_job_queues()["jobQueues"]
        return str(queue["jobQueueName"])

    def delete(self, batch: Any) -> None:
        """Destroy the app's stacks; raises CdkError."""
        self._cli.destroy()


class ApiResources:
    """What the article's helper creates for a policy, call by call.

    Parameters
    ----------
    policy : QuotaPolicy
    """

    def __init__(self, policy: QuotaPolicy) -> None:
        self._policy = policy

    def create(self, batch: Any) -> str:
        """Create policy, environment, queue and shares."""
        policy = batch.create_scheduling_policy(
            name=POLICY, quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )
        batch.create_service_environment(
            serviceEnvironmentName=ENVIRONMENT,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=_capacity_limits(self._policy.environment),
        )
        batch.create_job_queue(
            jobQueueName=QUEUE,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": ENVIRONMENT}],
        )
        for share in self._policy.shares:
            self._create_share(batch, share)
        return QUEUE

    def _create_share(self, batch: Any, share: QuotaShare) -> None:
        sharing: dict[str, Any] = {"strategy": share.sharing.strategy.value}
        if share.sharing.borrow_limit is not None:
            sharing["borrowLimit"] = share.sharing.borrow_limit
        batch.create_quota_share(
            quotaShareName=share.name,
            jobQueue=QUEUE,
            capacityLimits=_capacity_limits(share.limits),
            resourceSharingConfiguration=sharing,
            preemptionConfiguration={"inSharePreemption": "ENABLED" if share.in_share_preemption else "DISABLED"},
        )

    def delete(self, batch: Any) -> None:
        """Delete shares, queue, environment and policy, each disabled first."""
        queue = batch.describe_job_queues(jobQueues=[QUEUE])["jobQueues"][0]
        for share in self._policy.shares:
            arn = f"{queue['jobQueueArn']}/quota-share/{share.name}"
            batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
            batch.delete_quota_share(quotaShareArn=arn)
        batch.update_job_queue(jobQueue=QUEUE, state="DISABLED")
        batch.delete_job_queue(jobQueue=QUEUE)
        batch.update_service_environment(serviceEnvironment=ENVIRONMENT, state="DISABLED")
        batch.delete_service_environment(serviceEnvironment=ENVIRONMENT)
        batch.delete_scheduling_policy(arn=queue["schedulingPolicyArn"])


def _capacity_limits(limits: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "maxCapacity": count} for unit, count in limits.items()]
