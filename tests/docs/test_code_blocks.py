"""Every block of code in the README and the documentation runs, or says why it can't and is parsed.

The blocks of a page are run in order, as a reader would, each beginning in a folder where the checkout's files are: a
block with a title is the file of that name; a console block shows commands and, below each, what it prints; a text
block after Python shows what that prints; YAML, JSON and CSV have to be what some command takes.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.documentation import PAGES, ROOT, Block, blocks_of

from constructs_qm.cli import main
from constructs_qm.validation.inputs import read_input
from constructs_qm.workload_files import read_workload
from quota_scheduler import load_policy
from quota_scheduler.recorded_state import load_state
from quota_scheduler.traces import TraceReading

if TYPE_CHECKING:
    from collections.abc import Callable

LANGUAGES = {"python", "console", "yaml", "json", "csv", "text"}
CHECKOUT = ("app.py", "cdk.json", "lambda", "node_modules", "tests")
READERS_OWN = {
    "docs/auditor.md": {
        "events.jsonl": ROOT / "examples" / "recordings" / "article.jsonl",
        "policy.json": ROOT / "examples" / "article.yaml",
    },
}
"""Files that a page takes for granted."""
SHARE = yaml.safe_load((ROOT / "examples" / "workloads" / "share.yaml").read_text())
UNIT = "ml.g5.12xlarge"
READERS_NAMES = {
    "docs/auditor.md": {"policy": yaml.safe_load((ROOT / "examples" / "article.yaml").read_text())},
    "docs/report.md": {
        "policy": load_policy(SHARE),
        "workload": read_workload(
            ROOT / "examples" / "workloads" / "three-teams.yaml",
            TraceReading(UNIT, frozenset({"research", "product", "nightly"})),
            seed=0,
        ),
    },
}
"""Names that a page's Python takes for granted."""


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_BLOCKS = [page for page in PAGES if blocks_of(page)]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
NOT_RUN = [block for block in BLOCKS if block.reason]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the checkout's files, no AWS account, and no other configuration."""
    for name in CHECKOUT:
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "lambda")]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str]]:
    """Run a command line; return its exit status and what it prints. ``batch-quota`` by itself runs in this process."""

    def run(line: str) -> tuple[int, str]:
        words = shlex.split(line, comments=True)
        assert words[:2] != ["batch-quota", "local"], "it would serve for ever: say that it isn't run"
        if words[0] == "make":
            return 0, ""  # it is what the tests are run by; test_documented_commands.py knows its targets
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            return 0, ""
        if words[0] != "batch-quota" or {"|", "&&", ">>", "<"} & set(words):
            ended = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
            return ended.returncode, ended.stdout + ended.stderr
        into = words.index(">") if ">" in words else len(words)
        monkeypatch.setattr(sys, "argv", words[:into])
        with pytest.raises(SystemExit) as ended_with:
            main()
        printed = capsys.readouterr()
        if into < len(words):
            Path(words[into + 1]).write_text(printed.out)
            return int(ended_with.value.code or 0), printed.err
        return int(ended_with.value.code or 0), printed.out + printed.err

    return run


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=page_id)
def test_a_pages_blocks_run(
    page: Path, folder: Path, shell: Callable[[str], tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, source in READERS_OWN.get(page_id(page), {}).items():
        data = yaml.safe_load(source.read_text()) if source.suffix == ".yaml" else None
        (folder / name).write_text(json.dumps(data) if data else source.read_text())
    names: dict[str, Any] = {"__name__": "documentation", **READERS_NAMES.get(page_id(page), {})}
    printed = ""
    for block in blocks_of(page):
        os.chdir(folder)  # every block begins there, whatever the one before changed to
        if block.title and not block.snippets:
            Path(block.title).write_text(block.text)
        if block.reason:
            parse(block)
        elif block.language == "python" and not block.snippets:
            capsys.readouterr()
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec", flags=0, dont_inherit=True)
            exec(code, names)
            printed = capsys.readouterr().out
        elif block.language == "text":
            assert printed, f"{block.place}: a text block shows what the Python above it prints"
            assert shown_in(block.text, printed), f"{block.place}: printed\n{printed}"
        elif block.language == "console":
            run_console(block, shell)
        else:
            parse(block)
            take(block, folder)


def run_console(block: Block, shell: Callable[[str], tuple[int, str]]) -> None:
    """Run each command and compare what it prints with the lines below it; ``echo $?`` shows its status."""
    status = 0
    for command, shown in commands_of(block):
        if command == "echo $?":
            assert str(status) == shown.strip(), f"{block.place}: exit status {status}"
            status = 0
            continue
        assert status == 0, f"{block.place}: exit status {status} before: {command}"
        status, out = shell(command)
        assert shown_in(shown, out), f"{block.place}: {command} printed\n{out}"
    assert status == 0, f"{block.place}: exit status {status}"


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block, continued lines joined, and what is shown of their output."""
    commands: list[tuple[str, str]] = []
    for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
        if line.startswith("$ "):
            commands.append((line[2:].strip(), ""))
        else:
            assert commands, f"{block.place}: a console block begins with a command: $ …"
            commands[-1] = (commands[-1][0], f"{commands[-1][1]}{line}\n")
    return commands


def shown_in(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed: spaces and breaks aside, and … for what it leaves out."""
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in shown.split("…"))
    return re.search(pattern.replace(r"\ .*", ".*"), " ".join(printed.split()), re.DOTALL) is not None


def parse(block: Block) -> None:
    """Raise if a block isn't what its language says."""
    if block.language == "python":
        ast.parse(block.text)
    elif block.language == "console":
        for command, _ in commands_of(block):
            shlex.split(command, comments=True)
    elif block.language == "yaml":
        list(yaml.safe_load_all(block.text))
    elif block.language == "json":
        json.loads(block.text)
    elif block.language == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(block.text))}) == 1, block.place


