"""The real cdk command line, with good and with broken policies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"


def synth(program: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    app = f"{sys.executable} {program}"
    command = [str(CDK), "synth", "--quiet", "--app", app, "--output", str(output), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_cdk_cli_synthesises_the_app(tmp_path: Path) -> None:
    result = synth(ROOT / "app.py", tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    template = json.loads((tmp_path / "out" / "QuotaManagement.template.json").read_text())
    kinds = Counter(resource["Type"].split("::")[-1] for resource in template["Resources"].values())
    assert kinds == {"SchedulingPolicy": 1, "ServiceEnvironment": 1, "JobQueue": 1, "QuotaShare": 3}


EXAMPLES = """
import sys
from pathlib import Path
import aws_cdk as cdk
from aws_cdk import aws_iam as iam
sys.path.insert(0, {root!r})
from constructs_qm.deployment.app import add_deployment
from constructs_qm.validation import QuotaPolicyChecks
from tests.synth.conftest import EXAMPLES
app = cdk.App()
for name, stack in EXAMPLES.items():
    stack(app, name)
add_deployment(app, Path({root!r}, "examples", "quota.yaml"))
share = next(found for found in app.node.find_child("Article").node.find_all() if hasattr(found, "grant_submit"))
share.grant_submit(iam.Role(cdk.Stack(app, "Other"), "Role", assumed_by=iam.AccountRootPrincipal()))
cdk.Validations.of(app).add_plugins(QuotaPolicyChecks())
app.synth()
"""


def test_examples_pass_strict_synthesis_across_stacks_too(tmp_path: Path) -> None:
    """The CDK warns of a share that another stack refers to, unless cdk.json says how firm such references are."""
    program = tmp_path / "program.py"
    program.write_text(EXAMPLES.format(root=str(ROOT)))
    result = synth(program, tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    templates = tmp_path / "out"
    assert "Fn::ImportValue" in (templates / "Other.template.json").read_text()
    assert {file.name for file in templates.iterdir()} >= {"assembly-research", "assembly-products"}


BROKEN = """
import aws_cdk as cdk
from constructs_qm import QuotaManagedQueue, ResourceSharing
app = cdk.App()
queue = QuotaManagedQueue(cdk.Stack(app, "Team"), "Training", capacity={"ml.g5.xlarge": 3})
queue.add_quota_share("vision", capacity={"ml.g5.xlarge": %s}, sharing=ResourceSharing.lend())
app.synth()
"""


@pytest.mark.parametrize(
    ("capacity", "options", "said"),
    [
        ("0", [], "Team/Training/vision.capacity: capacity 0 of ml.g5.xlarge is not allowed"),
        ("4", [], "[Team/Training] shares.vision.limits.ml.g5.xlarge: capacity limit 4 of ml.g5.xlarge"),
        ("2", ["--strict"], "environment.ml.g5.xlarge: 1 of 3 ml.g5.xlarge are in no share's capacity limit"),
    ],
)
def test_cdk_cli_fails_on_a_broken_policy(tmp_path: Path, capacity: str, options: list[str], said: str) -> None:
    program = tmp_path / "broken.py"
    program.write_text(BROKEN % capacity)
    result = synth(program, tmp_path / "out", *options)
    assert result.returncode != 0
    assert said in result.stderr
