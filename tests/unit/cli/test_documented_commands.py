"""Every command, option and make target that the documentation names is there; the README's commands run.

Blocks of code are run by tests/docs/test_code_blocks.py; here are the commands in running text and tables, too.
"""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer

from constructs_qm.cli import application

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob(".github/**/*.md")])
SERVERS = ("local", "demo")
"""Commands that tests of their own run."""


def code_of(page: Path) -> str:
    """Return the code of a page, blocks and spans, with continued lines joined."""
    text = page.read_text()
    blocks = re.findall(r"^```.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return "\n".join([*blocks, *spans]).replace("\\\n", " ")


def commands_of(page: Path) -> list[list[str]]:
    """Return the words of each ``batch-quota`` command of a page, up to a pipe, a comment or a redirection."""
    lines = re.findall(r"(?:^|[$|&(] *)batch-quota +([a-z-][^\n|>#&)]*)", code_of(page), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def options_of(command: str) -> set[str]:
    function, _ = {name: entry for stage in application.STAGES.values() for name, entry in stage.items()}[command]
    module, name = function.split(":")
    made = application._make_command(getattr(import_module(f"constructs_qm.cli.{module}"), name))
    context = typer.Context(made)
    return {option for parameter in made.get_params(context) for option in parameter.opts}


OPTIONS = {name: options_of(name) for stage in application.STAGES.values() for name in stage}
OWN_OPTIONS = {"--help", "--version", "--install-completion", "--show-completion"}
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
README_COMMANDS = [words for words in commands_of(ROOT / "README.md") if words[0] in OPTIONS and len(words) > 1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_options_and_targets_are_there(page: Path) -> None:
    for command, *words in commands_of(page):
        assert command in OPTIONS or command in OWN_OPTIONS, command
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert given <= OPTIONS.get(command, set()) | {"--help"}, command
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)", code_of(page))) <= TARGETS


@pytest.mark.parametrize("words", [words for words in README_COMMANDS if words[0] not in SERVERS], ids=" ".join)
def test_the_commands_of_the_readme_run(run, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(ROOT)
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert out


def test_the_readme_shows_each_of_the_five_things() -> None:
    assert {words[0] for words in README_COMMANDS} == {"validate", "local", "simulate", "explain", "audit"}
