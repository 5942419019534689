"""The Python in the README runs as it is written there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from quota_scheduler import load_policy

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)


def test_python_runs() -> None:
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec"), names)
    assert names["queue"].node.path == "Training/Queue"
    assert names["endpoint"].events[0]["detail"]["eventName"] == "CreateSchedulingPolicy"


def test_the_policy_file_is_the_example() -> None:
    [policy] = blocks("yaml")
    assert load_policy(yaml.safe_load(policy)) == load_policy(
        yaml.safe_load((ROOT / "examples/article.yaml").read_text())
    )
