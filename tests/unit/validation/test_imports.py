"""The plugin's core needs nothing but the standard library; the command line needs no aws_cdk."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("constructs_qm.validation.checks", ["yaml", "pydantic", "aws_cdk", "boto3"]),
        ("constructs_qm.validation.assembly_reader", ["yaml", "pydantic", "aws_cdk", "boto3"]),
        ("constructs_qm.validation.template_reader", ["yaml", "pydantic", "aws_cdk", "boto3"]),
        ("constructs_qm.cli.validate", ["aws_cdk", "boto3"]),
        ("quota_scheduler.share_isolation", ["constructs_qm", "yaml"]),
    ],
)
def test_imports(module: str, without: list[str]) -> None:
    program = f"import sys, {module}; print([name for name in {without} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
