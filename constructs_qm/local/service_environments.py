"""Service environments: CreateServiceEnvironment and its kin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constructs_qm.local.errors import ClientException
from constructs_qm.local.lifecycle import Resource, begin, require_disabled, require_settled
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.paging import page
from constructs_qm.local.rules import read_limits, require_name

if TYPE_CHECKING:
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState

__all__ = ["ServiceEnvironment"]

MAX_ENVIRONMENTS = 50
"""Of one account and Region (service_limits)."""


@dataclass(eq=False, kw_only=True)
class ServiceEnvironment(Resource):
    """A service environment: how many instances of each type there are."""

    name: str
    kind: str
    state: str
    limits: dict[str, int]

    def describe(self) -> Answer:
        """Return it as DescribeServiceEnvironments does."""
        return {
            "serviceEnvironmentName": self.name,
            "serviceEnvironmentArn": self.arn,
            "serviceEnvironmentType": self.kind,
            "state": self.state,
            "status": self.status,
            "capacityLimits": [{"maxCapacity": most, "capacityUnit": unit} for unit, most in self.limits.items()],
            "tags": self.tags,
        }

    def ids(self) -> Answer:
        """Return what the operations that change it answer."""
        return {"serviceEnvironmentName": self.name, "serviceEnvironmentArn": self.arn}


@operation("CreateServiceEnvironment")
def _create(state: BatchState, request: Request) -> Answer:
    name = require_name(request["serviceEnvironmentName"], "service environment name")
    limits = read_limits(request["capacityLimits"])
    if name in state.environments:
        raise ClientException("Object already exists")
    if len(state.environments) >= MAX_ENVIRONMENTS:
        raise ClientException(f"There are {MAX_ENVIRONMENTS} service environments already: delete one first")
    environment = ServiceEnvironment(
        arn=state.arns.batch("service-environment", name),
        sequence=state.next_sequence(),
        tags=request.get("tags", {}),
        name=name,
        kind=request["serviceEnvironmentType"],
        state=request.get("state", "ENABLED"),
        limits=limits,
    )
    state.environments[name] = environment
    begin(state, environment, "CREATING")
    return environment.ids()


@operation("UpdateServiceEnvironment")
def _update(state: BatchState, request: Request) -> Answer:
    environment = state.environment(request["serviceEnvironment"])
    require_settled(environment, f"Service environment {environment.name}")
    limits = read_limits(request["capacityLimits"]) if "capacityLimits" in request else environment.limits
    queue = queue_of(state, environment)
    if queue is not None:
        queue.scheduler.set_policy(replace(queue.policy_in_force(), environment=limits))
    environment.limits = limits
    environment.state = request.get("state", environment.state)
    if queue is not None:
        queue.heed_environment()
    begin(state, environment, "UPDATING")
    return environment.ids()


@operation("DeleteServiceEnvironment")
def _delete(state: BatchState, request: Request) -> Answer:
    environment = state.environment(request["serviceEnvironment"])
    what = f"Service environment {environment.name}"
    require_settled(environment, what)
    require_disabled(environment.state, what)
    queue = queue_of(state, environment)
    if queue is not None:
        raise ClientException(f"{what} has a relationship with job queue {queue.name}: delete the queue first")
    begin(state, environment, "DELETING", lambda: _forget(state, environment))
    return {}


def _forget(state: BatchState, environment: ServiceEnvironment) -> None:
    del state.environments[environment.name]


@operation("DescribeServiceEnvironments")
def _describe(state: BatchState, request: Request) -> Answer:
    wanted = request.get("serviceEnvironments")
    items = (
        (environment.sequence, environment.describe())
        for environment in state.environments.values()
        if not wanted or environment.name in wanted or environment.arn in wanted
    )
    environments, token = page("service-environments", items, request)
    return {"serviceEnvironments": environments, **token}


def queue_of(state: BatchState, environment: ServiceEnvironment) -> JobQueue | None:
    """Return the queue an environment is connected to, or None."""
    return next((queue for queue in state.queues.values() if queue.environment is environment), None)
