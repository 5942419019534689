"""Values that can't be legal never reach the construct tree, and the message is enough to mend them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch

from constructs_qm import (
    InsufficientInstanceCapacity,
    JobStateTimeLimit,
    PolicyError,
    PropError,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    QuotaShare,
    QuotaSharePolicy,
    ResourceSharing,
    ServiceEnvironment,
    SharingStrategy,
    TrainingJobQueue,
)

if TYPE_CHECKING:
    from collections.abc import Callable

G5 = "ml.g5.xlarge"
LONG = "x" * 129
SHARE_ARN = "arn:aws:batch:us-east-1:123456789012:job-queue/Q/quota-share/S"


def share(stack: cdk.Stack, **props: Any) -> QuotaShare:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    defaults: dict[str, Any] = {"capacity": {G5: 1}, "sharing": ResourceSharing.lend()}
    return queue.add_quota_share("QS1", **{**defaults, **props})


def environment(stack: cdk.Stack, **props: Any) -> ServiceEnvironment:
    return ServiceEnvironment(stack, "Environment", **{"capacity": {G5: 1}, **props})


def queue(stack: cdk.Stack, **props: Any) -> QuotaManagedQueue:
    return QuotaManagedQueue(stack, "Training", **{"capacity": {G5: 1}, **props})


def policy(stack: cdk.Stack, **props: Any) -> QuotaSharePolicy:
    return QuotaSharePolicy(stack, "Policy", **props)


IN_SHARE, IN_ENVIRONMENT, IN_QUEUE = "Stack/Training/QS1", "Stack/Environment", "Stack/Training"

ILLEGAL: list[tuple[Callable[..., object], dict[str, Any], tuple[str, ...]]] = [
    (share, {"quota_share_name": ""}, (IN_SHARE, "''", "1 to 128 characters", "QM001")),
    (share, {"quota_share_name": LONG}, (IN_SHARE, "xxx", "1 to 128 characters", "QM001")),
    (share, {"quota_share_name": "a b"}, (IN_SHARE, "'a b'", "A-Z a-z 0-9 - _", "QM001")),
    (share, {"capacity": {}}, (IN_SHARE, "0 capacity limits", "1 to 5", "QM002")),
    (share, {"capacity": {f"ml.p{n}.large": 1 for n in range(6)}}, (IN_SHARE, "6 capacity limits", "QM002")),
    (share, {"capacity": {G5: 0}}, (IN_SHARE, "capacity 0", "at least 1", "QM002")),
    (share, {"capacity": {G5: -1}}, (IN_SHARE, "capacity -1", "QM002")),
    (share, {"capacity": {G5: 1.5}}, (IN_SHARE, "capacity 1.5", "whole number", "QM002")),
    (share, {"capacity": {G5: True}}, (IN_SHARE, "capacity True", "whole number", "QM002")),
    (share, {"capacity": {G5: "2"}}, (IN_SHARE, "capacity '2'", "whole number", "QM002")),
    (share, {"capacity": {G5: None}}, (IN_SHARE, "capacity None", "whole number", "QM002")),
    (share, {"capacity": {G5: float("nan")}}, (IN_SHARE, "capacity nan", "whole number", "QM002")),
    (share, {"capacity": 3}, (IN_SHARE, "3", "map of", "QM002")),
    (share, {"capacity": {"NUM_INSTANCES": 1}}, (IN_SHARE, "NUM_INSTANCES", G5, "QM003")),
    (share, {"capacity": {"g5.xlarge": 1}}, (IN_SHARE, "'g5.xlarge'", G5, "QM003")),
    (share, {"capacity": {7: 1}}, (IN_SHARE, "7", G5, "QM003")),
    (environment, {"capacity": {G5: 1.5}}, (IN_ENVIRONMENT, "capacity 1.5", "whole number", "QM002")),
    (environment, {"service_environment_name": "a/b"}, (IN_ENVIRONMENT, "'a/b'", "QM001")),
    (queue, {"capacity": {G5: True}}, (IN_QUEUE, "capacity True", "QM002")),
    (queue, {"job_queue_name": "a.b"}, (IN_QUEUE, "'a.b'", "QM001")),
    (queue, {"service_environment_name": 7}, (IN_QUEUE, "7", "QM001")),
    (queue, {"scheduling_policy_name": LONG}, (IN_QUEUE, "xxx", "QM001")),
    (policy, {"scheduling_policy_name": "ä"}, ("Stack/Policy", "'ä'", "QM001")),
]

WRONG_TYPE: list[tuple[Callable[..., object], dict[str, Any], tuple[str, ...]]] = [
    (share, {"sharing": "LEND"}, (f"{IN_SHARE}.sharing", "'LEND'", "ResourceSharing.lend()")),
    (share, {"in_share_preemption": "ENABLED"}, (f"{IN_SHARE}.in_share_preemption", "True or False")),
    (share, {"enabled": 1}, (f"{IN_SHARE}.enabled", "True or False")),
    (share, {"removal_policy": "retain"}, (f"{IN_SHARE}.removal_policy", "aws_cdk.RemovalPolicy")),
    (environment, {"enabled": None}, (f"{IN_ENVIRONMENT}.enabled", "True or False")),
    (queue, {"priority": 1001}, (f"{IN_QUEUE}.priority", "1001", "0 to 1000")),
    (queue, {"priority": -1}, (f"{IN_QUEUE}.priority", "-1", "0 to 1000")),
    (queue, {"priority": 1.5}, (f"{IN_QUEUE}.priority", "1.5", "whole number")),
    (queue, {"priority": True}, (f"{IN_QUEUE}.priority", "True", "whole number")),
    (queue, {"time_limits": ["1h"]}, (f"{IN_QUEUE}.time_limits", "'1h'", "QuotaManagementLimitExceeded")),
    (queue, {"time_limits": None}, (f"{IN_QUEUE}.time_limits", "None", "() for none")),
    (queue, {"existing_policy": "arn"}, (f"{IN_QUEUE}.existing_policy", "from_quota_share_policy_arn")),
    (queue, {"capacity": None}, (IN_QUEUE, "neither of capacity and existing_environment")),
]


@pytest.mark.parametrize(("make", "props", "said"), ILLEGAL)
def test_illegal_value_names_itself_the_rule_and_the_construct(
    stack: cdk.Stack, make: Callable[..., object], props: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(PolicyError) as error:
        make(stack, **props)
    assert [part for part in said if part not in str(error.value)] == []
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("make", "props", "said"), WRONG_TYPE)
def test_wrong_prop_says_what_to_give(
    stack: cdk.Stack, make: Callable[..., object], props: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(PropError) as error:
        make(stack, **props)
    assert [part for part in said if part not in str(error.value)] == []
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("limit", [-2, 1.5, True, "200"])
def test_illegal_borrow_limit(limit: Any) -> None:
    with pytest.raises(PolicyError, match=r"borrow limit .* 0 or more, or -1 for unlimited \[QM006\]"):
        ResourceSharing.lend_and_borrow(limit_percent=limit)


@pytest.mark.parametrize("strategy", [SharingStrategy.RESERVE, "LEND"])
def test_borrow_limit_needs_a_borrower(strategy: Any) -> None:
    with pytest.raises(PolicyError, match=r"borrow limit 100 .* use LEND_AND_BORROW \[QM006\]"):
        ResourceSharing(strategy, 100)


@pytest.mark.parametrize(
    ("kind", "duration", "said"),
    [
        (QuotaManagementLimitExceeded, cdk.Duration.seconds(599), "599"),
        (QuotaManagementLimitExceeded, cdk.Duration.seconds(86_401), "86401"),
        (InsufficientInstanceCapacity, cdk.Duration.millis(600_500), "600.5"),
        (JobStateTimeLimit, cdk.Duration.hours(1), "reason ''"),
    ],
)
def test_illegal_time_limit(kind: type[JobStateTimeLimit], duration: cdk.Duration, said: str) -> None:
    with pytest.raises(PolicyError, match="QM008") as error:
        kind(duration)
    assert said in str(error.value)


def test_time_limit_takes_a_duration() -> None:
    with pytest.raises(PropError, match=r"3600 is not a Duration: give one like Duration.hours\(1\)"):
        QuotaManagementLimitExceeded(3600)  # type: ignore[arg-type]


def test_illegal_value_leaves_the_tree_as_it_was(stack: cdk.Stack) -> None:
    training = queue(stack)
    before = [child.node.path for child in stack.node.find_all()]
    with pytest.raises(PolicyError):
        training.add_quota_share("QS1", capacity={G5: 0}, sharing=ResourceSharing.lend())
    assert [child.node.path for child in stack.node.find_all()] == before


def test_second_share_of_an_id(stack: cdk.Stack) -> None:
    training = queue(stack)
    training.add_quota_share("QS1", capacity={G5: 1}, sharing=ResourceSharing.lend())
    with pytest.raises(PolicyError, match=r"Stack/Training: QS1 is added twice.*\[QM004\]"):
        training.add_quota_share("QS1", capacity={G5: 1}, sharing=ResourceSharing.lend())


def test_share_id_of_something_else(stack: cdk.Stack) -> None:
    message = r"Stack/Training/Resource: id 'Resource' is taken: give another, with quota_share_name='Resource'"
    with pytest.raises(PropError, match=message):
        queue(stack).add_quota_share("Resource", capacity={G5: 1}, sharing=ResourceSharing.lend())


def test_share_id_of_another_type(stack: cdk.Stack) -> None:
    with pytest.raises(PolicyError, match=r"quota share name 7 is not allowed.*QM001"):
        queue(stack).add_quota_share(7, capacity={G5: 1}, sharing=ResourceSharing.lend())  # type: ignore[arg-type]


class TestConnections:
    """QM007, and what can be given for a queue, a policy and an environment."""

    def test_environment_has_one_queue(self, stack: cdk.Stack) -> None:
        shared = environment(stack)
        QuotaManagedQueue(stack, "One", existing_environment=shared)
        message = r"Stack/Two\.existing_environment: .*\(Stack/One, Stack/Two\).*QM007"
        with pytest.raises(PolicyError, match=message):
            QuotaManagedQueue(stack, "Two", existing_environment=shared)

    def test_environment_is_given_or_described(self, stack: cdk.Stack) -> None:
        with pytest.raises(PropError, match="Stack/Training: both of capacity and existing_environment"):
            queue(stack, existing_environment=environment(stack))

    @pytest.mark.parametrize("prop", ["service_environment_name", "scheduling_policy_name"])
    def test_existing_resource_keeps_its_name(self, stack: cdk.Stack, prop: str) -> None:
        existing = {"existing_environment": environment(stack), "existing_policy": policy(stack)}
        with pytest.raises(PropError, match=rf"Stack/Training\.{prop}: 'mine' is given with existing_"):
            QuotaManagedQueue(stack, "Training", **existing, **{prop: "mine"})  # type: ignore[arg-type]

    def test_fair_share_policy(self, stack: cdk.Stack) -> None:
        fair = batch.FairshareSchedulingPolicy(stack, "Fair")
        with pytest.raises(PolicyError, match=r"Stack/Training.*no quotaSharePolicy.*QM007"):
            queue(stack, existing_policy=fair)

    def test_l1_policy_without_quota_shares(self, stack: cdk.Stack) -> None:
        with pytest.raises(PolicyError, match=r"no quotaSharePolicy.*QM007"):
            queue(stack, existing_policy=batch.CfnSchedulingPolicy(stack, "Empty"))

    def test_l2_container_queue(self, stack: cdk.Stack) -> None:
        with pytest.raises(PolicyError, match=r"Stack/QS1\.job_queue: .*aws_batch.JobQueue.*QM007"):
            QuotaShare.from_quota_share_attributes(
                stack, "QS1", job_queue=batch.JobQueue(stack, "Containers"), quota_share_name="QS1"
            )

    def test_container_queue(self, stack: cdk.Stack) -> None:
        containers = batch.CfnJobQueue(stack, "Containers", priority=1, job_queue_type="ECS")
        with pytest.raises(PolicyError, match=r"Stack/QS1\.job_queue: .*'ECS'.*SAGEMAKER_TRAINING.*QM007"):
            QuotaShare(
                stack,
                "QS1",
                job_queue=containers,
                quota_share_name="QS1",
                capacity={G5: 1},
                sharing=ResourceSharing.lend(),
            )

    @pytest.mark.parametrize(
        ("prop", "hint"),
        [
            ("scheduling_policy", "QuotaSharePolicy.from_quota_share_policy_arn"),
            ("service_environment", "ServiceEnvironment.from_service_environment_arn"),
        ],
    )
    def test_arns_are_imported(self, stack: cdk.Stack, prop: str, hint: str) -> None:
        given: dict[str, Any] = {
            "scheduling_policy": policy(stack),
            "service_environment": environment(stack),
            prop: "arn:aws:batch:us-east-1:123456789012:x/y",
        }
        with pytest.raises(PropError, match=hint):
            TrainingJobQueue(stack, "Training", **given)


@pytest.mark.parametrize(
    ("importer", "arn"),
    [
        (QuotaSharePolicy.from_quota_share_policy_arn, SHARE_ARN),
        (ServiceEnvironment.from_service_environment_arn, "environment"),
        (TrainingJobQueue.from_training_job_queue_arn, SHARE_ARN),
        (QuotaShare.from_quota_share_arn, "arn:aws:batch:us-east-1:123456789012:job-queue/Q"),
        (QuotaShare.from_quota_share_arn, None),
    ],
)
def test_arn_of_something_else(stack: cdk.Stack, importer: Callable[..., object], arn: object) -> None:
    with pytest.raises(PropError, match=r"^Stack/Imported: .* give arn:PARTITION:batch:REGION:ACCOUNT:"):
        importer(stack, "Imported", arn)
