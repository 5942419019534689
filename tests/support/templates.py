"""A hand-written CloudFormation template with nothing wrong, and edits to it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

G5, P4 = "ml.g5.xlarge", "ml.p4d.24xlarge"
QUEUE_REASONS = (
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)
DELETE = object()


def limits(**units: int) -> list[dict[str, Any]]:
    return [{"CapacityUnit": f"ml.{unit}.xlarge", "MaxCapacity": count} for unit, count in units.items()]


def share(name: str, count: int, strategy: str = "LEND", **sharing: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": {"Ref": "Queue"},
            "CapacityLimits": limits(g5=count),
            "ResourceSharingConfiguration": {"Strategy": strategy, **sharing},
            "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
        },
    }


def submitter(*resources: Any, action: Any = "batch:SubmitServiceJob", **more: Any) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": action, "Resource": list(resources), **more}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []},
            "Policies": [{"PolicyName": "P", "PolicyDocument": {"Statement": [statement]}}],
        },
    }


GOOD: dict[str, Any] = {
    "Resources": {
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {"ServiceEnvironmentType": "SAGEMAKER_TRAINING", "CapacityLimits": limits(g5=4)},
        },
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": 1,
                "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
                "JobStateTimeLimitActions": [
                    {"State": "RUNNABLE", "Action": "TERMINATE", "MaxTimeSeconds": 3600, "Reason": reason}
                    for reason in QUEUE_REASONS
                ],
            },
        },
        "Vision": share("vision", 2, "LEND_AND_BORROW", BorrowLimit=100),
        "Speech": share("speech", 2),
        "Team": submitter({"Fn::GetAtt": ["Vision", "QuotaShareArn"]}, {"Ref": "Queue"}),
    }
}


def edited(*edits: tuple[str, Any]) -> dict[str, Any]:
    """Return GOOD with values set; a path is relative to the resources, ``DELETE`` removes what it names."""
    template = deepcopy(GOOD)
    for path, value in edits:
        *parents, last = path.split(".")
        target: Any = template["Resources"]
        for key in parents:
            target = target[int(key) if key.isdecimal() else key]
        if value is DELETE:
            del target[int(last) if last.isdecimal() else last]
        else:
            target[int(last) if last.isdecimal() else last] = deepcopy(value)
    return template
