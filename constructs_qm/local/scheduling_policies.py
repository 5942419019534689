"""Scheduling policies: CreateSchedulingPolicy and its kin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructs_qm.local.errors import ClientException
from constructs_qm.local.lifecycle import Resource
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.paging import page
from constructs_qm.local.rules import require_name

if TYPE_CHECKING:
    from constructs_qm.local.state import BatchState

__all__ = ["SchedulingPolicy"]

KINDS = ("quotaSharePolicy", "fairsharePolicy")


@dataclass(eq=False, kw_only=True)
class SchedulingPolicy(Resource):
    """A scheduling policy; its kind never changes."""

    name: str
    kind: str
    details: dict[str, Any]

    def describe(self) -> Answer:
        """Return it as DescribeSchedulingPolicies does."""
        return {"name": self.name, "arn": self.arn, self.kind: self.details, "tags": self.tags}


@operation("CreateSchedulingPolicy")
def _create(state: BatchState, request: Request) -> Answer:
    name = require_name(request["name"], "scheduling policy name")
    kind = _kind(request) or "fairsharePolicy"
    arn = state.arns.batch("scheduling-policy", name)
    if arn in state.policies:
        raise ClientException("Object already exists")
    state.policies[arn] = SchedulingPolicy(
        arn=arn,
        sequence=state.next_sequence(),
        tags=request.get("tags", {}),
        name=name,
        kind=kind,
        details=request.get(kind, {}),
    )
    return {"name": name, "arn": arn}


@operation("UpdateSchedulingPolicy")
def _update(state: BatchState, request: Request) -> Answer:
    policy = state.policy(request["arn"])
    kind = _kind(request)
    if kind is not None and kind != policy.kind:
        raise ClientException(f"Scheduling policy {policy.name} has a {policy.kind}: its kind can't be changed")
    if kind is not None:
        policy.details = request[kind]
    return {}


@operation("DeleteSchedulingPolicy")
def _delete(state: BatchState, request: Request) -> Answer:
    policy = state.policy(request["arn"])
    users = [queue.name for queue in state.queues.values() if queue.policy is policy]
    users += [
        queue["jobQueueName"] for queue in state.container_queues() if queue.get("schedulingPolicyArn") == policy.arn
    ]
    if users:
        raise ClientException(
            f"Scheduling policy {policy.name} is in use by job queue {users[0]}: delete the queue first"
        )
    del state.policies[policy.arn]
    return {}


@operation("DescribeSchedulingPolicies")
def _describe(state: BatchState, request: Request) -> Answer:
    if len(request["arns"]) > 100:
        raise ClientException(f"{len(request['arns'])} arns given: give at most 100")
    found = (state.policies.get(arn) for arn in request["arns"])
    return {"schedulingPolicies": [policy.describe() for policy in found if policy is not None]}


@operation("ListSchedulingPolicies")
def _list(state: BatchState, request: Request) -> Answer:
    items = ((policy.sequence, {"arn": policy.arn}) for policy in state.policies.values())
    policies, token = page("scheduling-policies", items, request)
    return {"schedulingPolicies": policies, **token}


def _kind(request: Request) -> str | None:
    """Return the kind of policy the request speaks of."""
    kinds = [kind for kind in KINDS if kind in request]
    if len(kinds) > 1:
        raise ClientException("Only one of quotaSharePolicy and fairsharePolicy can be specified")
    return kinds[0] if kinds else None
