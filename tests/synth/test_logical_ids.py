"""Logical ids are a contract: one that changes replaces the resource and terminates its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from constructs_qm import (
    QuotaManagedQueue,
    QuotaShare,
    QuotaSharePolicy,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)

if TYPE_CHECKING:
    from collections.abc import Callable

G5 = "ml.g5.xlarge"

# Never edit these: released stacks hold resources under them.
QUEUE = {
    "TrainingSchedulingPolicy712A2029": "AWS::Batch::SchedulingPolicy",
    "TrainingServiceEnvironment319FDE5B": "AWS::Batch::ServiceEnvironment",
    "Training1DBE9C16": "AWS::Batch::JobQueue",
}
SHARES = {
    "vision": "Trainingvision1CFCC01A",
    "speech": "Trainingspeech5A1BEF0F",
    "release": "Trainingrelease7E5CD466",
}


def ids(shares: list[str], render: Callable[[cdk.Stack], dict[str, Any]]) -> dict[str, str]:
    stack = cdk.Stack(cdk.App(), "Stack")
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    for share in shares:
        queue.add_quota_share(share, capacity={G5: 1}, sharing=ResourceSharing.lend())
    return {id: resource["Type"] for id, resource in render(stack).items()}


def test_adding_and_removing_shares_leaves_the_others(render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    for shares in (["vision"], ["speech", "vision"], ["release", "speech"], ["vision", "speech", "release"]):
        expected = QUEUE | {SHARES[share]: "AWS::Batch::QuotaShare" for share in shares}
        assert ids(shares, render) == expected


def test_constructs_alone(stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    queue = TrainingJobQueue(
        stack,
        "Queue",
        scheduling_policy=QuotaSharePolicy(stack, "Policy"),
        service_environment=ServiceEnvironment(stack, "Environment", capacity={G5: 1}),
    )
    share: dict[str, Any] = {"job_queue": queue, "capacity": {G5: 1}, "sharing": ResourceSharing.lend()}
    QuotaShare(stack, "Vision", quota_share_name="vision", **share)
    assert {id: resource["Type"] for id, resource in render(stack).items()} == {
        "Policy23B91518": "AWS::Batch::SchedulingPolicy",
        "Environment78414C64": "AWS::Batch::ServiceEnvironment",
        "Queue4A7E3555": "AWS::Batch::JobQueue",
        "Vision1E2F0FB9": "AWS::Batch::QuotaShare",
    }
