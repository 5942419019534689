"""The wheel of a release, with the scheduler compiled, answers as the sources do; the project's own tests pass on it.

Programs run in the folder where a wheel is unpacked, so that nothing of the checkout is imported.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from constructs_qm import __version__

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
COMPILING = {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "1"}
MODULES = runpy.run_path(str(ROOT / "hatch_build.py"))["MODULES"]
WORKLOADS = ROOT / "examples" / "workloads"
SIMULATE = (
    "simulate",
    *("--policy", WORKLOADS / "share.yaml", "--policy", WORKLOADS / "reserve.yaml"),
    *("--trace", WORKLOADS / "three-teams.yaml", "--json"),
)
OWN_TESTS = (
    "tests/unit/scheduler",
    "tests/property/test_scheduler_copies.py",
    "tests/property/test_scheduler_invariants.py",
    "tests/property/test_order_of_equal_times.py",
    "tests/unit/cli/test_explain.py",
    "tests/local/test_explain.py",
    "tests/local/test_saved_state.py",
)
NOT_FOR_COMPILED = (
    # replaces a method, which compiled code calls without looking it up
    "tests/unit/scheduler/test_attention.py",
    # to compiled code, True is the whole number it is to Python
    "tests/unit/scheduler/test_job_ends.py::test_fails_without_changing_anything[<lambda>-priority True",
)
TESTING = """
import sys, pytest
status = pytest.main(sys.argv[1:])
from quota_scheduler import scheduler
print(scheduler.__file__)
sys.exit(status)
"""


@dataclass(frozen=True)
class Unpacked:
    """A wheel and the folder it is unpacked into."""

    wheel: Path
    folder: Path

    def files(self) -> set[str]:
        return {name for name in ZipFile(self.wheel).namelist() if ".dist-info/" not in name}

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run Python on what is in the wheel."""
        command = [sys.executable, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def command(self, *arguments: object) -> str:
        """Return what ``batch-quota`` prints."""
        result = self.run("-m", "constructs_qm", *arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout


def build(into: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def unpacked(place: Path, **environment: str) -> Unpacked:
    result = build(place / "dist", **environment)
    assert result.returncode == 0, result.stderr
    (wheel,) = (place / "dist").glob("*.whl")
    ZipFile(wheel).extractall(place / "unpacked")
    return Unpacked(wheel, place / "unpacked")


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpacked(tmp_path_factory.mktemp("pure"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpacked(tmp_path_factory.mktemp("compiled"), **COMPILING)


def figures(printed: str) -> list[dict[str, object]]:
    speed = ("jobs_per_second", "wall_s", "peak_rss_mib")
    policies = json.loads(printed)["policies"]
    return [{name: value for name, value in policy.items() if name not in speed} for policy in policies]


def test_it_holds_the_pure_wheels_files_and_the_extensions(pure: Unpacked, compiled: Unpacked) -> None:
    suffix = EXTENSION_SUFFIXES[0]
    extensions = {f"quota_scheduler/{module}{suffix}" for module in MODULES} | {f"quota_scheduler__mypyc{suffix}"}
    assert compiled.files() == pure.files() | extensions
    assert not pure.files() & extensions


def test_its_name_tells_the_python_and_the_platform(compiled: Unpacked) -> None:
    (tag,) = parse_wheel_filename(compiled.wheel.name)[3]
    assert tag in set(sys_tags())
    assert "none" not in tag.abi
    assert tag.platform != "any"
    (metadata,) = compiled.folder.glob("*.dist-info/WHEEL")
    assert "Root-Is-Purelib: false" in metadata.read_text()


def test_nothing_is_left_in_the_source_tree(compiled: Unpacked) -> None:
    made = [path for source in ("constructs_qm", "lambda") for path in (ROOT / source).rglob("*")]
    assert not [path for path in made if path.suffix in (".c", ".h", ".o", ".pyd", ".so")]


def test_the_extensions_are_what_is_imported(compiled: Unpacked) -> None:
    names = [f"quota_scheduler.{module}" for module in MODULES]
    code = f"from importlib import import_module\nfor name in {names}: print(import_module(name).__file__)"
    files = [Path(line) for line in compiled.run("-c", code).stdout.splitlines()]
    suffix = EXTENSION_SUFFIXES[0]
    assert files == [compiled.folder / "quota_scheduler" / f"{module}{suffix}" for module in MODULES]


def test_whatever_is_asked_of_it_it_answers_as_the_sources_do(pure: Unpacked, compiled: Unpacked) -> None:
    code = f"import sys; sys.path.append({str(ROOT / 'tests')!r})\nfrom support.random_calls import digests"
    code += "\nprint(*digests(), sep='\\n')"
    answers, expected = (wheel.run("-c", code).stdout.splitlines() for wheel in (compiled, pure))
    assert len(set(expected)) == 40 * 120
    assert answers == expected


def test_it_says_that_it_is_compiled(pure: Unpacked, compiled: Unpacked) -> None:
    assert pure.command("--version") == f"{__version__}\n"
    assert compiled.command("--version") == f"{__version__} (scheduler compiled)\n"


def test_simulations_give_the_same_figures(pure: Unpacked, compiled: Unpacked) -> None:
    assert figures(compiled.command(*SIMULATE)) == figures(pure.command(*SIMULATE))


def test_known_answers(compiled: Unpacked) -> None:
    lines = compiled.command("replay", ROOT / "tests" / "cases", "--json").splitlines()
    assert len(lines) == len(list((ROOT / "tests" / "cases").glob("*.json")))
    assert all(json.loads(line)["ok"] for line in lines)


def test_the_projects_own_tests_pass(compiled: Unpacked) -> None:
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml"]
    options += [f"--deselect={name}" for name in NOT_FOR_COMPILED]
    result = compiled.run("-c", TESTING, *options, *(ROOT / name for name in OWN_TESTS))
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith(f"{compiled.folder / 'quota_scheduler' / 'scheduler'}{EXTENSION_SUFFIXES[0]}\n")


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    result = build(tmp_path, CC="no-such-compiler", **COMPILING)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "no-such-compiler is not there" in result.stderr
    assert not list(tmp_path.iterdir())
