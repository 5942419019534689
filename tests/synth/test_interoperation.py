"""Ours where aws-cdk-lib takes a reference, and its own objects where we take one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam

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
LEND = ResourceSharing.lend()
ARN = "arn:aws:batch:us-east-1:123456789012"
Render = Any


@pytest.fixture
def queue(stack: cdk.Stack) -> QuotaManagedQueue:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1})
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    return queue


class TestOursWhereTheirsAreTaken:
    def test_references(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        (share,) = queue.quota_shares
        policy, environment = queue.scheduling_policy, queue.service_environment
        assert environment is not None
        arns = {
            batch.CfnJobQueue.arn_for_job_queue(queue): queue.job_queue_arn,
            batch.CfnQuotaShare.arn_for_quota_share(share): share.quota_share_arn,
            batch.CfnSchedulingPolicy.arn_for_scheduling_policy(
                policy
            ): policy.scheduling_policy_ref.scheduling_policy_arn,
            batch.CfnServiceEnvironment.arn_for_service_environment(
                environment
            ): environment.service_environment_ref.service_environment_arn,
        }
        assert [stack.resolve(arn) for arn in arns] == [stack.resolve(arn) for arn in arns.values()]

    @pytest.mark.parametrize("imported", [True, False])
    def test_policy_as_l1_prop(
        self, stack: cdk.Stack, imported: bool, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        arn = f"{ARN}:scheduling-policy/fifo"
        policy = (
            QuotaSharePolicy.from_quota_share_policy_arn(stack, "Policy", arn)
            if imported
            else QuotaSharePolicy(stack, "Policy")
        )
        batch.CfnJobQueue(stack, "Queue", priority=1, scheduling_policy_arn=policy)
        rendered = render(stack)["Queue"]["Properties"]["SchedulingPolicyArn"]
        assert rendered == (arn if imported else {"Fn::GetAtt": ["Policy23B91518", "Arn"]})

    def test_default_child_is_the_l1(self, queue: QuotaManagedQueue) -> None:
        (share,) = queue.quota_shares
        assert isinstance(queue.node.default_child, batch.CfnJobQueue)
        assert isinstance(share.node.default_child, batch.CfnQuotaShare)
        assert share.resource is share.node.default_child


class TestTheirsWhereOursAreTaken:
    def test_l1_policy_environment_and_queue(
        self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        policy = batch.CfnSchedulingPolicy(
            stack, "Policy", quota_share_policy={"idleResourceAssignmentStrategy": "FIFO"}
        )
        environment = batch.CfnServiceEnvironment(
            stack,
            "Environment",
            service_environment_type="SAGEMAKER_TRAINING",
            capacity_limits=[{"capacityUnit": G5, "maxCapacity": 1}],
        )
        TrainingJobQueue(stack, "Queue", scheduling_policy=policy, service_environment=environment)
        l1_queue = batch.CfnJobQueue(stack, "L1Queue", priority=1, job_queue_type="SAGEMAKER_TRAINING")
        QuotaShare(stack, "Share", job_queue=l1_queue, quota_share_name="vision", capacity={G5: 1}, sharing=LEND)
        resources = render(stack)
        (queue,) = (r for id, r in resources.items() if id.startswith("Queue"))
        (share,) = (r for id, r in resources.items() if id.startswith("Share"))
        assert resources.keys() >= {"Policy", "Environment", "L1Queue"}
        assert _target(queue["Properties"]["SchedulingPolicyArn"]) == "Policy"
        order = queue["Properties"]["ServiceEnvironmentOrder"][0]
        assert _target(order["ServiceEnvironment"]) == "Environment"
        assert _target(share["Properties"]["JobQueue"]) == "L1Queue"

    def test_imported_l2_policy(self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
        """What its kind is can't be told from an ARN, so it is taken."""
        arn = f"{ARN}:scheduling-policy/fifo"
        policy = batch.FairshareSchedulingPolicy.from_fairshare_scheduling_policy_arn(stack, "Policy", arn)
        QuotaManagedQueue(stack, "Training", capacity={G5: 1}, existing_policy=policy)
        (queue,) = (r for r in render(stack).values() if r["Type"] == "AWS::Batch::JobQueue")
        assert queue["Properties"]["SchedulingPolicyArn"] == arn


def _target(reference: dict[str, Any]) -> Any:
    """The logical id that a Ref or a Fn::GetAtt names."""
    return reference.get("Ref") or reference["Fn::GetAtt"][0]


