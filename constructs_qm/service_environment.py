"""The service environment of a quota-management queue: the capacity there is to share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import IServiceEnvironmentRef, ServiceEnvironmentReference

from constructs_qm.arns import name_at, require_arn
from constructs_qm.props import Props, state
from constructs_qm.tokens import note_tokens
from quota_scheduler.queue_rules import QUEUE_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from constructs import Construct

__all__ = ["ServiceEnvironment", "ServiceEnvironmentBase"]


@jsii.implements(IServiceEnvironmentRef)
class ServiceEnvironmentBase(cdk.Resource):
    """A service environment, made here or imported.

    Attributes
    ----------
    service_environment_arn, service_environment_name : str
        Tokens for an environment made here.
    capacity : mapping of str to int, optional
        Instances per instance type; None for an imported environment whose capacity wasn't given.
    queues : list of str
        Paths of the quota-management queues of this app it is connected to; rule QM007 allows one.
    """

    service_environment_arn: str
    service_environment_name: str
    capacity: Mapping[str, float] | None
    queues: list[str]

    @property
    def service_environment_ref(self) -> ServiceEnvironmentReference:
        """What aws-cdk-lib takes wherever it wants a service environment."""
        return ServiceEnvironmentReference(service_environment_arn=self.service_environment_arn)


class ServiceEnvironment(ServiceEnvironmentBase):
    """A service environment of type ``SAGEMAKER_TRAINING``.

    It can be connected to one quota-management queue only; 50 per account and Region
    (create-quota-management-resources, service_limits).

    Parameters
    ----------
    scope : Construct
    id : str
    capacity : mapping of str to int
        Instances of each of 1 to 5 instance types, e.g. ``{"ml.g5.xlarge": 3}``. Changes in place.
    service_environment_name : str, optional
        1 to 128 characters of ``A-Z a-z 0-9 - _``; made up by CloudFormation by default.
        A change **replaces** the environment.
    enabled : bool
        Whether it takes jobs (``state``). Changes in place.
    removal_policy : aws_cdk.RemovalPolicy, optional
        What becomes of it when it leaves the stack; CloudFormation's default is to delete it.

    Raises
    ------
    PolicyError
        QM001, QM002 or QM003.
    PropError
        A prop of the wrong type.

    Attributes
    ----------
    resource : aws_cdk.aws_batch.CfnServiceEnvironment
        The L1 resource.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        capacity: Mapping[str, float],
        service_environment_name: str | None = None,
        enabled: bool = True,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        props = Props(scope, id)
        props.optional_name("service_environment_name", service_environment_name)
        limits = props.capacity(capacity)
        props.flag("enabled", enabled)
        props.removal_policy(removal_policy)
        super().__init__(scope, id, physical_name=service_environment_name)
        self.capacity = limits
        self.queues = []
        self.resource = batch.CfnServiceEnvironment(
            self,
            "Resource",
            service_environment_name=self._physical_name,
            service_environment_type=QUEUE_TYPE,
            state=state(enabled),
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=unit, max_capacity=count)
                for unit, count in limits.items()
            ],
        )
        if removal_policy is not None:
            self.apply_removal_policy(removal_policy)
        note_tokens(self, "service_environment_name", service_environment_name)
        note_tokens(self, "capacity", *limits, *limits.values())
        arn = self.resource.attr_service_environment_arn
        self.service_environment_arn = self._get_resource_arn_attribute(
            arn, service="batch", resource="service-environment", resource_name=self._physical_name
        )
        self.service_environment_name = self._get_resource_name_attribute(name_at(arn, 1))

    @classmethod
    def from_service_environment_arn(
        cls, scope: Construct, id: str, service_environment_arn: str
    ) -> ServiceEnvironmentBase:
        """Import an environment by its ARN; rules that need its capacity are skipped (QM015).

        Parameters
        ----------
        scope : Construct
        id : str
        service_environment_arn : str
            ``arn:…:service-environment/NAME``; may be a token.

        Raises
        ------
        PropError
            Not the ARN of a service environment.
        """
        return _Imported(scope, id, service_environment_arn, None)

    @classmethod
    def from_service_environment_attributes(
        cls, scope: Construct, id: str, *, service_environment_arn: str, capacity: Mapping[str, float]
    ) -> ServiceEnvironmentBase:
        """Import an environment with its capacity, so that shares are checked against it.

        Parameters
        ----------
        scope : Construct
        id : str
        service_environment_arn : str
        capacity : mapping of str to int
            Instances per instance type it has.

        Raises
        ------
        PropError
            Not the ARN of a service environment.
        PolicyError
            QM002 or QM003.
        """
        return _Imported(scope, id, service_environment_arn, Props(scope, id).capacity(capacity))


class _Imported(ServiceEnvironmentBase):
    def __init__(self, scope: Construct, id: str, arn: str, capacity: Mapping[str, float] | None) -> None:
        require_arn(Props(scope, id), arn, "service-environment/NAME")
        super().__init__(scope, id, environment_from_arn=arn)
        self.service_environment_arn = arn
        self.service_environment_name = name_at(arn, 1)
        self.capacity = capacity
        self.queues = []
