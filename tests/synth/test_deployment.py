"""A deployment file as stages and stacks, in process and through the real cdk command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from constructs_qm.deployment.app import add_deployment
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
EXAMPLE = ROOT / "examples" / "quota.yaml"


@pytest.fixture(scope="module")
def templates() -> dict[str, dict[str, Any]]:
    """Templates of the example's stacks by construct path."""
    app = cdk.App(context={"@aws-cdk/core:enablePartitionLiterals": True})
    stages = add_deployment(app, EXAMPLE)
    app.synth()
    return {
        artifact.hierarchical_id: artifact.template["Resources"]
        for stage in stages
        for artifact in stage.synth().stacks
    }


def of_type(resources: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in resources.values() if resource["Type"] == kind]


def test_a_stack_for_each_account_and_region(templates: dict[str, dict[str, Any]]) -> None:
    assert set(templates) == {"research/eu-west-1", "products/eu-west-1"}
    kinds = Counter(resource["Type"] for resource in templates["research/eu-west-1"].values())
    assert kinds["AWS::Batch::JobQueue"] == kinds["AWS::Batch::ServiceEnvironment"] == 1
    assert kinds["AWS::Batch::QuotaShare"] == 2


def test_inherited_and_own_settings(templates: dict[str, dict[str, Any]]) -> None:
    vision, speech = of_type(templates["research/eu-west-1"], "AWS::Batch::QuotaShare")
    borrow = {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 100}
    assert vision["ResourceSharingConfiguration"] == speech["ResourceSharingConfiguration"] == borrow
    assert (vision["PreemptionConfiguration"]["InSharePreemption"], vision["QuotaShareName"]) == ("ENABLED", "vision")
    release, nightly = of_type(templates["products/eu-west-1"], "AWS::Batch::QuotaShare")
    assert release["ResourceSharingConfiguration"] == {"Strategy": "RESERVE"}
    assert nightly["ResourceSharingConfiguration"] == {"Strategy": "LEND"}
    (queue,) = of_type(templates["products/eu-west-1"], "AWS::Batch::JobQueue")
    assert (queue["JobQueueName"], queue["Priority"]) == ("training", 10)
    assert {action["MaxTimeSeconds"] for action in queue["JobStateTimeLimitActions"]} == {3600}


def test_submitter_is_held_to_its_share_and_priority(templates: dict[str, dict[str, Any]]) -> None:
    (policy,) = of_type(templates["research/eu-west-1"], "AWS::IAM::Policy")
    assert policy["Roles"] == ["vision"]
    submit = next(s for s in policy["PolicyDocument"]["Statement"] if s["Action"] == "batch:SubmitServiceJob")
    assert submit["Condition"] == {
        "NumericLessThanEqualsIfExists": {"batch:SchedulingPriority": 100},
        "StringEquals": {"aws:RequestTag/team": "vision"},
    }
    assert "speech" not in json.dumps(policy)
    actions = json.dumps(policy)
    assert "batch:UpdateServiceJob" in actions
    assert "batch:TerminateServiceJob" in actions


def test_alarms(templates: dict[str, dict[str, Any]]) -> None:
    alarms = of_type(templates["products/eu-west-1"], "AWS::CloudWatch::Alarm")
    assert len(alarms) == 3 + 3  # of the queue, whose failedJobs is off, and of its auditor
    assert all(alarm["AlarmActions"] == ["arn:aws:sns:eu-west-1:222222222222:operators"] for alarm in alarms)
    assert (20, 3600) in {(alarm["Threshold"], alarm.get("Period")) for alarm in alarms}


