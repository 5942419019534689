"""The extras that are named when something is missing are those that can be installed."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files, requires

import pytest

from constructs_qm.extras import EXTRAS, MissingExtraError, require


def modules_of(extra: str) -> set[str]:
    """Return the names of what an extra's distributions put beside each other, as far as they are installed."""
    wanted = [line for line in requires("constructs-qm") or () if re.search(rf"extra == .{extra}.", line)]
    found = set()
    for name in (re.split(r"[\[<>=;! ]", line)[0] for line in wanted):
        with suppress(PackageNotFoundError):  # one for another system
            found |= {file.parts[0] for file in files(name) or ()}
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_the_modules_that_are_looked_for(extra: str) -> None:
    indirect = {"flask"}  # of moto's own extra `server`
    assert set(EXTRAS[extra]) - indirect <= modules_of(extra)


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_is_installed_passes(extra: str) -> None:
    require(extra, "this")


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtraError, match=r"the report needs the extra 'report' .*constructs-qm\[report\]"):
        require("report", "the report")
