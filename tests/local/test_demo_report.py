"""``batch-quota demo --report``: the walk-through as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.pages import Page

from constructs_qm.cli.demo import demo as demo_command

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_shows_the_article_s_steps_and_preemptions(tmp_path: Path) -> None:
    path = tmp_path / "demo.html"
    assert demo_command(report_to=path) == 0
    page = Page(path.read_text(encoding="utf-8"))
    text = " ".join(page.all("main")[0].text.split())
    assert text.count("As in the article.") == 3
    assert "No violation and no divergence found; 8 of 8 decisions judged." in text
    preemptions = [row[:5] for row in page.rows("preemptions")]
    assert preemptions == [
        ["qs1_job_med", "QS1", "cross-share", "qs2_job_1 of QS2", "certain"],
        ["qs1_job_high", "QS1", "in-share", "qs1_job_low of QS1", "certain"],
    ]
    highest = {trace["name"]: max(trace["y"]) for trace in page.figure("capacity-0")["data"] if trace["xaxis"] == "x"}
    assert highest == {"own": 1, "borrowed": 1, "capacity limit": 1}
