"""The demo's report: what the shares used follows from the transitions it shows."""

from __future__ import annotations

import pytest

pytest.importorskip("moto", reason="needs the extra `local`")

from support.lab import G5
from support.pages import Page

from constructs_qm.demo import DemoStep, Transition
from constructs_qm.report.demo_page import demo_page, timeline_of
from preemption_auditor import audit
from quota_scheduler import QuotaPolicy

STEPS = [
    DemoStep(
        "two jobs",
        [
            Transition("2026-01-01T00:00:01Z", "one", "QS1", "RUNNABLE", "submitted", "id-1"),
            Transition("2026-01-01T00:00:01Z", "two", "QS1", "RUNNABLE", "submitted", "id-2"),
            Transition("2026-01-01T00:00:01Z", "one", "QS1", "SCHEDULED", "own", "id-1"),
            Transition("2026-01-01T00:00:11Z", "two", "QS1", "SCHEDULED", "borrows", "id-2"),
            Transition("2026-01-01T00:00:21Z", "two", "QS1", "RUNNING", "<i>trains</i>", "id-2"),
        ],
        [("QS1", 1, 2, ["one", "two"], [])],
    ),
    DemoStep(
        "a job of another share",
        [
            Transition("2026-01-01T00:01:01Z", "three", "QS2", "RUNNABLE", "submitted", "id-3"),
            Transition("2026-01-01T00:01:01Z", "two", "QS1", "RUNNING, stopping", "for three", "id-2"),
            Transition("2026-01-01T00:01:21Z", "two", "QS1", "RUNNABLE", "stopped", "id-2"),
            Transition("2026-01-01T00:01:21Z", "three", "QS2", "SCHEDULED", "own", "id-3"),
        ],
        [("QS1", 1, 1, ["one"], ["two"])],
        ["three should be SUCCEEDED"],
    ),
]


def test_what_the_shares_used_follows_from_the_transitions() -> None:
    timeline = timeline_of(STEPS)
    assert timeline.end - timeline.start == 120
    unit = "ml.g5.xlarge"
    assert sum(timeline.capacity["QS1", unit].own) == 120
    assert sum(timeline.capacity["QS1", unit].borrowed) == 80 - 10
    assert sum(timeline.capacity["QS2", unit].own) == 120 - 80
    assert sum(timeline.capacity["QS2", unit].lendable_idle) == 80
    assert sum(timeline.capacity["QS3", unit].reserved_idle) == 120
    assert sum(timeline.shares["QS1"].waiting) == 10 + 40


def test_the_page_shows_steps_differences_and_the_audit() -> None:
    page = Page(demo_page(STEPS, audit([], QuotaPolicy({G5: 3}))))
    text = " ".join(page.all("main")[0].text.split())
    assert "As in the article." in text
    assert "Differs from the article: three should be SUCCEEDED" in text
    assert "<i>trains</i>" in text
    assert "No violation and no divergence found" in text
    assert not page.all("i")
    ids = [element.attributes["id"] for element in page.root.everything() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
