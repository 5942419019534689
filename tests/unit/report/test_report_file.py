"""A report is written as a whole or not at all, and what stands in its way is said before the work begins."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from constructs_qm.extras import MissingExtraError
from constructs_qm.report.report_file import check_report, write_report
from quota_scheduler import DocumentError


def test_a_report_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    check_report(path)
    write_report(path, "new \N{WHITE UP-POINTING TRIANGLE}")
    assert path.read_text(encoding="utf-8") == "new \N{WHITE UP-POINTING TRIANGLE}"
    assert [*tmp_path.iterdir()] == [path]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("name", "says"), [(".", "is a folder: name a file, such as"), ("nowhere/report.html", "there is no folder")]
)
def test_fails_early_where_no_file_can_be(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        check_report(tmp_path / name)


def test_fails_early_where_the_folder_may_not_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DocumentError, match=r"nothing can be written to .*: name another folder"):
        check_report(tmp_path / "report.html")


def test_fails_early_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtraError, match=r"--report needs the extra 'report' .*constructs-qm\[report\]"):
        check_report(tmp_path / "report.html")


def test_a_disk_that_fills_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DocumentError, match=r"report\.html: No space left on device"):
        write_report(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_fails_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"--report .*: No such file or directory"):
        write_report(tmp_path / "gone" / "report.html", "new")
    assert not [*tmp_path.iterdir()]
