from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from constructs_qm.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command; return its exit status, standard output and standard error."""

    def run_command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["batch-quota", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run_command
