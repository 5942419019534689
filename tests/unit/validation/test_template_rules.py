"""Every rule over hand-written templates: what fires, where, and what nearly does."""

from __future__ import annotations

from typing import Any

import pytest
from support.templates import DELETE, G5, GOOD, edited, limits, share, submitter

from constructs_qm.validation.checks import check
from constructs_qm.validation.intrinsics import Stack
from constructs_qm.validation.template_reader import read_templates

LONG = "x" * 129
QUEUES = {"Fn::Sub": "arn:${AWS::Partition}:batch:${AWS::Region}:${AWS::AccountId}:job-queue/*"}
FIRST = ".CapacityLimits.0.MaxCapacity"
SHARING, LIMITS = "Properties.ResourceSharingConfiguration", "Properties.CapacityLimits"
ACTION = "Queue.Properties.JobStateTimeLimitActions.0"
PARAMETER = {"Ref": "Parameter"}


def found(template: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item.finding.rule, item.path) for item in check(read_templates([Stack("", template)]))]


FIRING: list[tuple[str, str, list[tuple[str, Any]]]] = [
    ("QM001", "Vision.QuotaShareName", [("Vision.Properties.QuotaShareName", "a b")]),
    ("QM001", "Queue.JobQueueName", [("Queue.Properties.JobQueueName", LONG)]),
    ("QM001", "Environment.ServiceEnvironmentName", [("Environment.Properties.ServiceEnvironmentName", "")]),
    ("QM001", "Policy.Name", [("Policy.Properties.Name", "ä")]),
    (
        "QM002",
        "Speech.CapacityLimits.0.MaxCapacity",
        [("Speech." + LIMITS, limits(g5=0)), ("Vision." + LIMITS, limits(g5=4))],
    ),
    ("QM002", "Speech.CapacityLimits", [("Speech." + LIMITS, limits(g5=2) * 2)]),
    ("QM002", "Speech.CapacityLimits", [("Speech." + LIMITS, [])]),
    ("QM002", "Environment.CapacityLimits", [("Environment." + LIMITS, limits(g5=4, a=1, b=1, c=1, d=1, e=1))]),
    (
        "QM003",
        "Environment" + FIRST,
        [("Environment." + LIMITS, [{"CapacityUnit": "g5", "MaxCapacity": 4}])],
    ),
    (
        "QM003",
        "Environment" + FIRST,
        [("Environment." + LIMITS, [{"CapacityUnit": "NUM_INSTANCES", "MaxCapacity": 4}])],
    ),
    ("QM004", "Speech.QuotaShareName", [("Speech.Properties.QuotaShareName", "vision")]),
    ("QM005", "Vision.CapacityLimits.0.MaxCapacity", [("Vision." + LIMITS, limits(g5=5))]),
    ("QM005", "Vision.CapacityLimits.0.MaxCapacity", [("Vision." + LIMITS, limits(p5=1))]),
    ("QM006", "Speech.ResourceSharingConfiguration.BorrowLimit", [("Speech." + SHARING + ".BorrowLimit", 100)]),
    ("QM006", "Vision.ResourceSharingConfiguration.BorrowLimit", [("Vision." + SHARING + ".BorrowLimit", -2)]),
    ("QM006", "Speech.ResourceSharingConfiguration.Strategy", [("Speech." + SHARING + ".Strategy", "BORROW")]),
    ("QM007", "Queue.JobQueueType", [("Queue.Properties.JobQueueType", "ECS")]),
    (
        "QM007",
        "Policy.QuotaSharePolicy",
        [("Policy.Properties", {"FairsharePolicy": {"ShareDecaySeconds": 60}})],
    ),
    ("QM007", "Queue", [("Queue.Properties.SchedulingPolicyArn", DELETE)]),
    ("QM008", "Queue.JobStateTimeLimitActions.0", [(ACTION + ".MaxTimeSeconds", 599)]),
    ("QM008", "Queue.JobStateTimeLimitActions.0", [(ACTION + ".MaxTimeSeconds", 86401)]),
    ("QM008", "Queue.JobStateTimeLimitActions.0", [(ACTION + ".Action", "CANCEL")]),
    ("QM009", "Environment.CapacityLimits.0.MaxCapacity", [("Environment." + LIMITS, limits(g5=3))]),
    ("QM010", "Environment.CapacityLimits.0.MaxCapacity", [("Environment." + LIMITS, limits(g5=5))]),
    ("QM011", "Vision.ResourceSharingConfiguration.BorrowLimit", [("Speech." + SHARING + ".Strategy", "RESERVE")]),
    ("QM012", "Vision.ResourceSharingConfiguration.BorrowLimit", [("Vision." + SHARING + ".BorrowLimit", 150)]),
    (
        "QM013",
        "Queue.JobStateTimeLimitActions",
        [("Queue.Properties.JobStateTimeLimitActions.1", DELETE)],
    ),
    ("QM014", "Team.Policies.0.PolicyDocument.Statement.0", [("Team", submitter(QUEUES))]),
    ("QM015", "Vision.CapacityLimits", [("Vision." + LIMITS + ".0.MaxCapacity", PARAMETER)]),
    ("QM015", "Vision.QuotaShareName", [("Vision.Properties.QuotaShareName", PARAMETER)]),
    ("QM015", "Vision.ResourceSharingConfiguration.BorrowLimit", [("Vision." + SHARING + ".BorrowLimit", PARAMETER)]),
    ("QM015", "Environment.CapacityLimits", [("Environment." + LIMITS, PARAMETER)]),
]

