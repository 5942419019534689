"""A quota-management queue with everything it needs, in one construct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.exceptions import PropError
from constructs_qm.props import Props
from constructs_qm.quota_share_policy import QuotaSharePolicy
from constructs_qm.service_environment import ServiceEnvironment
from constructs_qm.time_limits import MISCONFIGURATION_LIMITS, JobStateTimeLimit
from constructs_qm.tokens import note_tokens
from constructs_qm.training_job_queue import (
    OwnedJobQueue,
    require_free_environment,
    require_queue_props,
    require_scheduling_policy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import aws_cdk as cdk
    from aws_cdk.interfaces.aws_batch import ISchedulingPolicyRef, IServiceEnvironmentRef
    from constructs import Construct

__all__ = ["QuotaManagedQueue"]


class QuotaManagedQueue(OwnedJobQueue):
    """A quota-management queue that brings its own scheduling policy and service environment.

    Parameters
    ----------
    scope : Construct
    id : str
    capacity : mapping of str to int, optional
        Instances of each of 1 to 5 instance types for the service environment made here.
        Changes in place. Give this or `existing_environment`.
    existing_environment : IServiceEnvironmentRef, optional
        Use this environment instead of making one. A change leads the queue to another environment.
    existing_policy : ISchedulingPolicyRef, optional
        Use this quota share policy instead of making one.
    job_queue_name, service_environment_name, scheduling_policy_name : str, optional
        1 to 128 characters of ``A-Z a-z 0-9 - _``; made up by CloudFormation by default. A change
        **replaces** the resource, and with the queue its shares.
    priority : int
        Of the queue, 0 to 1000. Changes in place.
    enabled : bool
        Whether the queue takes jobs. Changes in place.
    time_limits : sequence of JobStateTimeLimit
        What ends jobs that stay RUNNABLE; by default those that can never run, after an hour, and ``()`` for
        none. Changes in place.
    removal_policy : aws_cdk.RemovalPolicy, optional
        What becomes of everything made here when it leaves the stack; CloudFormation's default is to delete
        it. Shares have their own.

    Raises
    ------
    PolicyError
        QM001, QM002 or QM003; QM007 for a policy of another kind or an environment with a queue.
    PropError
        Both or neither of `capacity` and `existing_environment`, a name for something that isn't made here,
        a priority outside 0 to 1000, or a prop of the wrong type.

    Attributes
    ----------
    resource : aws_cdk.aws_batch.CfnJobQueue
    scheduling_policy : QuotaSharePolicy or ISchedulingPolicyRef
        Made here or given.
    service_environment : ServiceEnvironment or IServiceEnvironmentRef
        Made here or given.

    Examples
    --------
    >>> queue = QuotaManagedQueue(stack, "Training", capacity={"ml.g5.xlarge": 3})
    >>> queue.add_quota_share("QS1", capacity={"ml.g5.xlarge": 1}, sharing=ResourceSharing.lend())
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        capacity: Mapping[str, float] | None = None,
        existing_environment: IServiceEnvironmentRef | None = None,
        existing_policy: ISchedulingPolicyRef | None = None,
        job_queue_name: str | None = None,
        service_environment_name: str | None = None,
        scheduling_policy_name: str | None = None,
        priority: float = 1,
        enabled: bool = True,
        time_limits: Sequence[JobStateTimeLimit] = MISCONFIGURATION_LIMITS,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        props = Props(scope, id)
        require_queue_props(props, job_queue_name, priority, enabled, time_limits, removal_policy)
        _require_source(props, capacity, service_environment_name, existing_environment)
        if existing_policy is not None:
            _refuse_name(props, "scheduling_policy_name", scheduling_policy_name, "existing_policy")
            require_scheduling_policy(props, existing_policy, "existing_policy")
        props.optional_name("scheduling_policy_name", scheduling_policy_name)
        super().__init__(scope, id, physical_name=job_queue_name)
        note_tokens(self, "job_queue_name", job_queue_name)
        policy = existing_policy or QuotaSharePolicy(
            self,
            "SchedulingPolicy",
            scheduling_policy_name=scheduling_policy_name,
            removal_policy=removal_policy,
        )
        environment = existing_environment or ServiceEnvironment(
            self,
            "ServiceEnvironment",
            capacity=capacity or {},
            service_environment_name=service_environment_name,
            removal_policy=removal_policy,
        )
        self._create(policy, environment, priority, enabled, time_limits, removal_policy)


def _require_source(props: Props, capacity: Any, name: str | None, existing: object) -> None:
    """Check that the environment is either described or given, not both."""
    if (capacity is None) == (existing is None):
        given = "neither" if capacity is None else "both"
        raise PropError(
            f"{props.path}: {given} of capacity and existing_environment given: "
            'give one, such as capacity={"ml.g5.xlarge": 3}'
        )
    if existing is None:
        props.capacity(capacity)
        props.optional_name("service_environment_name", name)
    else:
        _refuse_name(props, "service_environment_name", name, "existing_environment")
        require_free_environment(props, existing, "existing_environment")


def _refuse_name(props: Props, prop: str, name: str | None, existing: str) -> None:
    if name is not None:
        raise PropError(f"{props.path}.{prop}: {name!r} is given with {existing}, leave it out")
