"""The wheel, installed where nothing of the checkout can be seen, serves the examples as user code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from constructs_qm import __version__

ROOT = Path(__file__).parents[2]
PACKAGES = ("constructs_qm", "preemption_auditor", "quota_scheduler")
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


def test_the_wheel_holds_the_three_packages_whole_and_nothing_else(user: Path) -> None:
    (wheel,) = (user / "dist").glob("*.whl")
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = run("git", "ls-files", "constructs_qm", "lambda", cwd=ROOT)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    assert held == {name.removeprefix("lambda/") for name in tracked.stdout.splitlines()}
    assert {name for name in held if name.endswith("py.typed")} == {f"{package}/py.typed" for package in PACKAGES}


def test_the_version_is_the_same_everywhere(user: Path) -> None:
    (wheel,) = (user / "dist").glob("*.whl")
    assert wheel.name == f"constructs_qm-{__version__}-py3-none-any.whl"
    for command in (["venv/bin/batch-quota"], ["venv/bin/python", "-m", "constructs_qm"]):
        assert run(*command, "--version", cwd=user).stdout == f"{__version__}\n"


def test_the_installed_command_works(user: Path) -> None:
    shutil.copytree(ROOT / "tests" / "cases", user / "cases")
    result = run("venv/bin/batch-quota", "replay", "cases", cwd=user)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def bare(user: Path) -> Path:
    """An interpreter with the wheel and nothing that an extra brings: what the wheel needs is not lent."""
    python = user / "bare" / "bin" / "python"
    (wheel,) = (user / "dist").glob("*.whl")
    for command in (
        [sys.executable, "-m", "venv", "--without-pip", user / "bare"],
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel],
    ):
        result = run(*command, cwd=user)
        assert result.returncode == 0, result.stderr
    return python


def test_the_core_needs_no_extra(bare: Path, tmp_path: Path) -> None:
    code = "import constructs_qm, preemption_auditor, quota_scheduler"
    result = run(bare, "-c", code, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "status", "extra"),
    [
        (["-m", "constructs_qm", "--help"], 2, "cli"),
        (["-c", "from constructs_qm.cli import main; main()"], 2, "cli"),
        (["-c", "import constructs_qm.local"], 1, "local"),
    ],
)
def test_a_missing_extra_is_named(bare: Path, tmp_path: Path, arguments: list[str], status: int, extra: str) -> None:
    result = run(bare, *arguments, cwd=tmp_path)
    last = result.stderr.splitlines()[-1]
    assert result.returncode == status
    assert last.endswith(f"pip install 'constructs-qm[{extra}]'")
    assert status == 1 or result.stderr == f"{last}\n"


@pytest.mark.parametrize("command", [["local", "--port", "0"], ["demo"]])
def test_the_command_line_names_the_extra_that_a_command_needs(user: Path, command: list[str]) -> None:
    hidden = "import sys; sys.modules['moto'] = None; from constructs_qm.cli import main; main()"
    result = run("venv/bin/python", "-c", hidden, *command, cwd=user)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "the embedded endpoint needs the extra 'local' (moto is not installed)" in result.stderr


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
    # one example imports another, and boto3 comes without types
    options = ("--strict", "--explicit-package-bases", "--disable-error-code=import-untyped")
    result = run(sys.executable, "-m", "mypy", *options, "--python-executable", python, "examples", cwd=user)
    assert result.returncode == 0, result.stdout
