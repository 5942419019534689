"""Reports in a real browser: drawn without errors or requests, by keyboard, in light and dark, at any size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser import take_picture
from support.lab import BORROW, G5, LEND, share
from support.reported import reported
from support.rogues import ROGUES, play

from constructs_qm.cli.demo import demo
from constructs_qm.cli.simulate import simulate
from constructs_qm.report.audit_page import audit_page
from preemption_auditor import AuditSettings, audit
from quota_scheduler import QuotaPolicy
from quota_scheduler.workload import WorkloadJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

WORKLOADS = Path(__file__).parents[2] / "examples" / "workloads"
DRAWN = "figures.every((figure) => figure.drawn)"
CHART_COLOUR = "getComputedStyle(document.querySelector('#utilisation .main-svg')).backgroundColor"
DARK, LIGHT = "rgb(16, 21, 27)", "rgb(255, 255, 255)"
RANGE = "(id) => document.querySelector(`#${id} .plot`).layout.xaxis.range"
MARK = """(id) => {
  const plot = document.querySelector(`#${id} .plot`), trace = plot.data.find((trace) => trace.customdata);
  const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(trace.x[0]), box.top + yaxis._offset + yaxis.d2p(trace.y[0])];
}"""
"""Where the first mark that can be picked is on the screen."""
NAMED = """(plots) => plots.map((plot) => ["labelledby", "describedby"].map(
  (name) => document.getElementById(plot.getAttribute(`aria-${name}`)).textContent))"""
BUTTONS = {"Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Autoscale", "Reset axes"}
PAIRS = "(list) => [...list.querySelectorAll('dt')].map((e) => [e.textContent, e.nextSibling.textContent])"
PICTURES = {
    *(("thousand", "summary", "light"), ("thousand", "capacity", "dark"), ("thousand", "activity", "light")),
    *(("audited", "verdict", "light"), ("audited", "findings", "dark"), ("demonstrated", "capacity", "light")),
}
"""Report, section and colours of the pictures in the documentation."""


def simulated(folder: Path, jobs: int) -> Path:
    """Compare the example's policies on so many jobs of the example's teams."""
    workload = folder / f"three-teams-{jobs}.yaml"
    workload.write_text((WORKLOADS / "three-teams.yaml").read_text().replace("jobs: 300", f"jobs: {jobs}"))
    report = folder / f"{jobs}.html"
    simulate([WORKLOADS / "reserve.yaml", WORKLOADS / "share.yaml"], workload, report=report, as_json=True)
    return report


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("thousand"), 1000)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    writer = play(13, ROGUES["takes limits for larger"])
    report = audit(writer.recording.events, writer.first_policy, AuditSettings("complete"))
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    path.write_text(audit_page("events.jsonl", json.loads(json.dumps(report.to_document()))), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.html"
    demo(report_to=path)
    return path


@pytest.fixture(scope="module")
def preempted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """B takes its instance back from A's second job, once."""
    policy = QuotaPolicy({G5: 3}, (share("A", 1, BORROW), share("B", 1, LEND)))
    jobs = [("first", "A", 0), ("<b>victim</b>", "A", 1), ("heir", "B", 4)]
    plans = [WorkloadJob(name, share, at, 10, ((G5, 1),)) for name, share, at in jobs]
    path = tmp_path_factory.mktemp("preempted") / "report.html"
    path.write_text(reported({"policy": policy}, *plans), encoding="utf-8")
    return path


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a report; whatever it asks for or complains of fails the test."""
    contexts, trouble = [], []

    def open_page(path: Path, scheme: str = "light", width: int = 1400) -> Page:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 1000})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: trouble.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def until(page: Page, expression: str, argument: object = None) -> None:
    """Wait until an expression is true; the page's policy keeps Playwright from doing that inside the page."""
    for _ in range(600):
        if page.evaluate(expression, argument):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def draw_all(page: Page) -> None:
    """Scroll through the page, since charts are drawn when they come near."""
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
    until(page, DRAWN)


def at(page: Page, section: str) -> None:
    """Bring a section to the top."""
    page.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("report", ["thousand", "audited", "demonstrated"])
def test_every_chart_is_drawn(show, request: pytest.FixtureRequest, report: str, scheme: str) -> None:
    page = show(request.getfixturevalue(report), scheme)
    draw_all(page)
    for plot in page.locator(".plot").all():
        assert plot.locator("svg.main-svg").count() >= 1
    titles = page.locator(".modebar-btn").evaluate_all("(buttons) => buttons.map((button) => button.dataset.title)")
    assert set(titles) <= BUTTONS  # above all, none that would upload the chart
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for section in page.locator("nav a").all():
        name = section.get_attribute("href").removeprefix("#")
        at(page, name)
        if (report, name, scheme) in PICTURES:
            take_picture(page, f"report-{report}-{name}-{scheme}", full_page=False)


def test_tables_are_reached_with_the_keyboard_alone(show, thousand: Path) -> None:
    page = show(thousand)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    assert page.evaluate("document.activeElement.textContent") == "Table: Utilisation of the environment"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert not page.locator("#utilisation-table").is_visible()
    page.keyboard.press("Enter")
    assert page.locator("#utilisation-table").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"


