"""The package as it is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

import constructs_qm


@pytest.mark.parametrize("name", constructs_qm.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(constructs_qm, name) is not None


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'QuotaShares'"):
        constructs_qm.QuotaShares  # type: ignore[attr-defined]  # noqa: B018


def test_the_cdk_is_imported_only_when_a_construct_is() -> None:
    code = "import sys, constructs_qm; sys.exit('aws_cdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
