"""The CDK's own template validator, once, over all examples, with its rules as errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, sys
import aws_cdk as cdk
sys.path.insert(0, {root!r})
from examples.article import ArticleStack
from examples.import_into_team_stack import TeamStack
from examples.migrate_fifo_queue import MigratedStack
from examples.step_functions import PipelineStack
from examples.three_teams import ThreeTeamsStack
app = cdk.App(context={{**json.load(open({settings!r}))["context"], {flag!r}: True}}, outdir={out!r})
for stack in (ArticleStack, TeamStack, MigratedStack, PipelineStack, ThreeTeamsStack):
    stack(app, stack.__name__.removesuffix("Stack"))
{more}
app.synth()
"""
FLAG = "@aws-cdk/core:validateAgainstDefaultRules"
BROKEN = 'cdk.CfnResource(app.node.find_child("Article"), "Broken", type="AWS::Batch::QuotaShare")'


def validate(output: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(root=str(ROOT), settings=str(ROOT / "cdk.json"), flag=FLAG, out=str(output), more=more)
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_examples_pass(tmp_path: Path) -> None:
    result = validate(tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "out" / "validation-report.json").read_text())["pluginReports"] == []


def test_it_would_fail_an_example(tmp_path: Path) -> None:
    result = validate(tmp_path / "out", BROKEN)
    assert result.returncode != 0
    assert "'QuotaShareName' is a required property" in result.stderr
