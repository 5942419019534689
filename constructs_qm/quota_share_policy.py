"""The scheduling policy of a quota-management queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import ISchedulingPolicyRef, SchedulingPolicyReference

from constructs_qm.arns import arn_of, name_at, require_arn
from constructs_qm.props import Props
from constructs_qm.tokens import note_tokens

if TYPE_CHECKING:
    from constructs import Construct

__all__ = ["QuotaSharePolicy", "QuotaSharePolicyBase"]

FIFO = "FIFO"
"""The only way AWS Batch gives out idle capacity (facts.md, scheduling policy)."""


@jsii.implements(ISchedulingPolicyRef)
class QuotaSharePolicyBase(cdk.Resource):
    """A quota share policy, made here or imported.

    Attributes
    ----------
    scheduling_policy_arn, scheduling_policy_name : str
        Tokens for a policy made here.
    """

    scheduling_policy_arn: str
    scheduling_policy_name: str

    @property
    def scheduling_policy_ref(self) -> SchedulingPolicyReference:
        """What aws-cdk-lib takes wherever it wants a scheduling policy."""
        return SchedulingPolicyReference(scheduling_policy_arn=self.scheduling_policy_arn)


class QuotaSharePolicy(QuotaSharePolicyBase):
    """A scheduling policy with a ``quotaSharePolicy``; idle capacity is given out FIFO.

    One policy can serve several queues. Its kind can never be changed (facts.md, scheduling policy).

    Parameters
    ----------
    scope : Construct
    id : str
    scheduling_policy_name : str, optional
        1 to 128 characters of ``A-Z a-z 0-9 - _``; CloudFormation makes one up by default,
        which is better wherever the policy may have to be replaced. A change **replaces** the policy.
    removal_policy : aws_cdk.RemovalPolicy, optional
        What becomes of it when it leaves the stack; CloudFormation's default is to delete it.

    Raises
    ------
    PolicyError
        QM001.

    Attributes
    ----------
    resource : aws_cdk.aws_batch.CfnSchedulingPolicy
        The L1 resource.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scheduling_policy_name: str | None = None,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        props = Props(scope, id)
        props.optional_name("scheduling_policy_name", scheduling_policy_name)
        props.removal_policy(removal_policy)
        super().__init__(scope, id, physical_name=scheduling_policy_name)
        self.resource = batch.CfnSchedulingPolicy(
            self,
            "Resource",
            name=self._physical_name,
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy=FIFO
            ),
        )
        if removal_policy is not None:
            self.apply_removal_policy(removal_policy)
        note_tokens(self, "scheduling_policy_name", scheduling_policy_name)
        self.scheduling_policy_arn = self._get_resource_arn_attribute(
            self.resource.attr_arn,
            service="batch",
            resource="scheduling-policy",
            resource_name=self._physical_name,
        )
        self.scheduling_policy_name = self._get_resource_name_attribute(name_at(self.resource.attr_arn, 1))

    @classmethod
    def from_quota_share_policy_arn(cls, scope: Construct, id: str, scheduling_policy_arn: str) -> QuotaSharePolicyBase:
        """Import a policy by its ARN.

        Parameters
        ----------
        scope : Construct
        id : str
        scheduling_policy_arn : str
            ``arn:…:scheduling-policy/NAME``; may be a token.

        Raises
        ------
        PropError
            Not the ARN of a scheduling policy.
        """
        require_arn(Props(scope, id), scheduling_policy_arn, "scheduling-policy/NAME")
        return _Imported(scope, id, scheduling_policy_arn, name_at(scheduling_policy_arn, 1))

    @classmethod
    def from_quota_share_policy_attributes(
        cls, scope: Construct, id: str, *, scheduling_policy_name: str
    ) -> QuotaSharePolicyBase:
        """Import a policy of the stack's own account and Region by its name.

        Parameters
        ----------
        scope : Construct
        id : str
        scheduling_policy_name : str
            1 to 128 characters of ``A-Z a-z 0-9 - _``, or a token.

        Raises
        ------
        PolicyError
            QM001.
        """
        Props(scope, id).name("scheduling_policy_name", scheduling_policy_name)
        arn = arn_of(scope, "scheduling-policy", scheduling_policy_name)
        return _Imported(scope, id, arn, scheduling_policy_name)


class _Imported(QuotaSharePolicyBase):
    def __init__(self, scope: Construct, id: str, arn: str, name: str) -> None:
        super().__init__(scope, id, environment_from_arn=arn)
        self.scheduling_policy_arn = arn
        self.scheduling_policy_name = name
