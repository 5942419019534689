"""The extras that are named when something is missing are those that can be installed."""

from __future__ import annotations

import re
import sys
from importlib.metadata import packages_distributions, requires

import pytest

from constructs_qm.extras import EXTRAS, MissingExtraError, require


def installed_by(extra: str) -> set[str]:
    """Return the distributions that an extra brings, by their normalised names."""
    wanted = [line for line in requires("constructs-qm") or () if re.search(rf"extra == .{extra}.", line)]
    return {re.split(r"[\[<>=;! ]", line)[0].lower() for line in wanted}


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_the_modules_that_are_looked_for(extra: str) -> None:
    distributions = packages_distributions()
    indirect = {"flask"}  # of moto's own extra `server`
    for module in set(EXTRAS[extra]) - indirect:
        assert installed_by(extra) & {name.lower().replace("_", "-") for name in distributions[module]}, module


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_is_installed_passes(extra: str) -> None:
    require(extra, "this")


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtraError, match=r"the report needs the extra 'report' .*constructs-qm\[report\]"):
        require("report", "the report")