NEAR_MISSES: list[list[tuple[str, Any]]] = [
    [],
    [("Vision.Properties.QuotaShareName", "x" * 128), ("Queue.Properties.JobQueueName", "A-z_9")],
    [("Speech." + LIMITS, [{"CapacityUnit": G5, "MaxCapacity": "2"}])],
    [("Environment." + LIMITS, limits(g5=2)), ("Vision." + LIMITS, limits(g5=1)), ("Speech." + LIMITS, limits(g5=1))],
    [("Vision." + LIMITS, limits(g5=3)), ("Speech." + LIMITS, limits(g5=1)), ("Vision." + SHARING + ".BorrowLimit", 0)],
    [("Vision." + SHARING + ".BorrowLimit", -1)],
    [("Vision." + SHARING + ".BorrowLimit", {"Ref": "AWS::NoValue"})],
    [(ACTION + ".MaxTimeSeconds", 600)],
    [(ACTION + ".MaxTimeSeconds", "86400")],
    [("Queue.Properties.JobQueueType", DELETE)],
    [("Team", submitter({"Ref": "Queue"}, {"Fn::Sub": "${Queue}/quota-share/speech"}))],
    [("Team", submitter(QUEUES, action="batch:SubmitJob"))],
    [("Other", {"Type": "AWS::Batch::JobQueue", "Properties": {"JobQueueType": "ECS", "Priority": 1}})],
    [("Fifo", {"Type": "AWS::Batch::ServiceEnvironment", "Properties": {"CapacityLimits": [
        {"CapacityUnit": "NUM_INSTANCES", "MaxCapacity": 4}]}})],
]  # fmt: skip


@pytest.mark.parametrize(("rule", "path", "edits"), FIRING)
def test_fires(rule: str, path: str, edits: list[tuple[str, Any]]) -> None:
    assert (rule, path) in found(edited(*edits))


@pytest.mark.parametrize("edits", NEAR_MISSES)
def test_near_miss(edits: list[tuple[str, Any]]) -> None:
    assert found(edited(*edits)) == []


def test_every_rule_fires() -> None:
    assert {rule for rule, *_ in FIRING} == {f"QM{number:03}" for number in range(1, 16)}


def test_queue_without_a_share() -> None:
    assert found(edited(("Vision", DELETE), ("Speech", DELETE), ("Team", DELETE))) == [("QM013", "Queue")]


@pytest.mark.parametrize(("count", "rules"), [(18, []), (19, ["QM004"])])
def test_twenty_shares_a_queue(count: int, rules: list[str]) -> None:
    more = [(f"S{number}", share(f"s{number}", 1)) for number in range(count)]
    template = edited(("Environment." + LIMITS, limits(g5=4 + count)), *more)
    assert [rule for rule, _ in found(template)] == rules


def test_environment_of_two_queues() -> None:
    second = {**GOOD["Resources"]["Queue"]}
    template = edited(("Second", second), ("More", share("more", 2)))
    template["Resources"]["More"]["Properties"]["JobQueue"] = {"Ref": "Second"}
    assert ("QM007", "Environment") in found(template)


def test_error_of_the_whole_is_told_beside_that_of_a_value() -> None:
    template = edited(("Speech." + SHARING + ".BorrowLimit", 100), ("Speech." + LIMITS, limits(g5=9)))
    assert [rule for rule, _ in found(template)] == ["QM006", "QM005"]


