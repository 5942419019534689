"""A quota share: one team's part of a job queue's capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import IQuotaShareRef, QuotaShareReference

from constructs_qm.arns import name_at, require_arn
from constructs_qm.props import Props, state
from constructs_qm.share_grants import ShareGrants
from constructs_qm.tokens import has_token, is_token, note_tokens
from constructs_qm.training_job_queue import TrainingJobQueueBase, queue_name, require_job_queue
from quota_scheduler import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk.interfaces.aws_batch import IJobQueueRef
    from constructs import Construct

__all__ = ["QuotaShare", "QuotaShareBase"]


@jsii.implements(IQuotaShareRef)
class QuotaShareBase(ShareGrants):
    """A quota share, made here or imported.

    Attributes
    ----------
    quota_share_arn, quota_share_name : str
        The ARN is a token for a share made here.
    job_queue_arn : str
        ARN of the job queue it divides.
    """

    quota_share_arn: str
    quota_share_name: str
    job_queue_arn: str

    @property
    def quota_share_ref(self) -> QuotaShareReference:
        """What aws-cdk-lib takes wherever it wants a quota share."""
        return QuotaShareReference(quota_share_arn=self.quota_share_arn)


class QuotaShare(QuotaShareBase):
    """A quota share of a job queue; at most 20 a queue (quota-shares).

    Parameters
    ----------
    scope : Construct
    id : str
    job_queue : IJobQueueRef
        The queue: made here, imported, or an L1 ``CfnJobQueue``. A change **replaces** the share.
    quota_share_name : str
        1 to 128 characters of ``A-Z a-z 0-9 - _``, unique in its queue. A change **replaces** the share,
        which terminates its jobs.
    capacity : mapping of str to int
        Capacity limit in instances for each of 1 to 5 instance types of the service environment.
        Changes in place; jobs beyond a lowered limit may be preempted.
    sharing : ResourceSharing
        What it does with idle capacity, and how much it may borrow. Changes in place.
    in_share_preemption : bool
        Whether a higher-priority job may preempt lower-priority ones of this share. Changes in place.
    enabled : bool
        Whether it takes new jobs; those already in a disabled share finish. Changes in place.
    removal_policy : aws_cdk.RemovalPolicy, optional
        What becomes of it when it leaves the stack; CloudFormation's default is to delete it.

    Raises
    ------
    PolicyError
        QM001, QM002, QM003 or QM006; QM007 for a queue of another type.
    PropError
        A prop of the wrong type.

    Attributes
    ----------
    resource : aws_cdk.aws_batch.CfnQuotaShare
        The L1 resource.
    policy : quota_scheduler.QuotaShare, optional
        The share as the scheduler sees it; None where a token hides a value.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job_queue: IJobQueueRef,
        quota_share_name: str,
        capacity: Mapping[str, float],
        sharing: policy.ResourceSharing,
        in_share_preemption: bool = False,
        enabled: bool = True,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        props = Props(scope, id)
        require_job_queue(props, job_queue)
        props.name("quota_share_name", quota_share_name)
        limits = props.capacity(capacity)
        props.require("sharing", sharing, policy.ResourceSharing, "one, such as ResourceSharing.lend()")
        props.flag("in_share_preemption", in_share_preemption)
        props.flag("enabled", enabled)
        props.removal_policy(removal_policy)
        super().__init__(scope, id, physical_name=quota_share_name)
        note_tokens(self, "quota_share_name", quota_share_name)
        note_tokens(self, "capacity", *limits, *limits.values())
        note_tokens(self, "borrow_limit", sharing.borrow_limit)
        self.quota_share_name = quota_share_name
        self.job_queue_arn = job_queue.job_queue_ref.job_queue_arn
        self.policy = _policy(quota_share_name, limits, sharing, in_share_preemption, enabled)
        self.resource = batch.CfnQuotaShare(
            self,
            "Resource",
            quota_share_name=quota_share_name,
            job_queue=self.job_queue_arn,
            **_configuration(limits, sharing, in_share_preemption, enabled),
        )
        if removal_policy is not None:
            self.apply_removal_policy(removal_policy)
        self.quota_share_arn = self._get_resource_arn_attribute(
            self.resource.attr_quota_share_arn,
            service="batch",
            resource="job-queue",
            resource_name=f"{queue_name(job_queue)}/quota-share/{quota_share_name}",
        )
        if isinstance(job_queue, TrainingJobQueueBase):
            job_queue.quota_shares.append(self)

    @classmethod
    def from_quota_share_arn(cls, scope: Construct, id: str, quota_share_arn: str) -> QuotaShareBase:
        """Import a share by its ARN, in the account and Region that the ARN names.

        Parameters
        ----------
        scope : Construct
        id : str
        quota_share_arn : str
            ``arn:…:job-queue/QUEUE/quota-share/NAME``; may be a token.

        Raises
        ------
        PropError
            Not the ARN of a quota share.
        """
        require_arn(Props(scope, id), quota_share_arn, "job-queue/NAME/quota-share/NAME")
        queue_arn = cdk.Fn.select(0, cdk.Fn.split("/quota-share/", quota_share_arn))
        return _Imported(scope, id, quota_share_arn, name_at(quota_share_arn, 3), queue_arn)

    @classmethod
    def from_quota_share_attributes(
        cls, scope: Construct, id: str, *, quota_share_name: str, job_queue: IJobQueueRef
    ) -> QuotaShareBase:
        """Import a share by its name and its queue.

        Parameters
        ----------
        scope : Construct
        id : str
        quota_share_name : str
            1 to 128 characters of ``A-Z a-z 0-9 - _``, or a token.
        job_queue : IJobQueueRef
            Ours, the CDK's or imported.

        Raises
        ------
        PolicyError
            QM001; QM007 for a queue of another type.
        """
        props = Props(scope, id)
        require_job_queue(props, job_queue)
        props.name("quota_share_name", quota_share_name)
        queue_arn = job_queue.job_queue_ref.job_queue_arn
        arn = f"{queue_arn}/quota-share/{quota_share_name}"
        return _Imported(scope, id, arn, quota_share_name, queue_arn)


