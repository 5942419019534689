"""The examples: rendered whole, and clean for those who check templates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cdk_nag import AwsSolutionsChecks, NagPack, ServerlessChecks
from cfnlint.api import lint

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk
    from aws_cdk.cx_api import CloudAssembly

NAMES = ("Article", "Audited", "Migrated", "Pipeline", "Team", "ThreeTeams")
TEMPLATES = Path(__file__).parent / "templates"

# The CDK's own state machine depends on its role twice over.
LINT_OF_THE_CDK = {"W3005"}


@pytest.fixture(scope="module")
def assembly(examples: cdk.App) -> CloudAssembly:
    return examples.synth()


def test_every_example_is_here(assembly: CloudAssembly) -> None:
    scripts = [path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.py")]
    assert len(scripts) == len(NAMES) == len(assembly.stacks)


def without_hashes(template: object) -> object:
    """Return a template that stays the same when the code of a function changes."""
    return json.loads(re.sub(r"[0-9a-f]{64}(?=\.zip)", "HASH", json.dumps(template)))


@pytest.mark.parametrize("name", NAMES)
def test_template(assembly: CloudAssembly, name: str, request: pytest.FixtureRequest) -> None:
    """Compares with templates/NAME.json; ``pytest --write-templates`` writes it anew."""
    template = without_hashes(assembly.get_stack_by_name(name).template)
    expected = TEMPLATES / f"{name}.json"
    if request.config.getoption("--write-templates"):
        expected.write_text(json.dumps(template, indent=1, sort_keys=True) + "\n")
    assert template == json.loads(expected.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_says_nothing(assembly: CloudAssembly, name: str) -> None:
    assert [str(message.entry.data) for message in assembly.get_stack_by_name(name).messages] == []


@pytest.mark.parametrize("name", NAMES)
def test_cfn_lint_finds_nothing(assembly: CloudAssembly, name: str) -> None:
    matches = lint(json.dumps(assembly.get_stack_by_name(name).template))
    assert [str(match) for match in matches if match.rule.id not in LINT_OF_THE_CDK] == []


@pytest.mark.parametrize("pack", [AwsSolutionsChecks, ServerlessChecks])
def test_nag_finds_nothing_unacknowledged(examples: cdk.App, pack: Callable[..., NagPack]) -> None:
    report = pack(verbose=True).validate_scope(examples)
    assert [f"{v.rule_name}: {v.description}" for v in report.violations] == []
