"""``batch-quota audit --report``: the page tells what ``--json`` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.pages import Page
from support.rogues import ROGUES, play

from quota_scheduler import dump_policy

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def recorded(tmp_path: Path) -> list[str]:
    """Record a scheduler that takes limits for larger; return the arguments that audit it."""
    writer = play(13, ROGUES["takes limits for larger"])
    (tmp_path / "events.jsonl").write_text("\n".join(json.dumps(event) for event in writer.recording.events))
    (tmp_path / "policy.json").write_text(json.dumps(dump_policy(writer.first_policy)))
    return [str(tmp_path / "events.jsonl"), "--policy", str(tmp_path / "policy.json"), "--delivery", "complete"]


def test_every_finding_is_on_the_page(run, recorded: list[str], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    status, out, err = run("audit", *recorded, "--json", "--report", path)
    assert (status, err) == (1, "")
    document = json.loads(out)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.all("h1")[0].text == "Audit of events.jsonl"
    shown = [row[:2] for row in page.rows("findings-over-time")]
    assert shown == [[finding["rule"], finding["kind"]] for finding in document["findings"]]
    assert len(shown) > 20
    witnesses = page.by_id("findings").all("details")
    assert len(witnesses) == len(shown)
    text = page.by_id("findings").text
    for finding in document["findings"]:
        assert finding["seen"] in text
        assert finding["expected"] in text
        assert ", ".join(finding["events"]) in text
    assert [row[0] for row in page.rows("preemptions")] == [entry["job"] for entry in document["preemptions"]]
    coverage = page.by_id("verdict").all("dl")[0]
    assert [e.text for e in coverage.all("dd")] == [str(count) for count in document["coverage"].values()]


def test_a_report_that_cannot_be_written_stops_the_command(run, recorded: list[str], tmp_path: Path) -> None:
    status, out, err = run("audit", *recorded, "--report", tmp_path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "is a folder: name a file" in err
