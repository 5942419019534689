from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest

from examples.article import ArticleStack
from examples.auditor import AuditedStack
from examples.import_into_team_stack import TeamStack
from examples.migrate_fifo_queue import MigratedStack
from examples.step_functions import PipelineStack
from examples.three_teams import ThreeTeamsStack

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "Article": ArticleStack,
    "Audited": AuditedStack,
    "Migrated": MigratedStack,
    "Pipeline": PipelineStack,
    "Team": TeamStack,
    "ThreeTeams": ThreeTeamsStack,
}


@pytest.fixture
def app() -> cdk.App:
    return cdk.App()


@pytest.fixture
def stack(app: cdk.App) -> cdk.Stack:
    return cdk.Stack(app, "Stack")


@pytest.fixture(scope="session")
def render() -> Callable[[cdk.Stack], dict[str, Any]]:
    """Synthesise the app of a stack and return the stack's resources by logical id."""

    def _render(stack: cdk.Stack) -> dict[str, Any]:
        stage = cdk.Stage.of(stack)
        assert stage is not None
        return dict(stage.synth().get_stack_artifact(stack.artifact_id).template.get("Resources", {}))

    return _render


@pytest.fixture(scope="session")
def examples() -> cdk.App:
    """All examples in one app, with the settings of cdk.json."""
    app = cdk.App(context=json.loads((ROOT / "cdk.json").read_text())["context"])
    for name, stack in EXAMPLES.items():
        stack(app, name)
    return app
