"""The command line as people see it, at a terminal, and as programs do, in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.terminal import COLUMNS, COMMAND, ROOT, at_terminal, environment, in_pipe

from constructs_qm.cli.application import STAGES

if TYPE_CHECKING:
    from pathlib import Path

CASE = "tests/cases/article-qs1-qs2-qs3.json"
POLICY = "examples/article.yaml"
RECORDING = "examples/recordings/article.jsonl"
WORKLOADS = "examples/workloads"
SHARE = f"{WORKLOADS}/share.yaml"
COMMANDS = [name for commands in STAGES.values() for name in commands]
OUTPUTS = [
    ["--help"],
    ["replay", CASE],
    ["validate", POLICY],
    ["explain", "--job", "qs1_job_low", "--case", CASE],
    ["audit", RECORDING, "--policy", POLICY, "--delivery", "complete"],
    ["simulate", "--policy", SHARE, f"{WORKLOADS}/reserve.yaml", "--trace", f"{WORKLOADS}/three-teams.yaml"],
]


def title(arguments: list[str]) -> str:
    return arguments[0]


@pytest.mark.parametrize("arguments", OUTPUTS, ids=title)
def test_output_fits_a_terminal_and_is_whole(arguments: list[str]) -> None:
    seen = at_terminal(*arguments)
    assert seen.status == 0
    assert [line for line in seen.lines if len(line) > COLUMNS] == []
    assert "…" not in seen.text


@pytest.mark.parametrize("arguments", OUTPUTS, ids=title)
def test_output_is_plain_in_a_pipe(arguments: list[str]) -> None:
    ended = in_pipe(*arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.isascii(), "no escape code, no drawn line, nothing cut off"
    assert "\x1b" not in ended.stdout


def test_a_row_of_a_table_is_a_line_in_a_pipe() -> None:
    ended = in_pipe(*OUTPUTS[-1])
    rows = [line.split() for line in ended.stdout.splitlines()]
    assert [row[2] for row in rows if row[:2] == ["product", "reserve"]] == ["37", "0"]


def test_no_escape_code_where_no_color_is_set() -> None:
    assert "\x1b" in at_terminal(*OUTPUTS[4]).text
    assert "\x1b" not in at_terminal(*OUTPUTS[4], NO_COLOR="1").text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    status, out, _ = run(command, "--help")
    lines = out.splitlines()
    examples = lines[lines.index("Examples:") + 1 :]
    assert status == 0
    assert any(line.startswith(f"  batch-quota {command} ") or line == f"  batch-quota {command}" for line in examples)
    assert [line for line in lines if len(line) > COLUMNS] == []


def test_a_long_run_shows_its_progress_and_ends_with_130_when_interrupted(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = (f"{row},{row},900,1,research" for row in range(200_000))
    trace.write_text("job_id,submit_s,duration_s,gpus,team\n" + "\n".join(rows))
    seen = at_terminal("simulate", "--policy", SHARE, "--trace", trace, interrupt_at="━")
    assert seen.status == 130
    assert seen.lines[-1].endswith("batch-quota: interrupted")
    assert "Traceback" not in seen.text


@pytest.mark.parametrize("arguments", [["replay", "--json", CASE], ["audit", RECORDING, "--policy", POLICY]], ids=title)
def test_a_reader_who_has_seen_enough_ends_it_quietly(arguments: list[str]) -> None:
    end, start = os.pipe()
    os.close(end)
    command = [*COMMAND, *arguments]
    ended = subprocess.run(command, stdout=start, stderr=subprocess.PIPE, env=environment(), cwd=ROOT, check=False)
    os.close(start)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_help_version_and_completion_import_no_command() -> None:
    code = (
        "import sys; from constructs_qm.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'aws_cdk', 'boto3', 'moto', 'rich', 'yaml', 'quota_scheduler'}\n"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or 0)"
    )
    completion = {"_BATCH_QUOTA_COMPLETE": "complete_bash", "COMP_WORDS": "batch-quota re", "COMP_CWORD": "1"}
    for arguments, variables in ((["--help"], {}), (["--version"], {}), ([], completion)):
        command = [sys.executable, "-c", code, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment(**variables), check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", COMMANDS),
        ("re", ["replay"]),
        ("validate --format s", ["sarif"]),
        ("audit --delivery ", ["complete", "lossy"]),
        ("explain --endp", ["--endpoint-url"]),
        (f"explain --case {ROOT / CASE} --job qs2", ["qs2_job_1"]),
        (f"explain --case {ROOT / 'README.md'} --job ", []),
    ],
)
def test_shells_complete_commands_options_and_values(
    typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, run
) -> None:
    monkeypatch.setenv("_BATCH_QUOTA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"batch-quota {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" "))))
    status, out, _ = run()
    assert (status, out.split()) == (0, offered)


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_is_shown_for_a_shell(shell: str, monkeypatch: pytest.MonkeyPatch, run) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the shell the tests were started from
    status, out, _ = run("--show-completion", shell)
    assert status == 0
    assert f"_BATCH_QUOTA_COMPLETE=complete_{shell}" in out
