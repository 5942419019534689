"""Names and numbers that only CloudFormation knows: taken, rendered, and said openly not to be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from constructs_qm import (
    PolicyError,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
)

if TYPE_CHECKING:
    from collections.abc import Callable

G5 = "ml.g5.xlarge"
LEND = ResourceSharing.lend()


@pytest.fixture
def number(stack: cdk.Stack) -> float:
    return cdk.CfnParameter(stack, "Number", type="Number").value_as_number


@pytest.fixture
def text(stack: cdk.Stack) -> str:
    return cdk.CfnParameter(stack, "Text").value_as_string


def test_every_value_can_be_a_token(
    stack: cdk.Stack, number: float, text: str, render: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    queue = QuotaManagedQueue(
        stack,
        "Training",
        capacity={text: number},
        job_queue_name=text,
        service_environment_name=text,
        scheduling_policy_name=text,
        priority=number,
        time_limits=[QuotaManagementLimitExceeded(cdk.Duration.seconds(number))],
    )
    queue.add_quota_share(
        "Share",
        quota_share_name=text,
        capacity={text: number, G5: 1},
        sharing=ResourceSharing.lend_and_borrow(limit_percent=number),
    )
    resources = render(stack)
    properties = {r["Type"].split("::")[-1]: r["Properties"] for r in resources.values()}
    a_text, a_number = {"Ref": "Text"}, {"Ref": "Number"}
    limit = {"CapacityUnit": a_text, "MaxCapacity": a_number}
    assert properties["SchedulingPolicy"]["Name"] == a_text
    assert properties["ServiceEnvironment"]["ServiceEnvironmentName"] == a_text
    assert properties["ServiceEnvironment"]["CapacityLimits"] == [limit]
    assert properties["JobQueue"]["JobQueueName"] == a_text
    assert properties["JobQueue"]["Priority"] == a_number
    assert properties["JobQueue"]["JobStateTimeLimitActions"][0]["MaxTimeSeconds"] == a_number
    assert properties["QuotaShare"]["QuotaShareName"] == a_text
    assert properties["QuotaShare"]["CapacityLimits"] == [limit, {"CapacityUnit": G5, "MaxCapacity": 1}]
    assert properties["QuotaShare"]["ResourceSharingConfiguration"]["BorrowLimit"] == a_number


def test_what_a_token_hides_is_said(stack: cdk.Stack, number: float, text: str) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: number}, job_queue_name=text)
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    sharing = ResourceSharing.lend_and_borrow(limit_percent=number)
    queue.add_quota_share("Share", quota_share_name=text, capacity={G5: 1}, sharing=sharing)
    notes = Annotations.from_stack(stack).find_info("*", Match.string_like_regexp("QM015"))
    assert {(note.id, str(note.entry.data).split(" is known")[0]) for note in notes} == {
        ("/Stack/Training", "job_queue_name"),
        ("/Stack/Training/ServiceEnvironment", "capacity"),
        ("/Stack/Training/Share", "quota_share_name"),
        ("/Stack/Training/Share", "borrow_limit"),
    }


def test_unknown_environment_is_said(stack: cdk.Stack) -> None:
    arn = "arn:aws:batch:us-east-1:123456789012:service-environment/gpus"
    environment = ServiceEnvironment.from_service_environment_arn(stack, "Environment", arn)
    queue = QuotaManagedQueue(stack, "Training", existing_environment=environment)
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    Annotations.from_stack(stack).has_info(
        "/Stack/Training", Match.string_like_regexp("capacity of the service environment is not known.*QM015")
    )


def test_no_note_without_a_token(stack: cdk.Stack) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1}, job_queue_name=cdk.PhysicalName.GENERATE_IF_NEEDED)
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    assert Annotations.from_stack(stack).find_info("*", Match.any_value()) == []


def test_what_is_known_is_checked_beside_a_token(stack: cdk.Stack, number: float) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    with pytest.raises(PolicyError, match=r"Stack/Training/vision.*capacity 0 of ml.p4d.24xlarge.*QM002"):
        queue.add_quota_share("vision", capacity={G5: number, "ml.p4d.24xlarge": 0}, sharing=LEND)
    with pytest.raises(PolicyError, match="QM006"):
        ResourceSharing("LEND", number)  # type: ignore[arg-type]


def test_known_shares_are_checked_beside_an_unknown_one(app: cdk.App, stack: cdk.Stack, number: float) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    queue.add_quota_share("unknown", capacity={G5: number}, sharing=LEND)
    queue.add_quota_share("vision", capacity={G5: 4}, sharing=LEND)
    assert queue.policy is None
    with pytest.raises(RuntimeError, match=r"\[Stack/Training\] shares\.vision.*QM005"):
        app.synth()


def test_warnings_wait_for_every_share_to_be_known(stack: cdk.Stack, number: float) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    queue.add_quota_share("unknown", capacity={G5: number}, sharing=LEND)
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []


def test_arns_can_be_tokens(stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    share_arn = cdk.Fn.import_value("share-arn")
    share = QuotaShare.from_quota_share_arn(stack, "Share", share_arn)
    queue = TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", cdk.Fn.import_value("queue-arn"))
    split: dict[str, Any] = {"Fn::Split": ["/", {"Fn::ImportValue": "share-arn"}]}
    assert stack.resolve(share.quota_share_name) == {"Fn::Select": [3, split]}
    assert stack.resolve(share.job_queue_arn) == {
        "Fn::Select": [0, {"Fn::Split": ["/quota-share/", {"Fn::ImportValue": "share-arn"}]}]
    }
    assert stack.resolve(queue.job_queue_name) == {
        "Fn::Select": [1, {"Fn::Split": ["/", {"Fn::ImportValue": "queue-arn"}]}]
    }
    queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    (rendered,) = render(stack).values()
    assert rendered["Properties"]["JobQueue"] == {"Fn::ImportValue": "queue-arn"}
