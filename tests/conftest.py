"""What must be in place before aws_cdk is imported for the first time, and options of all tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# The CDK's own template validator takes seconds a synthesis; test_builtin_validator.py runs it once.
os.environ["CDK_VALIDATION"] = "false"
# Node 20 is the oldest that the project supports; the CDK warns of it on every start.
os.environ["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = "20"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-templates",
        action="store_true",
        help="write the templates that tests/synth/test_examples.py compares; read the diff before you commit",
    )
