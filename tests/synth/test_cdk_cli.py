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
