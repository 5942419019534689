"""The simulator compiled with mypyc gives the same figures, and the scheduler in it the known answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
WORKLOADS = ROOT / "examples" / "workloads"
SIMULATE = (
    "simulate",
    *("--policy", WORKLOADS / "share.yaml", "--policy", WORKLOADS / "reserve.yaml"),
    *("--trace", WORKLOADS / "three-teams.yaml", "--json"),
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert shutil.which("cc"), "a C compiler is needed: apt-get install gcc"
    target = tmp_path_factory.mktemp("compiled") / "package"
    script = ROOT / "benchmarks" / "compile_simulator.py"
    subprocess.run([sys.executable, script, target], check=True, capture_output=True)
    return target


def run(*arguments: object, path: Path | None = None) -> str:
    """Return what a command prints, with `path` before whatever is installed."""
    paths = [str(entry) for entry in (path, ROOT, ROOT / "lambda") if entry is not None]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def figures(printed: str) -> list[dict[str, object]]:
    speed = ("jobs_per_second", "wall_s", "peak_rss_mib")
    policies = json.loads(printed)["policies"]
    return [{name: value for name, value in policy.items() if name not in speed} for policy in policies]


def test_it_is_the_compiled_one(compiled: Path) -> None:
    printed = run("-c", "import quota_scheduler.scheduler as module; print(module.__file__)", path=compiled)
    assert printed.startswith(str(compiled))
    assert not printed.strip().endswith(".py")


def test_simulations_give_the_same_figures(compiled: Path) -> None:
    assert figures(run("-m", "constructs_qm", *SIMULATE, path=compiled)) == figures(
        run("-m", "constructs_qm", *SIMULATE)
    )


def test_known_answers(compiled: Path) -> None:
    lines = run("-m", "constructs_qm", "replay", ROOT / "tests" / "cases", "--json", path=compiled).splitlines()
    assert len(lines) == len(list((ROOT / "tests" / "cases").glob("*.json")))
    assert all(json.loads(line)["ok"] for line in lines)
