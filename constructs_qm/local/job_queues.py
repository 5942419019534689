"""Job queues of type SAGEMAKER_TRAINING with quota management: CreateJobQueue and its kin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from constructs_qm.local.errors import ClientException
from constructs_qm.local.lifecycle import Resource, begin, require_disabled, require_settled
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.paging import page
from constructs_qm.local.rules import refuse, require_name
from constructs_qm.local.service_environments import ServiceEnvironment, queue_of
from quota_scheduler import QuotaPolicy, Scheduler, TimeLimit
from quota_scheduler.time_limits import check_time_limit

if TYPE_CHECKING:
    from constructs_qm.local.quota_shares import Share
    from constructs_qm.local.scheduling_policies import SchedulingPolicy
    from constructs_qm.local.state import BatchState

__all__ = ["JobQueue"]

MAX_QUEUES = 50
"""Of one account and Region (service_limits)."""

MAX_PRIORITY = 1000
KIND = "SAGEMAKER_TRAINING"


@dataclass(eq=False, kw_only=True)
class JobQueue(Resource):
    """A quota-management queue.

    Attributes
    ----------
    shares : dict of str to Share
        By name.
    scheduler : Scheduler
        Decides which of its jobs run.
    """

    name: str
    state: str
    priority: int
    policy: SchedulingPolicy
    environment: ServiceEnvironment
    order: int
    time_limits: list[dict[str, Any]]
    scheduler: Scheduler
    shares: dict[str, Share] = field(default_factory=dict)

    def policy_in_force(self) -> QuotaPolicy:
        """Return the quota policy its scheduler has to follow."""
        values = (share.value for share in self.shares.values() if share.status != "CREATING")
        return QuotaPolicy(self.environment.limits, tuple(values))

    def heed_environment(self, paused: bool = False) -> None:
        """Start no jobs while the environment is DISABLED (update-service-environments), or `paused`."""
        self.scheduler.paused = paused or self.environment.state == "DISABLED"

    def describe(self) -> Answer:
        """Return it as DescribeJobQueues does."""
        reason = {"statusReason": "JobQueue Healthy"} if self.status == "VALID" else {}
        return {
            "jobQueueName": self.name,
            "jobQueueArn": self.arn,
            "state": self.state,
            "schedulingPolicyArn": self.policy.arn,
            "status": self.status,
            **reason,
            "priority": self.priority,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": self.order, "serviceEnvironment": self.environment.arn}],
            "jobQueueType": KIND,
            "tags": self.tags,
            "jobStateTimeLimitActions": self.time_limits,
        }

    def ids(self) -> Answer:
        """Return what the operations that change it answer."""
        return {"jobQueueName": self.name, "jobQueueArn": self.arn}


@operation("CreateJobQueue")
def _create(state: BatchState, request: Request) -> Answer:
    name = require_name(request["jobQueueName"], "job queue name")
    if request.get("jobQueueType", KIND) != KIND:
        raise ClientException(f"jobQueueType {request['jobQueueType']} doesn't take service environments")
    if request.get("computeEnvironmentOrder"):
        raise ClientException("A job queue can't have both compute environments and service environments")
    if name in state.queues or state.is_container_queue(name):
        raise ClientException("Object already exists")
    if len(state.queues) >= MAX_QUEUES:
        raise ClientException(f"There are {MAX_QUEUES} job queues already: delete one first")
    _check_priority(request["priority"])
    if "schedulingPolicyArn" not in request:
        raise ClientException("schedulingPolicyArn is required: name a scheduling policy with quotaSharePolicy")
    policy = _quota_policy(state, request["schedulingPolicyArn"])
    order, environment = _environment(state, request.get("serviceEnvironmentOrder", []))
    limits = _read_time_limits(request.get("jobStateTimeLimitActions", []))
    scheduler = Scheduler(
        QuotaPolicy(environment.limits),
        assumptions=state.settings.assumptions,
        preemption_seconds=state.settings.preemption_seconds,
        time_limits=limits,
    )
    queue = JobQueue(
        arn=state.arns.batch("job-queue", name),
        sequence=state.next_sequence(),
        tags=request.get("tags", {}),
        name=name,
        state=request.get("state", "ENABLED"),
        priority=request["priority"],
        policy=policy,
        environment=environment,
        order=order,
        time_limits=request.get("jobStateTimeLimitActions", []),
        scheduler=scheduler,
    )
    queue.heed_environment()
    state.queues[name] = queue
    begin(state, queue, "CREATING")
    return queue.ids()


@operation("UpdateJobQueue")
def _update(state: BatchState, request: Request) -> Answer:
    queue = state.queue(request["jobQueue"])
    require_settled(queue, f"Job queue {queue.name}")
    if request.get("computeEnvironmentOrder"):
        raise ClientException("A job queue can't have both compute environments and service environments")
    priority = request.get("priority", queue.priority)
    _check_priority(priority)
    policy = _quota_policy(state, request.get("schedulingPolicyArn", queue.policy.arn))
    order, environment = queue.order, queue.environment
    actions = request.get("jobStateTimeLimitActions", queue.time_limits)
    limits = _read_time_limits(actions)
    if "serviceEnvironmentOrder" in request:
        order, environment = _environment(state, request["serviceEnvironmentOrder"], queue)
        queue.scheduler.set_policy(replace(queue.policy_in_force(), environment=environment.limits))
    queue.scheduler.time_limits = limits
    queue.priority, queue.policy, queue.time_limits = priority, policy, actions
    queue.order, queue.environment = order, environment
    queue.state = request.get("state", queue.state)
    queue.heed_environment()
    begin(state, queue, "UPDATING")
    return queue.ids()


@operation("DeleteJobQueue")
def _delete(state: BatchState, request: Request) -> Answer:
    queue = state.queue(request["jobQueue"])
    what = f"Job queue {queue.name}"
    require_settled(queue, what)
    require_disabled(queue.state, what)
    if queue.shares:
        name = next(iter(queue.shares))
        raise ClientException(f"{what} has a relationship with quota share {name}: delete the share first")
    begin(state, queue, "DELETING", lambda: _forget(state, queue))
    return {}


def _forget(state: BatchState, queue: JobQueue) -> None:
    del state.queues[queue.name]


@operation("DescribeJobQueues")
def _describe(state: BatchState, request: Request) -> Answer:
    wanted = request.get("jobQueues")
    every = [(queue.sequence, queue.describe()) for queue in state.queues.values()]
    # container queues come after ours, in the order their owner gives them
    first = max((sequence for sequence, _ in every), default=0) + 1
    every += list(enumerate(state.container_queues(), first))
    items = (
        (sequence, queue)
        for sequence, queue in every
        if not wanted or queue["jobQueueName"] in wanted or queue["jobQueueArn"] in wanted
    )
    queues, token = page("job-queues", items, request)
    return {"jobQueues": queues, **token}


def _check_priority(priority: int) -> None:
    if not 0 <= priority <= MAX_PRIORITY:
        raise ClientException(f"priority {priority} is not allowed: use 0 to {MAX_PRIORITY}")


def _quota_policy(state: BatchState, arn: str) -> SchedulingPolicy:
    policy = state.policy(arn)
    if policy.kind != "quotaSharePolicy":
        raise ClientException(
            f"Scheduling policy {policy.name} has no quotaSharePolicy: "
            "only job queues with quota management are emulated, use a policy with one"
        )
    return policy


def _environment(
    state: BatchState, order: list[dict[str, Any]], queue: JobQueue | None = None
) -> tuple[int, ServiceEnvironment]:
    """Return the one entry of a ``serviceEnvironmentOrder``."""
    if len(order) != 1:
        raise ClientException(f"{len(order)} service environments given: a quota management queue has exactly one")
    environment = state.environment(order[0]["serviceEnvironment"])
    require_settled(environment, f"Service environment {environment.name}")
    user = queue_of(state, environment)
    if user is not None and user is not queue:
        raise ClientException(
            f"Service environment {environment.name} is connected to job queue {user.name} already: "
            "it may be connected to one queue with quota management only"
        )
    return order[0]["order"], environment


def _read_time_limits(actions: list[dict[str, Any]]) -> tuple[TimeLimit, ...]:
    for action in actions:
        refuse(check_time_limit(action["reason"], action["maxTimeSeconds"], action["action"], action["state"]))
    return tuple(TimeLimit(action["reason"], action["maxTimeSeconds"]) for action in actions)
