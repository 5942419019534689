"""The pipelines under examples/ci: their own commands, on a repository with a good and with a bad change."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"
GOOD = (ROOT / "examples" / "quota.yaml").read_text()
BAD = GOOD.replace("ml.p5.48xlarge: 4", "ml.p5.48xlarge: 9", 1)
BAD_LINE = 1 + BAD.split("ml.p5.48xlarge: 9")[0].count("\n")
ENOUGH_TO_MEND_IT = (
    f"quota.yaml:{BAD_LINE}:",
    "QM005",
    "research/eu-west-1/training.shares.vision",
    "capacity limit 9 of ml.p5.48xlarge is above the service environment's 8",
    "lower it or raise the environment's",
)


def load(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text())


def github_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = load("github-actions.yml")["jobs"]["validate"]["steps"]
    return steps


@pytest.fixture
def repository(tmp_path: Path) -> Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]]:
    """A repository with app.py and this quota.yaml, and a shell in it that has what the pipelines install."""

    def make(quota: str) -> Callable[[str], subprocess.CompletedProcess[str]]:
        for name in ("app.py", "cdk.json"):
            shutil.copy(ROOT / name, tmp_path)
        (tmp_path / "quota.yaml").write_text(quota)
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / "python3").unlink(missing_ok=True)
        # not a link: an interpreter that is called by one would not find the environment's packages
        (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (tmp_path / "bin" / "python3").chmod(0o755)
        path = [tmp_path / "bin", Path(sys.executable).parent, ROOT / "node_modules" / ".bin", os.environ["PATH"]]
        environment = {**os.environ, "PATH": os.pathsep.join(map(str, path))}

        def shell(command: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                ["bash", "-eo", "pipefail", "-c", command],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        return shell

    return make


@pytest.mark.slow
def test_github_passes_a_good_change(
    repository: Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]], tmp_path: Path
) -> None:
    shell = repository(GOOD)
    commands = [step["run"] for step in github_steps() if "run" in step and step["name"] != "Install"]
    assert len(commands) == 4
    for command in commands:
        result = shell(command)
        assert result.returncode == 0, result.stdout + result.stderr
    assert json.loads((tmp_path / "quota-policy.sarif").read_text())["runs"][0]["results"] == []


def test_github_fails_a_bad_change(
    repository: Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]], tmp_path: Path
) -> None:
    """The message alone is enough to mend it, in each step that fails."""
    shell = repository(BAD)
    for step in github_steps():
        command = step.get("run", "")
        if command.startswith(("batch-quota validate quota.yaml", "cdk synth")):
            result = shell(command)
            assert result.returncode != 0, command
            if ">" not in command:
                assert [part for part in ENOUGH_TO_MEND_IT if part not in result.stdout + result.stderr] == []
    (sarif,) = json.loads((tmp_path / "quota-policy.sarif").read_text())["runs"]
    place = sarif["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("quota.yaml", BAD_LINE)
    uploads = [step for step in github_steps() if "upload-sarif" in step.get("uses", "")]
    assert [(step["if"], step["with"]["sarif_file"]) for step in uploads] == [("always()", "quota-policy.sarif")]


@pytest.mark.parametrize(("quota", "status"), [(GOOD, 0), (BAD, 1)])
def test_gitlab(
    repository: Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]],
    tmp_path: Path,
    quota: str,
    status: int,
) -> None:
    job = load("gitlab-ci.yml")["quota-policy"]
    result = repository(quota)("\n".join(job["script"]))
    assert result.returncode == status, result.stderr
    suite = Xml.fromstring((tmp_path / job["artifacts"]["reports"]["junit"]).read_text())
    assert int(suite.attrib["failures"]) == len(list(suite.iter("failure")))
    assert bool(list(suite.iter("failure"))) is bool(status)
    if status:
        assert [part for part in ENOUGH_TO_MEND_IT if part not in result.stdout] == []


def test_gitlab_shows_a_file_of_the_wrong_form(
    repository: Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]], tmp_path: Path
) -> None:
    quota = GOOD.replace("strategy: RESERVE", "strateg: RESERVE")
    line = 1 + quota.split("strateg: ")[0].count("\n")
    job = load("gitlab-ci.yml")["quota-policy"]
    result = repository(quota)("\n".join(job["script"]))
    assert (result.returncode, f"quota.yaml:{line}:17: " in result.stderr) == (2, True)
    failure = next(Xml.fromstring((tmp_path / job["artifacts"]["reports"]["junit"]).read_text()).iter("failure"))
    assert failure.attrib["type"] == "QM-F04"
    assert "did you mean strategy?" in failure.attrib["message"]


@pytest.mark.parametrize(("quota", "status"), [(GOOD, 0), (BAD, 1)])
def test_pre_commit_hook(
    repository: Callable[[str], Callable[[str], subprocess.CompletedProcess[str]]], quota: str, status: int
) -> None:
    (hook,) = load("pre-commit-config.yaml")["repos"][0]["hooks"]
    assert re.search(hook["files"], "teams/quota.yml")
    assert not re.search(hook["files"], "notquota.yaml")
    result = repository(quota)(f"{hook['entry']} quota.yaml quota.yaml")  # it is given every file that changed
    assert result.returncode == status
    assert all(part in result.stdout for part in ENOUGH_TO_MEND_IT) is bool(status)
