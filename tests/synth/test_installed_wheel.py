"""The wheel, installed where nothing of the checkout can be seen, serves the examples as user code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env={**inherited, **environment}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the examples and an environment that has the wheel.

    What the wheel depends on is lent by the running environment, whose own editable install stays hidden:
    a path file's lines are followed, path files in the folders it names aren't.
    """
    folder = tmp_path_factory.mktemp("user")
    for command in (
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder / "dist"],
        [sys.executable, "-m", "venv", "--without-pip", folder / "venv"],
    ):
        result = run(*command, cwd=ROOT)
        assert result.returncode == 0, result.stderr
    python = folder / "venv" / "bin" / "python"
    (wheel,) = (folder / "dist").glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel]
    result = run(*install, cwd=folder)
    assert result.returncode == 0, result.stderr
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_nothing_comes_from_the_checkout(user: Path) -> None:
    code = "import constructs_qm, quota_scheduler; print(constructs_qm.__file__, quota_scheduler.__file__)"
    result = run("venv/bin/python", "-c", code, cwd=user)
    assert result.returncode == 0, result.stderr
    assert all(Path(file).is_relative_to(user) for file in result.stdout.split())


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_synthesises(user: Path, script: str) -> None:
    out = user / script.removesuffix(".py")
    result = run("venv/bin/python", f"examples/{script}", cwd=user, CDK_OUTDIR=str(out))
    assert result.returncode == 0, result.stderr
    assert list(out.glob("*.template.json"))


@pytest.mark.slow
def test_examples_type_check_as_user_code(user: Path) -> None:
    python = user / "venv" / "bin" / "python"
    result = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "examples", cwd=user)
    assert result.returncode == 0, result.stdout
