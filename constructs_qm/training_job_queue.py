"""The job queue that quota shares divide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import IJobQueueRef, JobQueueReference

from constructs_qm.arns import name_at, require_arn
from constructs_qm.exceptions import PropError
from constructs_qm.policy_checks import PolicyChecks
from constructs_qm.props import Props, state
from constructs_qm.queue_events import QueueEvents
from constructs_qm.queue_grants import QueueGrants
from constructs_qm.queue_metrics import QueueMetrics
from constructs_qm.service_environment import ServiceEnvironmentBase
from constructs_qm.time_limits import MISCONFIGURATION_LIMITS, JobStateTimeLimit
from constructs_qm.tokens import has_token, is_token, note_tokens, note_unchecked
from quota_scheduler import Finding, Level, PolicyError, QuotaPolicy
from quota_scheduler.queue_rules import (
    QUEUE_TYPE,
    check_environment_queues,
    check_policy_kind,
    check_queue_priority,
    check_queue_type,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk.interfaces.aws_batch import ISchedulingPolicyRef, IServiceEnvironmentRef
    from constructs import Construct

    from constructs_qm.quota_share import QuotaShare
    from quota_scheduler.policy import ResourceSharing

__all__ = ["TrainingJobQueue", "TrainingJobQueueBase", "queue_name", "require_job_queue"]


@jsii.implements(IJobQueueRef)
class TrainingJobQueueBase(QueueGrants, QueueMetrics, QueueEvents):
    """A quota-management job queue, made here or imported.

    Attributes
    ----------
    job_queue_arn, job_queue_name : str
        Tokens for a queue made here.
    service_environment : IServiceEnvironmentRef, optional
        The environment it is connected to; None where an imported queue doesn't say.
    quota_shares : list of QuotaShare
        Its shares in this app.
    time_limits : tuple of JobStateTimeLimit, optional
        Its job state time limits; None for an imported queue.
    """

    job_queue_arn: str
    job_queue_name: str
    service_environment: IServiceEnvironmentRef | None
    quota_shares: list[QuotaShare]
    time_limits: tuple[JobStateTimeLimit, ...] | None

    @property
    def job_queue_ref(self) -> JobQueueReference:
        """What aws-cdk-lib takes wherever it wants a job queue."""
        return JobQueueReference(job_queue_arn=self.job_queue_arn)

    @property
    def known_capacity(self) -> Mapping[str, int] | None:
        """Capacity of its service environment; None where that is unknown until deployment."""
        environment = self.service_environment
        if not isinstance(environment, ServiceEnvironmentBase) or environment.capacity is None:
            return None
        return None if has_token(environment.capacity) else cast("Mapping[str, int]", environment.capacity)

    @property
    def policy(self) -> QuotaPolicy | None:
        """The quota policy the scheduler would execute; None where a part of it isn't known in this app."""
        shares = [share.policy for share in self.quota_shares]
        known = tuple(share for share in shares if share is not None)
        if self.time_limits is None or self.known_capacity is None or len(known) < len(shares):
            return None
        return QuotaPolicy(self.known_capacity, known)

    def add_quota_share(
        self,
        id: str,
        *,
        capacity: Mapping[str, float],
        sharing: ResourceSharing,
        quota_share_name: str | None = None,
        in_share_preemption: bool = False,
        enabled: bool = True,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> QuotaShare:
        """Add a quota share to this queue; see :class:`~constructs_qm.QuotaShare` for the props.

        Parameters
        ----------
        id : str
            Id of the share in the queue, and its name unless `quota_share_name` gives another.
        capacity, sharing, quota_share_name, in_share_preemption, enabled, removal_policy
            As QuotaShare takes them.

        Raises
        ------
        PolicyError
            QM004 where the queue has a share of this id; otherwise as QuotaShare.
        PropError
            The id is that of something else in the queue; otherwise as QuotaShare.
        """
        from constructs_qm.quota_share import QuotaShare

        name = id if quota_share_name is None else quota_share_name
        Props(self, id).name("quota_share_name", name)
        taken = self.node.try_find_child(id)
        if isinstance(taken, QuotaShare):
            message = f"{id} is added twice: quota share names are unique in a job queue"
            raise PolicyError([Finding("QM004", Level.ERROR, message, self.node.path)])
        if taken is not None:
            raise PropError(f"{taken.node.path}: id {id!r} is taken: give another, with quota_share_name={name!r}")
        return QuotaShare(
            self,
            id,
            job_queue=self,
            quota_share_name=name,
            capacity=capacity,
            sharing=sharing,
            in_share_preemption=in_share_preemption,
            enabled=enabled,
            removal_policy=removal_policy,
        )


class OwnedJobQueue(TrainingJobQueueBase):
    """A queue made here, whoever makes what it is connected to.

    Attributes
    ----------
    resource : aws_cdk.aws_batch.CfnJobQueue
        The L1 resource.
    scheduling_policy : ISchedulingPolicyRef
    service_environment : IServiceEnvironmentRef
    """

    resource: batch.CfnJobQueue
    scheduling_policy: ISchedulingPolicyRef

    def _create(
        self,
        scheduling_policy: ISchedulingPolicyRef,
        service_environment: IServiceEnvironmentRef,
        priority: float,
        enabled: bool,
        time_limits: Sequence[JobStateTimeLimit],
        removal_policy: cdk.RemovalPolicy | None,
    ) -> None:
        self.scheduling_policy = scheduling_policy
        self.service_environment = service_environment
        self.time_limits = tuple(time_limits)
        self.quota_shares = []
        self.resource = batch.CfnJobQueue(
            self,
            "Resource",
            job_queue_name=self._physical_name,
            job_queue_type=QUEUE_TYPE,
            priority=priority,
            state=state(enabled),
            scheduling_policy_arn=scheduling_policy,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1,
                    service_environment=service_environment.service_environment_ref.service_environment_arn,
                )
            ],
            job_state_time_limit_actions=[limit.render() for limit in time_limits] or None,
        )
        if removal_policy is not None:
            self.apply_removal_policy(removal_policy)
        arn = self.resource.attr_job_queue_arn
        self.job_queue_arn = self._get_resource_arn_attribute(
            arn, service="batch", resource="job-queue", resource_name=self._physical_name
        )
        self.job_queue_name = self._get_resource_name_attribute(name_at(arn, 1))
        if isinstance(service_environment, ServiceEnvironmentBase):
            service_environment.queues.append(self.node.path)
        if getattr(service_environment, "capacity", None) is None:
            note_unchecked(self, "the capacity of the service environment is not known in this app")
        self.node.add_validation(PolicyChecks(self))


