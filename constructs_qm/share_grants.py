"""What a team may do with its own quota share, and no other's.

Facts behind the statements (service authorization reference): SubmitServiceJob is checked against the job
queue, the service job *and* the quota share it names, so leaving a share out keeps it closed. Service jobs
have no ARN that names their share: updates and terminations can be held to a team by tags only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import aws_cdk as cdk

from constructs_qm.arns import service_jobs_of
from constructs_qm.exceptions import PropError
from constructs_qm.grants import Conditions, Permission, grant
from constructs_qm.tokens import is_token
from quota_scheduler.value_rules import check_priority

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk.interfaces.aws_iam import IRoleRef

__all__ = ["READ_JOBS", "ShareGrants"]

READ_JOBS = Permission(["batch:DescribeServiceJob", "batch:ListServiceJobs"], ["*"])
"""Reading jobs takes no resource, so it can't be narrowed."""


class ShareGrants(cdk.Resource):
    """Grants on one quota share, made here or imported."""

    quota_share_arn: str
    job_queue_arn: str

    def grant_submit(
        self,
        grantee: iam.IGrantable,
        *,
        max_priority: float | None = None,
        training_role: IRoleRef | None = None,
        job_tags: Mapping[str, str] | None = None,
    ) -> iam.Grant:
        """Let `grantee` submit jobs to this share and to no other.

        ``batch:TagResource`` comes with it, since a submission with tags needs it. Without `job_tags` it
        reaches every service job of the account and Region; with them, only jobs that have the same values
        or lack the tags.

        Parameters
        ----------
        grantee : aws_iam.IGrantable
        max_priority : int, optional
            Highest ``schedulingPriority`` a job may have, 0 to 9999; no ceiling by default. A job without a
            priority is always allowed.
        training_role : IRoleRef, optional
            Role that the training jobs run with, L1 or L2; passing it is allowed to SageMaker only. Leave it
            out where the grantee may pass it already.
        job_tags : mapping of str to str, optional
            Tags that every submitted job must carry, so that :meth:`grant_terminate` and
            :meth:`grant_reprioritize` can be held to these jobs.

        Raises
        ------
        PropError
            A priority outside 0 to 9999, no tag in `job_tags`, or what isn't a role.
        """
        carries: Conditions = {}
        own: Conditions = {}
        if job_tags is not None:
            carries = {"StringEquals": self._tags("aws:RequestTag", job_tags)}
            own = {"StringEqualsIfExists": self._tags("aws:ResourceTag", job_tags)}
        if training_role is not None and not hasattr(training_role, "role_ref"):
            raise PropError(f"{self.node.path}.training_role: {training_role!r} is not a role: give one")
        ceiling = self._ceiling("NumericLessThanEqualsIfExists", max_priority)
        jobs = service_jobs_of(self)
        permissions = [
            Permission(
                ["batch:SubmitServiceJob"],
                [self.job_queue_arn, self.quota_share_arn, jobs],
                {**ceiling, **carries},
            ),
            Permission(["batch:TagResource"], [jobs], {**carries, **own}),
        ]
        if training_role is not None:
            to_sagemaker = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
            role = training_role.role_ref.role_arn
            permissions.append(Permission(["iam:PassRole"], [role], to_sagemaker))
        return grant(grantee, *permissions)

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let `grantee` see this share, the front of its queue, and service jobs.

        Listing and describing service jobs can't be narrowed: it shows those of every queue of the account
        and Region.
        """
        return grant(
            grantee,
            Permission(["batch:DescribeQuotaShare"], [self.quota_share_arn]),
            Permission(["batch:GetJobQueueSnapshot"], [self.job_queue_arn]),
            READ_JOBS,
        )

    def grant_reprioritize(
        self, grantee: iam.IGrantable, *, job_tags: Mapping[str, str], max_priority: float | None = None
    ) -> iam.Grant:
        """Let `grantee` change the scheduling priority of jobs with these tags.

        Parameters
        ----------
        grantee : aws_iam.IGrantable
        job_tags : mapping of str to str
            Tags a job must have. They, not the share, are what holds this grant to a team's own jobs: it
            reaches a job with these tags in any share, and none without. Let submitters set them with the
            `job_tags` of :meth:`grant_submit`.
        max_priority : int, optional
            Highest priority that may be set, 0 to 9999; no ceiling by default.

        Raises
        ------
        PropError
            A priority outside 0 to 9999, or no tag in `job_tags`.
        """
        tagged = {"StringEquals": self._tags("aws:ResourceTag", job_tags)}
        ceiling = self._ceiling("NumericLessThanEquals", max_priority)
        return grant(grantee, Permission(["batch:UpdateServiceJob"], [service_jobs_of(self)], {**tagged, **ceiling}))

    def grant_terminate(self, grantee: iam.IGrantable, *, job_tags: Mapping[str, str]) -> iam.Grant:
        """Let `grantee` terminate jobs with these tags, one a request.

        Parameters
        ----------
        grantee : aws_iam.IGrantable
        job_tags : mapping of str to str
            Tags a job must have; see :meth:`grant_reprioritize` for what they can't do.

        Raises
        ------
        PropError
            No tag in `job_tags`.
        """
        tagged = {"StringEquals": self._tags("aws:ResourceTag", job_tags)}
        return grant(grantee, Permission(["batch:TerminateServiceJob"], [service_jobs_of(self)], tagged))

    def _ceiling(self, operator: str, max_priority: float | None) -> Conditions:
        if max_priority is None:
            return {}
        for message in () if is_token(max_priority) else check_priority(max_priority):
            raise PropError(f"{self.node.path}.max_priority: {message}")
        return {operator: {"batch:SchedulingPriority": max_priority}}

    def _tags(self, key: str, job_tags: object) -> dict[str, str]:
        if not isinstance(job_tags, Mapping) or not job_tags:
            raise PropError(f'{self.node.path}.job_tags: {job_tags!r} holds no tag: give one like {{"team": "vision"}}')
        return {f"{key}/{name}": value for name, value in job_tags.items()}
