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
    assert len(alarms) == 3  # failedJobs is off
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


def test_auditor_is_not_left_out_silently(tmp_path: Path) -> None:
    import constructs_qm

    if hasattr(constructs_qm, "PreemptionAuditor"):
        pytest.skip("there is one")
    path = tmp_path / "quota.yaml"
    path.write_text(
        EXAMPLE.read_text().replace("  queue:\n    timeLimits:", "  queue:\n    auditor: {}\n    timeLimits:")
    )
    with pytest.raises(DocumentError, match="auditor"):
        add_deployment(cdk.App(), path)