class TrainingJobQueue(OwnedJobQueue):
    """A job queue of type ``SAGEMAKER_TRAINING`` with quota management.

    :class:`~constructs_qm.QuotaManagedQueue` makes its policy and environment as well; use this one
    where those are made elsewhere. 50 queues per account and Region (service_limits).

    Parameters
    ----------
    scope : Construct
    id : str
    scheduling_policy : ISchedulingPolicyRef
        A quota share policy: made here, imported, or an L1 ``CfnSchedulingPolicy``. The service refuses to
        change its kind.
    service_environment : IServiceEnvironmentRef
        Connected to no other quota-management queue (QM007): made here, imported, or an L1
        ``CfnServiceEnvironment``.
    job_queue_name : str, optional
        1 to 128 characters of ``A-Z a-z 0-9 - _``; made up by CloudFormation by default, which is better
        wherever the queue may have to be replaced. A change **replaces** the queue and its shares.
    priority : int
        0 to 1000. Changes in place.
    enabled : bool
        Whether it takes jobs (``state``). Changes in place.
    time_limits : sequence of JobStateTimeLimit
        What ends jobs that stay RUNNABLE; by default those that can never run, after an hour
        (:data:`~constructs_qm.time_limits.MISCONFIGURATION_LIMITS`), and ``()`` for none. Changes in place.
    removal_policy : aws_cdk.RemovalPolicy, optional
        What becomes of it when it leaves the stack; CloudFormation's default is to delete it.

    Raises
    ------
    PolicyError
        QM001; QM007 for a policy of another kind or an environment with a queue.
    PropError
        A priority outside 0 to 1000, or a prop of the wrong type.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scheduling_policy: ISchedulingPolicyRef,
        service_environment: IServiceEnvironmentRef,
        job_queue_name: str | None = None,
        priority: float = 1,
        enabled: bool = True,
        time_limits: Sequence[JobStateTimeLimit] = MISCONFIGURATION_LIMITS,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        props = Props(scope, id)
        require_scheduling_policy(props, scheduling_policy)
        require_free_environment(props, service_environment)
        require_queue_props(props, job_queue_name, priority, enabled, time_limits, removal_policy)
        super().__init__(scope, id, physical_name=job_queue_name)
        note_tokens(self, "job_queue_name", job_queue_name)
        self._create(scheduling_policy, service_environment, priority, enabled, time_limits, removal_policy)

    @classmethod
    def from_training_job_queue_arn(cls, scope: Construct, id: str, job_queue_arn: str) -> TrainingJobQueueBase:
        """Import a queue by its ARN; rules over its whole policy are left to whoever owns it.

        Parameters
        ----------
        scope : Construct
        id : str
        job_queue_arn : str
            ``arn:…:job-queue/NAME``; may be a token.

        Raises
        ------
        PropError
            Not the ARN of a job queue.
        """
        return _Imported(scope, id, job_queue_arn, None)

    @classmethod
    def from_training_job_queue_attributes(
        cls, scope: Construct, id: str, *, job_queue_arn: str, service_environment: IServiceEnvironmentRef
    ) -> TrainingJobQueueBase:
        """Import a queue with its environment, so that shares added here are checked against its capacity.

        Parameters
        ----------
        scope : Construct
        id : str
        job_queue_arn : str
            ``arn:…:job-queue/NAME``; may be a token.
        service_environment : IServiceEnvironmentRef
            Ours, the CDK's or imported; with a known capacity, shares are checked against it.

        Raises
        ------
        PropError
            Not the ARN of a job queue, or not a service environment.
        """
        require_environment(Props(scope, id), service_environment)
        return _Imported(scope, id, job_queue_arn, service_environment)


class _Imported(TrainingJobQueueBase):
    def __init__(self, scope: Construct, id: str, arn: str, service_environment: IServiceEnvironmentRef | None) -> None:
        require_arn(Props(scope, id), arn, "job-queue/NAME")
        super().__init__(scope, id, environment_from_arn=arn)
        self.job_queue_arn = arn
        self.job_queue_name = name_at(arn, 1)
        self.service_environment = service_environment
        self.quota_shares = []
        self.time_limits = None
        self.node.add_validation(PolicyChecks(self))


def queue_name(job_queue: IJobQueueRef) -> str:
    """Return the name of any queue, L1 ones included."""
    if isinstance(job_queue, TrainingJobQueueBase):
        return job_queue.job_queue_name
    return name_at(job_queue.job_queue_ref.job_queue_arn, 1)


def require_job_queue(props: Props, job_queue: object) -> None:
    """Raise PropError for what isn't a job queue, and QM007 for a queue of a type without quota shares."""
    if not hasattr(job_queue, "job_queue_ref"):
        raise PropError(
            f"{props.path}.job_queue: {job_queue!r} is not a job queue: "
            "give one, or import it with TrainingJobQueue.from_training_job_queue_arn"
        )
    if isinstance(job_queue, batch.CfnJobQueue) and not is_token(job_queue.job_queue_type):
        props.refuse(check_queue_type(job_queue.job_queue_type), "job_queue")
    elif isinstance(job_queue, batch.JobQueue):
        props.refuse(check_queue_type("aws_batch.JobQueue"), "job_queue")