class TestImporters:
    def test_policy(self, stack: cdk.Stack) -> None:
        by_arn = QuotaSharePolicy.from_quota_share_policy_arn(stack, "A", f"{ARN}:scheduling-policy/fifo")
        assert (by_arn.scheduling_policy_name, by_arn.env.region) == ("fifo", "us-east-1")
        by_name = QuotaSharePolicy.from_quota_share_policy_attributes(stack, "B", scheduling_policy_name="fifo")
        assert by_name.scheduling_policy_name == "fifo"
        assert "scheduling-policy/fifo" in str(stack.resolve(by_name.scheduling_policy_arn))

    def test_environment(self, stack: cdk.Stack) -> None:
        arn = f"{ARN}:service-environment/gpus"
        by_arn = ServiceEnvironment.from_service_environment_arn(stack, "A", arn)
        assert (by_arn.service_environment_name, by_arn.capacity) == ("gpus", None)
        with_capacity = ServiceEnvironment.from_service_environment_attributes(
            stack, "B", service_environment_arn=arn, capacity={G5: 1}
        )
        assert with_capacity.capacity == {G5: 1}

    def test_queue_and_share(self, stack: cdk.Stack) -> None:
        queue = TrainingJobQueue.from_training_job_queue_arn(stack, "A", f"{ARN}:job-queue/training")
        assert (queue.job_queue_name, queue.env.account) == ("training", "123456789012")
        by_arn = QuotaShare.from_quota_share_arn(stack, "B", f"{ARN}:job-queue/training/quota-share/vision")
        by_name = QuotaShare.from_quota_share_attributes(stack, "C", quota_share_name="vision", job_queue=queue)
        for share in (by_arn, by_name):
            assert share.quota_share_name == "vision"
            assert share.job_queue_arn == queue.job_queue_arn
            assert share.quota_share_arn == f"{ARN}:job-queue/training/quota-share/vision"

    def test_importing_renders_nothing(self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
        self.test_queue_and_share(stack)
        assert render(stack) == {}


def test_l1_training_role(stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Share", f"{ARN}:job-queue/training/quota-share/vision")
    role = iam.CfnRole(stack, "Training", assume_role_policy_document={})
    share.grant_submit(iam.Role(stack, "Team", assumed_by=iam.AccountRootPrincipal()), training_role=role)
    (policy,) = (r for r in render(stack).values() if r["Type"] == "AWS::IAM::Policy")
    (statement,) = (s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s["Action"] == "iam:PassRole")
    assert _target(statement["Resource"]) == "Training"


class TestSettings:
    """Tags, removal, states: what an L2 is expected to carry through."""

    def test_tags_reach_every_resource(
        self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        cdk.Tags.of(queue).add("team", "platform")
        assert {str(r["Properties"]["Tags"]) for r in render(stack).values()} == {"{'team': 'platform'}"}

    def test_removal_policy(self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
        retain = cdk.RemovalPolicy.RETAIN
        queue = QuotaManagedQueue(stack, "Training", capacity={G5: 2}, removal_policy=retain)
        queue.add_quota_share("kept", capacity={G5: 1}, sharing=LEND, removal_policy=retain)
        queue.add_quota_share("gone", capacity={G5: 1}, sharing=LEND)
        policies = {id[:12]: r.get("DeletionPolicy") for id, r in render(stack).items()}
        assert policies == {
            "TrainingSche": "Retain",
            "TrainingServ": "Retain",
            "Training1DBE": "Retain",
            "Trainingkept": "Retain",
            "Traininggone": None,
        }

    def test_disabled(self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
        environment = ServiceEnvironment(stack, "Environment", capacity={G5: 1}, enabled=False)
        queue = QuotaManagedQueue(stack, "Training", existing_environment=environment, enabled=False)
        queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND, enabled=False)
        states = [r["Properties"]["State"] for r in render(stack).values() if "State" in r["Properties"]]
        assert states == ["DISABLED"] * 3

    def test_existing_policy_and_environment_are_used(
        self, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        environment = ServiceEnvironment(stack, "Environment", capacity={G5: 1})
        policy = QuotaSharePolicy(stack, "Policy")
        queue = QuotaManagedQueue(
            stack, "Training", existing_environment=environment, existing_policy=policy, priority=7
        )
        assert (queue.service_environment, queue.scheduling_policy) == (environment, policy)
        kinds = sorted(r["Type"].split("::")[-1] for r in render(stack).values())
        assert kinds == ["JobQueue", "SchedulingPolicy", "ServiceEnvironment"]

    def test_policy_value_is_what_the_scheduler_takes(self, queue: QuotaManagedQueue) -> None:
        from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

        assert queue.policy == QuotaPolicy({G5: 1}, (QuotaShare("vision", {G5: 1}, ResourceSharing.lend()),))
