"""Intrinsic functions, as far as they can be evaluated before deployment."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_qm.validation.declared import is_known
from constructs_qm.validation.intrinsics import Resolver, Stack

QUEUE = {"Type": "AWS::Batch::JobQueue", "Properties": {"JobQueueName": "Q"}}
NAMELESS = {"Type": "AWS::Batch::JobQueue"}
TEMPLATE: dict[str, Any] = {
    "Mappings": {"Sizes": {"prod": {"gpus": 8}}},
    "Resources": {
        "Queue": QUEUE,
        "Nameless": NAMELESS,
        "Share": {"Type": "AWS::Batch::QuotaShare", "Properties": {"JobQueue": "Q", "QuotaShareName": "S"}},
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "team"}},
    },
    "Outputs": {"Out": {"Value": {"Ref": "Queue"}, "Export": {"Name": "platform-queue"}}},
}
HERE = Stack("Here", TEMPLATE, account="111111111111", region="cn-north-1")
ARN = "arn:aws-cn:batch:cn-north-1:111111111111:job-queue/Q"

KNOWN: list[tuple[Any, Any]] = [
    ({"Ref": "Queue"}, ARN),
    ({"Fn::GetAtt": ["Queue", "JobQueueArn"]}, ARN),
    ({"Fn::GetAtt": "Queue.JobQueueArn"}, ARN),
    ({"Ref": "Share"}, f"{ARN}/quota-share/S"),
    ({"Ref": "Role"}, "team"),
    ({"Ref": "AWS::Region"}, "cn-north-1"),
    ({"Fn::Join": ["/", [{"Ref": "Queue"}, "quota-share", "*"]]}, f"{ARN}/quota-share/*"),
    ({"Fn::Sub": "${Queue}/quota-share/${!aws:username}"}, f"{ARN}/quota-share/${{aws:username}}"),
    ({"Fn::Sub": ["${Name}-x", {"Name": {"Ref": "Role"}}]}, "team-x"),
    ({"Fn::Select": ["1", {"Fn::Split": ["/", {"Ref": "Queue"}]}]}, "Q"),
    ({"Fn::FindInMap": ["Sizes", "prod", "gpus"]}, 8),
    ({"Fn::If": ["C", 1, 1]}, 1),
    ({"Fn::ImportValue": "platform-queue"}, ARN),
    ([{"Ref": "AWS::NoValue"}, 1], [1]),
    ({"a": {"Ref": "AWS::NoValue"}, "b": {"c": [2]}}, {"b": {"c": [2]}}),
    ({"Condition": {"StringEquals": {"a": "b"}}}, {"Condition": {"StringEquals": {"a": "b"}}}),
]

UNKNOWN: list[Any] = [
    {"Ref": "Parameter"},
    {"Ref": "Nameless"},
    {"Fn::If": ["C", 1, 2]},
    {"Fn::ImportValue": "elsewhere"},
    {"Fn::FindInMap": ["Sizes", "dev", "gpus"]},
    {"Fn::Select": [9, ["a"]]},
    {"Fn::Join": "malformed"},
    {"Fn::GetAtt": ["Queue"]},
    {"Fn::Cidr": ["10.0.0.0/8", 1]},
    {"Fn::Transform": {"Name": "Include"}},
]


@pytest.mark.parametrize(("value", "expected"), KNOWN)
def test_known(value: Any, expected: Any) -> None:
    assert Resolver([HERE]).resolve(HERE, value) == expected


@pytest.mark.parametrize("value", UNKNOWN)
def test_known_only_at_deployment(value: Any) -> None:
    assert not is_known(Resolver([HERE]).resolve(HERE, value))


def test_nameless_resource_equals_itself_only() -> None:
    other = Stack("Other", TEMPLATE, account="111111111111", region="cn-north-1")
    resolver = Resolver([HERE, other])
    assert resolver.resolve(HERE, {"Ref": "Nameless"}) == resolver.arn(HERE, "Nameless")
    assert resolver.arn(HERE, "Nameless") != resolver.arn(other, "Nameless")


def test_output_of_a_nested_stack() -> None:
    parent = Stack("Parent", {"Resources": {"Child": {"Type": "AWS::CloudFormation::Stack"}}}, nested={"Child": HERE})
    assert Resolver([parent, HERE]).resolve(parent, {"Fn::GetAtt": ["Child", "Outputs.Out"]}) == ARN


def test_references_in_a_circle_end() -> None:
    loop = {"Resources": {"Q": {"Type": "AWS::Batch::JobQueue", "Properties": {"JobQueueName": {"Ref": "Q"}}}}}
    stack = Stack("Loop", loop)
    assert not is_known(Resolver([stack]).resolve(stack, {"Ref": "Q"}))


def test_few_references_that_become_many_end() -> None:
    names: dict[str, Any] = {
        f"Q{n}": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {"JobQueueName": {"Fn::Join": ["", [{"Ref": f"Q{n + 1}"}] * 10]}},
        }
        for n in range(20)
    }
    stack = Stack("Bomb", {"Resources": names})
    assert len(str(Resolver([stack]).resolve(stack, {"Ref": "Q0"}))) < 10_000_000