def test_shares_of_a_queue_that_is_declared_elsewhere() -> None:
    """Only what no further share can mend."""
    queue = "arn:aws:batch:eu-west-1:111111111111:job-queue/shared"
    shares = {f"S{n}": share("same", 9, "LEND_AND_BORROW", BorrowLimit=300) for n in range(2)}
    for entry in shares.values():
        entry["Properties"]["JobQueue"] = queue
    assert found({"Resources": shares}) == [("QM004", "S1.QuotaShareName")]


def test_queue_by_name() -> None:
    template = edited(("Queue.Properties.JobQueueName", "training"), ("Vision." + LIMITS, limits(g5=5)))
    for name in ("Vision", "Speech"):
        template["Resources"][name]["Properties"]["JobQueue"] = "training"
    assert ("QM005", "Vision.CapacityLimits.0.MaxCapacity") in found(template)


@pytest.mark.parametrize(
    "properties",
    [None, [], "text", 7, {"CapacityLimits": 7}, {"CapacityLimits": [7, None, {}]}, {"JobQueue": []}],
)
def test_malformed_share_is_told_not_fatal(properties: Any) -> None:
    rules = {rule for rule, _ in found(edited(("Vision.Properties", properties)))}
    assert rules & {"QM001", "QM002"}


@pytest.mark.parametrize("resources", [None, [], {"A": None}, {"A": {"Type": 7}}, {"A": {"Type": "AWS::IAM::Role"}}])
def test_template_without_resources(resources: Any) -> None:
    assert found({"Resources": resources}) == []


def test_fault_of_an_environment_that_two_queues_share_is_told_once() -> None:
    template = edited(("Second", GOOD["Resources"]["Queue"]), ("More", share("more", 2)))
    template["Resources"]["More"]["Properties"]["JobQueue"] = {"Ref": "Second"}
    template["Resources"]["Environment"]["Properties"]["ServiceEnvironmentName"] = "a b"
    assert [rule for rule, _ in found(template)].count("QM001") == 1


WIDE = {"Effect": "Allow", "Action": "batch:SubmitServiceJob", "Resource": {"Fn::Sub": "${Queue}*"}}
NARROW = {"Effect": "Deny", "Action": "batch:*", "NotResource": [{"Ref": "Queue"}, {"Ref": "Vision"}]}
ROLE = {"AssumeRolePolicyDocument": {}}


def managed(*statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": [*statements]}, **more}}


def role(**more: Any) -> dict[str, Any]:
    return {"Type": "AWS::IAM::Role", "Properties": {**ROLE, **more}}


def inline(*statements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"PolicyName": "P", "PolicyDocument": {"Statement": [*statements]}}]


PRINCIPALS: list[tuple[dict[str, Any], list[str]]] = [
    ({"P": managed(WIDE)}, ["P"]),
    ({"P": managed(WIDE), "R": role(ManagedPolicyArns=[{"Ref": "P"}])}, ["P"]),
    ({"P": managed(WIDE), "R": role(ManagedPolicyArns=[{"Ref": "P"}], Policies=inline(NARROW))}, []),
    ({"P": managed(WIDE, Roles=[{"Ref": "R"}]), "R": role(Policies=inline(NARROW))}, []),
    ({"P": managed(WIDE, Roles=["named"]), "R": role(RoleName="named", Policies=inline(NARROW))}, []),
    ({"P": managed(WIDE, Roles=["other"]), "R": role(RoleName="named", Policies=inline(NARROW))}, ["P"]),
    ({"U": {"Type": "AWS::IAM::User", "Properties": {"Policies": inline(WIDE)}}}, ["U"]),
    ({"G": {"Type": "AWS::IAM::Group", "Properties": {"Policies": inline(WIDE)}}}, ["G"]),
    (
        {"I": {"Type": "AWS::IAM::RolePolicy", "Properties": {"RoleName": "r", "PolicyDocument": {"Statement": WIDE}}}},
        ["I"],
    ),
    (
        {
            "S": {
                "Type": "AWS::SSO::PermissionSet",
                "Properties": {"InlinePolicy": '{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}'},
            }
        },
        ["S"],
    ),
    ({"S": {"Type": "AWS::SSO::PermissionSet", "Properties": {"InlinePolicy": "no JSON"}}}, []),
]


@pytest.mark.parametrize(("resources", "told"), PRINCIPALS)
def test_statements_of_a_principal_are_judged_together(resources: dict[str, Any], told: list[str]) -> None:
    template = edited(*resources.items())
    assert [path.split(".")[0] for rule, path in found(template) if rule == "QM014"] == told
