"""The tutorial's deployment, as it is written there: real cdk CLI, real AWS CLI, the endpoint in place of AWS."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.documentation import DOCS, ROOT, blocks_of

from constructs_qm.local import RealClock
from constructs_qm.local.server import start

pytestmark = pytest.mark.slow
BLOCKS = blocks_of(DOCS / "tutorial" / "team-of-ten.md")
THIS = f"deploys; tests/docs/{Path(__file__).name} does this"


def test_the_tutorial_deploys(tmp_path: Path) -> None:
    for name in ("app.py", "cdk.json", "examples", "node_modules"):
        (tmp_path / name).symlink_to(ROOT / name)
    for block in BLOCKS:
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    [deploying] = [block.text for block in BLOCKS if block.reason == THIS]
    commands = re.sub(r"^\$ ", "", deploying, flags=re.MULTILINE)
    with start(clock=RealClock()) as server:
        ended = subprocess.run(
            ["bash", "-e", "-c", commands.replace("http://127.0.0.1:4577", server.url)],
            cwd=tmp_path,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lambda")]),
            },
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert all(f'"quotaShareName": "{share}"' in ended.stdout for share in ("vision", "speech", "release", "nightly"))
    assert "0 errors, 0 warnings, 0 notes" in ended.stdout