@pytest.fixture
def run_app(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [CDK, *arguments, "--app", f"{sys.executable} app.py", "--output", tmp_path / "out"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)

    return run


def test_cdk_lists_the_stacks_of_one_team(run_app: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    result = run_app("ls", "research/*", "-c", f"deployment={EXAMPLE}", "--strict")
    assert (result.returncode, result.stdout.split()) == (0, ["research/eu-west-1", "(research-eu-west-1)"])


def test_error_of_the_file_ends_synthesis(
    run_app: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "quota.yaml"
    path.write_text(EXAMPLE.read_text().replace("ml.p5.48xlarge: 4", "ml.p5.48xlarge: 9"))
    result = run_app("synth", "--quiet", "-c", f"deployment={path}")
    assert result.returncode != 0
    line = 1 + path.read_text().split("ml.p5.48xlarge: 9")[0].count("\n")
    assert (
        f"{path}:{line}:19: error QM005: research/eu-west-1/training.shares.vision.limits.ml.p5.48xlarge"
        in result.stderr
    )
    assert "lower it or raise the environment's" in result.stderr
    assert "Traceback" not in result.stderr


def test_auditor(templates: dict[str, dict[str, Any]]) -> None:
    judges = [f for f in of_type(templates["products/eu-west-1"], "AWS::Lambda::Function") if "judge" in f["Handler"]]
    (judge,) = (function["Environment"]["Variables"] for function in judges)
    assert (judge["AUDITOR_TOLERANCE"], judge["AUDITOR_LATENESS"]) == ("1800", "300")
    assert judge["AUDITOR_TOPIC"] == "arn:aws:sns:eu-west-1:222222222222:violations"
    assert "nightly" in json.dumps(judge["AUDITOR_POLICIES"])
    (schedule,) = of_type(templates["products/eu-west-1"], "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(15 minutes)"
    assert not of_type(templates["research/eu-west-1"], "AWS::Lambda::Function")


AUDITED = """
teams:
  ml:
    account: "111111111111"
    defaults: {queue: {auditor: {rateMinutes: 10, archiveDays: false, alarms: {judgeErrors: false}}}}
    regions:
      us-east-1:
        defaults:
          queue:
            alarms: {topic: "arn:aws:sns:us-east-1:111111111111:operators"}
            auditor:
              latenessSeconds: 60
              findingsBus: arn:aws:events:us-east-1:999999999999:event-bus/central
              alarms: {violations: {threshold: 5, periodSeconds: 600}}
        queues:
          - &queue
            name: first
            environment: {ml.g5.xlarge: 1}
            shares: [{name: a, limits: {ml.g5.xlarge: 1}, strategy: RESERVE}]
            auditor: {delivery: complete}
          - {<<: *queue, name: second, auditor: {enabled: false}}
      eu-west-1:
        queues:
          - {<<: *queue, name: third, auditor: {alarms: {topic: "arn:aws:sns:eu-west-1:111111111111:auditors"}}}
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    path = tmp_path_factory.mktemp("audited") / "quota.yaml"
    path.write_text(AUDITED)
    (stage,) = add_deployment(cdk.App(), path)
    return {stack.hierarchical_id: stack.template["Resources"] for stack in stage.synth().stacks}


def test_auditor_inherits_from_region_team_and_file_key_by_key(audited: dict[str, dict[str, Any]]) -> None:
    here, there = audited["ml/us-east-1"], audited["ml/eu-west-1"]
    judge, *more = (f for f in of_type(here, "AWS::Lambda::Function") if "judge" in f["Handler"])
    assert more == []  # the second queue's is off
    variables = judge["Environment"]["Variables"]
    assert (variables["AUDITOR_DELIVERY"], variables["AUDITOR_LATENESS"]) == ("complete", "60")
    assert variables["AUDITOR_BUS"] == "arn:aws:events:us-east-1:999999999999:event-bus/central"
    for resources in (here, there):
        assert of_type(resources, "AWS::Scheduler::Schedule")[0]["ScheduleExpression"] == "rate(10 minutes)"
        assert not of_type(resources, "AWS::Events::Archive")


def test_auditors_alarms_are_inherited_one_by_one(audited: dict[str, dict[str, Any]]) -> None:
    def alarms(region: str) -> dict[str, dict[str, Any]]:
        return {
            alarm["MetricName"]: alarm
            for alarm in of_type(audited[region], "AWS::CloudWatch::Alarm")
            if "MetricName" in alarm
        }

    here, there = alarms("ml/us-east-1"), alarms("ml/eu-west-1")
    assert (here["Violations"]["Threshold"], here["Violations"]["Period"]) == (5, 600)
    assert here["Violations"]["AlarmActions"] == ["arn:aws:sns:us-east-1:111111111111:operators"]
    assert set(there) == {"Violations", "ApproximateNumberOfMessagesVisible"}
    assert there["Violations"]["AlarmActions"] == ["arn:aws:sns:eu-west-1:111111111111:auditors"]


@pytest.mark.parametrize(
    ("auditor", "said"),
    [
        ("{rateMinutes: 0}", "rateMinutes: 0 is not allowed: use"),
        ("{delivery: sometimes}", "delivery: 'sometimes' is not allowed: use 'complete' or 'lossy'"),
        ("{rate: 5}", "auditor: unknown key 'rate': use enabled, rateMinutes,"),
        ("{findingsTopic: violations}", "findingsTopic: .* use the ARN of an SNS topic such as"),
        ("{alarms: {violations: {threshold: 0}}}", "threshold: 0 is not allowed: use more than 0"),
    ],
)
def test_auditor_fails_for(tmp_path: Path, auditor: str, said: str) -> None:
    path = tmp_path / "quota.yaml"
    path.write_text(AUDITED.replace("{delivery: complete}", auditor))
    with pytest.raises(DocumentError, match=said):
        add_deployment(cdk.App(), path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("arn:aws:events:us-east-1", "arn:aws:events:us-west-2", "event-bus/central is not of us-east-1"),
        (
            "{delivery: complete}",
            '{findingsTopic: "arn:aws:sns:eu-west-1:111111111111:t"}',
            "sns:eu-west-1.* is not of us",
        ),
    ],
)
def test_auditor_fails_for_a_target_of_another_region(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "quota.yaml"
    path.write_text(AUDITED.replace(old, new))
    with pytest.raises(
        DocumentError, match=rf"quota\.yaml:\d+:\d+: ml/us-east-1/first\.auditor\.findings.*{said}.*QM-F07"
    ):
        add_deployment(cdk.App(), path)
