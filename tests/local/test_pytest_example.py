"""The tests that the documentation shows pass by themselves, and fail where the policy is another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "lambda")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_example_passes_and_notices_another_policy(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "testing", tmp_path, dirs_exist_ok=True)
    ended = run(tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert "2 passed" in ended.stdout

    test = tmp_path / "test_training_queue.py"
    reserve = 'stack = ArticleStack(app, "Article")\n    stack.node.find_child("Training").node.find_child("QS2")'
    change = '.resource.resource_sharing_configuration = {"strategy": "RESERVE"}'
    test.write_text(test.read_text().replace('stack = ArticleStack(app, "Article")', reserve + change))
    ended = run(tmp_path)
    assert ended.returncode == 1, ended.stdout
    assert "2 failed" in ended.stdout