def test_a_reader_without_eyes_finds_names_and_values(show, preempted: Path) -> None:
    page = show(preempted)
    names = page.locator(".plot").evaluate_all(NAMED)
    assert len(names) == 6
    assert all(len(title) > 5 and len(summary) > 20 for title, summary in names)
    tree = page.locator("main").aria_snapshot()
    assert 'heading "Dispatches and preemptions"' in tree
    assert 'rowheader "cross-share preemptions"' in tree
    page.locator("#activity-0 summary").click()
    table = page.get_by_role("table", name="1 preemptions")
    assert table.get_by_role("rowheader").all_inner_texts() == ["<b>victim</b>"]


def test_light_and_dark_follow_the_system_and_the_button(show, thousand: Path) -> None:
    page = show(thousand, "dark")
    draw_all(page)
    body = "getComputedStyle(document.body).backgroundColor"
    assert [page.evaluate(body), page.evaluate(CHART_COLOUR)] == [DARK, DARK]
    page.emulate_media(color_scheme="light")
    until(page, f"{CHART_COLOUR} == '{LIGHT}'")
    assert page.evaluate(body) == LIGHT
    page.get_by_role("button", name="Dark colours").click()
    until(page, f"{CHART_COLOUR} == '{DARK}'")
    assert page.evaluate(body) == DARK
    assert page.get_by_role("button", name="Light colours").is_visible()


def zoom(page: Page, chart: str) -> list[float]:
    """Drag over the middle third of a chart, and return what it shows then."""
    plot = page.locator(f"#{chart} .plot")
    plot.scroll_into_view_if_needed()
    layer = page.locator(f"#{chart} .nsewdrag").first
    box = layer.bounding_box()
    assert box is not None
    before = page.evaluate(RANGE, chart)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 3, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 2 / 3, y, steps=5)
    page.mouse.up()
    until(page, f"(id) => ({RANGE})(id)[0] > {before[0]}", chart)
    shown: list[float] = page.evaluate(RANGE, chart)
    return shown


def test_policies_are_compared_over_the_same_time(show, thousand: Path) -> None:
    page = show(thousand)
    draw_all(page)
    shown = zoom(page, "capacity-0")
    assert 0 < shown[0] < shown[1]
    for other in ("capacity-1", "activity-1", "waiting-0", "utilisation"):
        until(page, f"(id) => ({RANGE})(id)[0] == {shown[0]}", other)
        assert page.evaluate(RANGE, other) == shown
    page.get_by_role("button", name="Dark colours").click()
    until(page, CHART_COLOUR.replace("utilisation", "capacity-1") + f" == '{DARK}'")
    assert page.evaluate(RANGE, "capacity-1") == pytest.approx(shown)


@pytest.mark.parametrize("by", ["pointer", "keyboard"])
def test_a_preemption_that_is_picked_shows_whom_it_was_for(show, preempted: Path, by: str) -> None:
    page = show(preempted)
    draw_all(page)
    panel = page.locator("#activity-0-picked")
    assert panel.inner_text() == ""
    if by == "pointer":
        page.locator("#activity-0").scroll_into_view_if_needed()
        x, y = page.evaluate(MARK, "activity-0")
        page.mouse.move(x, y)
        page.mouse.click(x, y)
    else:
        page.locator("#activity-0 summary").press("Enter")
        page.get_by_role("button", name="<b>victim</b>").press("Enter")
    panel.get_by_text("heir").wait_for()
    facts = panel.evaluate(PAIRS)
    assert dict(facts) == {
        **{"stopped job": "<b>victim</b>", "its share": "A", "kind": "cross-share", "for job": "heir", "of share": "B"},
        **{"decided": "4s", "stopped after": "2s", "instances": "1", "instance-hours held": "0.00", "then": "RUNNABLE"},
    }
    until(page, "document.querySelector('#activity-0 .plot').layout.annotations.length == 2")
    if by == "pointer":
        at(page, "activity")
        take_picture(page, "report-picked", full_page=False)


def test_a_narrow_screen_needs_no_sideways_scrolling(show, thousand: Path) -> None:
    page = show(thousand, width=400)
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_hundred_thousand_jobs_stay_readable(show, tmp_path: Path) -> None:
    path = simulated(tmp_path, 100_000)
    assert path.stat().st_size < 10_000_000
    for scheme in ("light", "dark"):
        page = show(path, scheme)
        draw_all(page)
        name = "capacity" if scheme == "light" else "activity"
        at(page, name)
        take_picture(page, f"report-hundred-thousand-{name}-{scheme}", full_page=False)
    shown = zoom(page, "capacity-1")
    until(page, f"(id) => ({RANGE})(id)[0] == {shown[0]}", "activity-1")
    page.locator("#activity-1 summary").press("Enter")
    page.locator("#activity-1 button.pick").first.press("Enter")
    page.locator("#activity-1-picked dl").wait_for()
    assert "45," in page.locator("#activity-1 figcaption").inner_text()
