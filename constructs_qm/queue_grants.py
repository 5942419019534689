"""What operators may do with a whole job queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

from constructs_qm.arns import service_jobs_of
from constructs_qm.grants import Permission, grant
from constructs_qm.share_grants import READ_JOBS

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk.interfaces.aws_batch import IServiceEnvironmentRef

__all__ = ["QueueGrants"]


class QueueGrants(cdk.Resource):
    """Grants on a job queue and everything in it, made here or imported."""

    job_queue_arn: str
    service_environment: IServiceEnvironmentRef | None

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let `grantee` see the queue, its environment, its policy, its shares and service jobs.

        Describing queues, environments and policies, and reading jobs, can't be narrowed: it shows those of
        the whole account and Region.
        """
        return grant(
            grantee,
            Permission(["batch:ListQuotaShares", "batch:GetJobQueueSnapshot"], [self.job_queue_arn]),
            Permission(["batch:DescribeQuotaShare"], [self._every_share]),
            Permission(
                [
                    "batch:DescribeJobQueues",
                    "batch:DescribeSchedulingPolicies",
                    "batch:DescribeServiceEnvironments",
                ],
                ["*"],
            ),
            READ_JOBS,
        )

    def grant_administer(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let `grantee` operate the queue: change it, its environment and its shares, and end any job.

        What it changes is then no longer what the stack declares. Creating and deleting queues and
        environments, submitting jobs and passing roles are not part of it. Service jobs can't be narrowed
        to a queue: it may reprioritise and terminate those of every queue of the account and Region.
        """
        permissions = [
            Permission(["batch:UpdateJobQueue", "batch:CreateQuotaShare"], [self.job_queue_arn]),
            Permission(
                ["batch:CreateQuotaShare", "batch:UpdateQuotaShare", "batch:DeleteQuotaShare"],
                [self._every_share],
            ),
            Permission(["batch:UpdateServiceJob", "batch:TerminateServiceJob"], [service_jobs_of(self)]),
        ]
        if self.service_environment is not None:
            arn = self.service_environment.service_environment_ref.service_environment_arn
            permissions.append(Permission(["batch:UpdateServiceEnvironment"], [arn]))
        return self.grant_read(grantee).combine(grant(grantee, *permissions))

    @property
    def _every_share(self) -> str:
        """The shares of this queue; not of one whose name merely begins like it."""
        return f"{self.job_queue_arn}/quota-share/*"
