"""The launch article's policy, rendered whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from examples.article import ArticleStack

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def article() -> ArticleStack:
    return ArticleStack(cdk.App(), "Article")


def limit(instances: int) -> list[dict[str, Any]]:
    return [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": instances}]


def share(name: str, sharing: dict[str, Any], in_share_preemption: str) -> dict[str, Any]:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": {"Fn::GetAtt": ["Training1DBE9C16", "JobQueueArn"]},
            "CapacityLimits": limit(1),
            "ResourceSharingConfiguration": sharing,
            "PreemptionConfiguration": {"InSharePreemption": in_share_preemption},
            "State": "ENABLED",
        },
    }


def time_limit(reason: str) -> dict[str, Any]:
    return {"State": "RUNNABLE", "Action": "TERMINATE", "MaxTimeSeconds": 3600, "Reason": reason}


def test_renders_the_policy_and_nothing_else(
    article: ArticleStack, render: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    assert render(article) == {
        "TrainingSchedulingPolicy712A2029": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "TrainingServiceEnvironment319FDE5B": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": limit(3),
                "State": "ENABLED",
            },
        },
        "Training1DBE9C16": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": 1,
                "State": "ENABLED",
                "SchedulingPolicyArn": {"Fn::GetAtt": ["TrainingSchedulingPolicy712A2029", "Arn"]},
                "ServiceEnvironmentOrder": [
                    {
                        "Order": 1,
                        "ServiceEnvironment": {
                            "Fn::GetAtt": ["TrainingServiceEnvironment319FDE5B", "ServiceEnvironmentArn"]
                        },
                    }
                ],
                "JobStateTimeLimitActions": [
                    time_limit("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"),
                    time_limit("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"),
                ],
            },
        },
        "TrainingQS15E3805A4": share("QS1", {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200}, "ENABLED"),
        "TrainingQS23D87E369": share("QS2", {"Strategy": "LEND"}, "DISABLED"),
        "TrainingQS30FE7F3B7": share("QS3", {"Strategy": "RESERVE"}, "DISABLED"),
    }


def test_leaves_no_warning(article: ArticleStack) -> None:
    assert Annotations.from_stack(article).find_warning("*", Match.any_value()) == []