def take(block: Block, folder: Path) -> None:
    """Let the project's own readers take a block of data; one that none of them takes is a mistake."""
    if block.language not in ("yaml", "json", "csv"):
        return
    if any(name.startswith("examples/ci/") for name in block.snippets):
        return  # tests/synth/test_ci_examples.py runs those
    file = folder / f"block.{block.language}"
    file.write_text(block.text)
    data = None if block.language == "csv" else yaml.safe_load(block.text)
    if block.language == "csv" or (isinstance(data, dict) and "jobs" in data and "environment" not in data):
        rows = read_workload(file, TraceReading(shares=shares_in(block, data), unit=UNIT), 0).rows
        assert rows.used, f"{block.place}: no row can be used"
    elif isinstance(data, dict) and "jobs" in data:
        load_state(data)
    else:
        read_input(file)


def shares_in(block: Block, data: Any) -> frozenset[str]:
    """Return the shares that a workload names."""
    if data is None:
        return frozenset(row["team"] for row in csv.DictReader(io.StringIO(block.text)))
    return frozenset(load["share"] for load in data["shares"])


def test_a_block_has_a_language_that_is_checked() -> None:
    assert [f"{block.place}: {block.language!r}" for block in BLOCKS if block.language not in LANGUAGES] == []


def test_a_block_that_is_not_run_is_a_command_or_says_what_it_lacks() -> None:
    """Few enough to be read; a new one has to have as good a reason."""
    assert {block.reason for block in NOT_RUN} <= {
        "needs AWS",
        "needs the network",
        "starts a server; tests/local/test_aws_cli.py and test_cdk_cli.py do this",
        "tests/local/test_pytest_example.py runs it",
        "writes files; tests/unit/report and tests/local run these",
        "a drawing",
        "deploys; tests/local/test_cdk_cli.py does this",
        "deploys; tests/docs/test_tutorial_deploys.py does this",
        "needs a cluster's accounts; tests/unit/scheduler/test_traces.py reads such a file",
        "input of a Lambda function; tests/local/test_explain.py gives it",
        "the form of AWS's sample, which batch-quota import reads below",
    }


def test_a_snippet_is_an_example() -> None:
    assert {name for block in BLOCKS for name in block.snippets if not name.startswith("examples/")} == set()