class _Imported(QuotaShareBase):
    def __init__(self, scope: Construct, id: str, arn: str, name: str, job_queue_arn: str) -> None:
        super().__init__(scope, id, environment_from_arn=arn)
        self.quota_share_arn = arn
        self.quota_share_name = name
        self.job_queue_arn = job_queue_arn


def _configuration(
    limits: Mapping[str, float], sharing: policy.ResourceSharing, in_share_preemption: bool, enabled: bool
) -> dict[str, Any]:
    """Return the L1 props that can change in place."""
    share = batch.CfnQuotaShare
    return {
        "capacity_limits": [
            share.QuotaShareCapacityLimitProperty(capacity_unit=unit, max_capacity=count)
            for unit, count in limits.items()
        ],
        "resource_sharing_configuration": share.QuotaShareResourceSharingConfigurationProperty(
            strategy=sharing.strategy.value, borrow_limit=sharing.borrow_limit
        ),
        "preemption_configuration": share.QuotaSharePreemptionConfigurationProperty(
            in_share_preemption=state(in_share_preemption)
        ),
        "state": state(enabled),
    }


def _policy(
    name: str,
    limits: Mapping[str, float],
    sharing: policy.ResourceSharing,
    in_share_preemption: bool,
    enabled: bool,
) -> policy.QuotaShare | None:
    """Return the share as the policy model's value, or None where a token hides a value."""
    if is_token(name) or has_token(limits) or is_token(sharing.borrow_limit):
        return None
    return policy.QuotaShare(
        name,
        cast("Mapping[str, int]", limits),
        policy.ResourceSharing(sharing.strategy, sharing.borrow_limit),
        in_share_preemption,
        enabled,
    )