def require_scheduling_policy(props: Props, scheduling_policy: object, prop: str = "scheduling_policy") -> None:
    """Raise PropError for what isn't a scheduling policy, and QM007 for one of another kind."""
    if not hasattr(scheduling_policy, "scheduling_policy_ref"):
        raise PropError(
            f"{props.path}.{prop}: {scheduling_policy!r} is not a scheduling policy: "
            "give one, or import it with QuotaSharePolicy.from_quota_share_policy_arn"
        )
    fair_share = isinstance(scheduling_policy, batch.FairshareSchedulingPolicy) or (
        isinstance(scheduling_policy, batch.CfnSchedulingPolicy) and not scheduling_policy.quota_share_policy
    )
    props.refuse(check_policy_kind(not fair_share), prop)


def require_environment(props: Props, service_environment: object, prop: str = "service_environment") -> None:
    """Raise PropError for what isn't a service environment."""
    if not hasattr(service_environment, "service_environment_ref"):
        raise PropError(
            f"{props.path}.{prop}: {service_environment!r} is not a service environment: "
            "give one, or import it with ServiceEnvironment.from_service_environment_arn"
        )


def require_free_environment(props: Props, service_environment: object, prop: str = "service_environment") -> None:
    """Raise PropError for what isn't a service environment, and QM007 for one that has a queue already."""
    require_environment(props, service_environment, prop)
    if isinstance(service_environment, ServiceEnvironmentBase):
        queues = [*service_environment.queues, props.path]
        props.refuse(check_environment_queues(queues), prop)


def require_queue_props(
    props: Props,
    job_queue_name: object,
    priority: object,
    enabled: object,
    time_limits: Sequence[JobStateTimeLimit],
    removal_policy: object,
) -> None:
    """Check the props that a queue has whoever makes its policy and environment."""
    props.optional_name("job_queue_name", job_queue_name)
    for message in () if is_token(priority) else check_queue_priority(priority):
        raise PropError(f"{props.path}.priority: {message}")
    props.flag("enabled", enabled)
    hint = "a list of time limits such as QuotaManagementLimitExceeded(Duration.hours(1)), or () for none"
    props.require("time_limits", time_limits, Iterable, hint)
    for limit in time_limits:
        props.require("time_limits", limit, JobStateTimeLimit, hint)
    props.removal_policy(removal_policy)
