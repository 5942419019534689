"""The live view in a browser: what people do there, and what they see without doing anything.

With CONSTRUCTS_QM_SCREENSHOTS=1 these tests take the pictures of docs/live-view.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from local.world import G5, P4, RESERVE, World, borrow, limits
from support.browser import take_picture

from constructs_qm.local import RealClock, Rogue, Settings, SteppedClock
from constructs_qm.local.server import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.slow

HTML = "<img src=x onerror=\"document.title='broken'\">"
TIMES = "\N{MULTIPLICATION SIGN}"
WIDE = {"width": 1360, "height": 900}


@pytest.fixture
def open_view(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the live view of a world; whatever the page complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_view(world: World, complains: bool = True, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        if complains:
            page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{world.url}/_quota")
        return page

    yield open_view
    for context in contexts:
        context.close()
    # the browser itself notes every answer that is an error
    assert [text for text in complaints if "status of 4" not in text] == []


@pytest.fixture
def article(served: World) -> World:
    """The launch article's queue, where jobs run until they are told to end."""
    served.endpoint.change_settings(running_seconds=None)
    served.make_article_queue()
    return served


def row(page: Page, table: str, name: str) -> Locator:
    """The row of a table that tells of a job, or of a share."""
    heading = re.compile(f"^{re.escape(name)}$")
    return page.get_by_role("table", name=table).get_by_role("row").filter(has=page.get_by_text(heading))


SHARES, WAITING, RUNNING, PREEMPTIONS = "Quota shares", "Fronts of the queue", "Running jobs", "Recent preemptions"


def see(locator: Locator, *texts: str) -> None:
    from playwright.sync_api import expect

    for text in texts:
        expect(locator).to_contain_text(text)


def see_nothing(locator: Locator) -> None:
    from playwright.sync_api import expect

    expect(locator).to_have_count(0)


def step(page: Page, seconds: int) -> None:
    page.get_by_label("Step by, s").fill(str(seconds))
    page.get_by_role("button", name="Step the clock").click()


# -- doing things -------------------------------------------------------------------------


def test_a_job_is_submitted_and_runs(article: World, open_view: Callable[..., Page]) -> None:
    page = open_view(article)
    page.get_by_label("Name").fill("train-7")
    page.get_by_label("Quota share", exact=True).select_option("QS2")
    page.get_by_label("Priority", exact=True).fill("12")
    page.get_by_label("Runs for, s").fill("90")
    page.get_by_role("button", name="Submit").click()
    see(row(page, WAITING, "train-7"), "QS2", "12", f"1 {TIMES} {G5}", "SUBMITTED")
    see(page.get_by_role("status"), "train-7 is submitted.")
    step(page, 30)
    see(row(page, RUNNING, "train-7"), "QS2", "RUNNING, dispatched 29 s ago")
    see(row(page, SHARES, "QS2"), "1 in use, limit 1", "1 own")
    assert article.statuses() == {"train-7": "RUNNING"}
    assert page.get_by_label("Name").input_value() == "train-8"
    step(page, 90)
    see_nothing(row(page, RUNNING, "train-7"))
    assert article.statuses() == {"train-7": "SUCCEEDED"}


def test_the_clock_is_stepped(article: World, open_view: Callable[..., Page]) -> None:
    page = open_view(article)
    see(page.locator("time"), "2026-01-01 00:00:00")
    step(page, 75)
    see(page.locator("time"), "2026-01-01 00:01:15")
    assert article.endpoint.clock.now() == SteppedClock().now() + 75
    step(page, -5)
    see(page.get_by_role("alert"), "can't advance by -5 s: use a number of 0 or more")
    assert article.endpoint.clock.now() == SteppedClock().now() + 75
    step(page, 5)
    see(page.locator("time"), "2026-01-01 00:01:20")
    see_nothing(page.get_by_role("alert").filter(has_text="can't"))


def test_a_priority_is_changed(article: World, open_view: Callable[..., Page]) -> None:
    for name, priority in (("first", 3), ("second", 3), ("third", 1)):
        article.submit(name, "QS1", priority)
    article.advance(60)
    page = open_view(article)
    see(row(page, WAITING, "third"), "no job of its share has lower priority")
    page.get_by_role("button", name="Change the priority of third").click()
    dialog = page.get_by_role("dialog", name="Priority of third")
    assert dialog.get_by_label("Scheduling priority").input_value() == "1"
    dialog.get_by_label("Scheduling priority").fill("10000")
    dialog.get_by_role("button", name="Change").click()
    see(dialog.get_by_role("alert"), "10000 is not allowed")
    dialog.get_by_label("Scheduling priority").fill("4")
    take_picture(page, "live-view-priority", full_page=False)
    dialog.get_by_role("button", name="Change").click()
    see(row(page, PREEMPTIONS, "second"), "in-share", "third has higher priority than second (in-share)")
    assert not dialog.is_visible()
    step(page, 60)
    see(row(page, RUNNING, "third"), "4")


def test_a_job_is_terminated(article: World, open_view: Callable[..., Page]) -> None:
    job = article.submit("wrong", "QS2")
    article.advance(60)
    page = open_view(article)
    page.get_by_role("button", name="Terminate wrong").click()
    dialog = page.get_by_role("dialog", name="Terminate wrong")
    dialog.get_by_label("Reason").fill("")
    dialog.get_by_role("button", name="Terminate").click()
    see(dialog.get_by_role("alert"), "reason is empty: say why")
    dialog.get_by_label("Reason").fill("bad data")
    dialog.get_by_role("button", name="Cancel").click()
    assert article.job(job)["status"] == "RUNNING"
    page.get_by_role("button", name="Terminate wrong").click()
    dialog.get_by_label("Reason").fill("bad data")
    dialog.get_by_role("button", name="Terminate").click()
    see(page.get_by_text("No job runs."), "")
    assert (article.job(job)["status"], article.job(job)["statusReason"]) == ("FAILED", "bad data")


def test_an_error_is_shown_where_it_was_made(article: World, open_view: Callable[..., Page]) -> None:
    page = open_view(article)
    form = page.locator("form", has=page.get_by_role("button", name="Submit"))
    form.get_by_label("Name").fill(HTML)
    form.get_by_role("button").click()
    see(form.get_by_role("alert"), f"jobName {HTML!r}"[:20], "is not allowed: use 1 to 128 characters")
    form.get_by_label("Name").fill("good")
    form.get_by_label("Instances").fill("")
    form.get_by_role("button").click()
    see(form.get_by_role("alert"), "InstanceCount None of ml.g5.xlarge is not allowed: use a whole number")
    assert article.statuses() == {}
    form.get_by_label("Instances").fill("2")
    form.get_by_role("button").click()
    see(row(page, WAITING, "good"), f"2 {TIMES} {G5}")
    see_nothing(form.get_by_role("alert").filter(has_text="allowed"))


def test_by_keyboard_alone(article: World, open_view: Callable[..., Page]) -> None:
    article.submit("held", "QS2")
    article.advance(60)
    page = open_view(article)
    see(row(page, RUNNING, "held"), "RUNNING")

    def go_to(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            label = page.evaluate(
                "(document.activeElement.ariaLabel ?? '') || document.activeElement.labels?.[0]?.textContent"
                " || document.activeElement.textContent"
            )
            if label.strip() == name:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline == "solid", "one sees where one is"
                return
        pytest.fail(f"the Tab key doesn't reach {name}")

    go_to("Skip to the queue")
    go_to("Terminate held")
    see(page.locator("time"), "00:01:00")
    article.advance(5)
    see(page.locator("time"), "00:01:05")  # the page was drawn again
    assert page.evaluate("document.activeElement.ariaLabel") == "Terminate held"
    page.keyboard.press("Enter")
    see(page.get_by_role("dialog"), "Terminate held")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.ariaLabel") == "Terminate held"
    go_to("Name")
    page.keyboard.press("Control+A")
    page.keyboard.type("typed")
    page.keyboard.press("Enter")
    see(row(page, WAITING, "typed"), "SUBMITTED")
    page.reload()
    go_to("Step by, s")
    page.keyboard.press("Enter")
    see(page.locator("time"), "00:02:05")


def test_focus_stays_with_a_job_that_moves_up(article: World, open_view: Callable[..., Page]) -> None:
    jobs = {name: article.submit(name, "QS3", priority) for name, priority in (("holds", 9), ("one", 5), ("two", 4))}
    article.advance(60)
    page = open_view(article)
    names = page.get_by_role("table", name=WAITING).get_by_role("rowheader")
    see(names.nth(1), "two")
    page.get_by_role("button", name="Terminate two").focus()
    article.batch.update_service_job(jobId=jobs["two"], schedulingPriority=8)
    see(names.nth(0), "two")
    assert page.evaluate("document.activeElement.ariaLabel") == "Terminate two"


# -- seeing things ------------------------------------------------------------------------


def test_a_preemption_appears_by_itself_with_its_reason(article: World, open_view: Callable[..., Page]) -> None:
    for name, priority in (("qs1_job_high", 3), ("qs1_job_med", 2), ("qs1_job_low", 1)):
        article.submit(name, "QS1", priority)
    article.advance(60)
    page = open_view(article)
    see(row(page, SHARES, "QS1"), "2 in use, limit 1", "1 own · 1 borrowed")
    see(row(page, SHARES, "QS2"), "0 in use, limit 1", "1 lent to others")
    see(row(page, SHARES, "QS3"), "1 idle, reserved")
    see(row(page, SHARES, "All"), "2 of 3 in use", "1 borrowed of 1 lendable")
    see_nothing(row(page, PREEMPTIONS, "qs1_job_med"))

    article.submit("qs2_job_1", "QS2", 1)
    article.advance(10)
    see(
        row(page, PREEMPTIONS, "qs1_job_med"),
        "00:01:01",
        "cross-share",
        "qs2_job_1 takes back lent capacity: share QS2 uses ml.g5.xlarge 0 of 1; stops qs1_job_med (cross-share)",
        "Cross-share preemption triggered to reclaim borrowed capacity",
        "stopping",
    )
    see(page.get_by_role("status"), "qs1_job_med of QS1 is being preempted (cross-share).")
    see(row(page, RUNNING, "qs1_job_med"), "stopping: cross-share preemption")
    see(row(page, WAITING, "qs2_job_1"), "It waits for qs1_job_med to stop, preempted for its share.")
    see(page.get_by_role("region", name="Audit"), "Pass", "3 decisions")
    take_picture(page, "live-view")

    article.advance(60)
    see(row(page, PREEMPTIONS, "qs1_job_med"), "RUNNABLE since 00:01:21")
    see(row(page, RUNNING, "qs2_job_1"), "RUNNING")
    see(row(page, WAITING, "qs1_job_med"), "Share QS1 uses 1 of its limit of 1")
    see(page.get_by_role("region", name="Audit"), "Pass", "5 decisions")


def test_a_violation_is_shown_with_what_was_seen(article: World, open_view: Callable[..., Page]) -> None:
    article.submit("well-behaved", "QS2")
    article.submit("reserved-1", "QS3")
    article.submit("reserved-2", "QS3")
    article.advance(60)
    page = open_view(article)
    audit = page.get_by_role("region", name="Audit")
    see(audit, "Pass")
    article.endpoint.rogue = Rogue("QM-A06")
    article.advance(60)
    see(
        audit,
        "Violation",
        "QM-A06 violation",
        "Seen: cross-share preemption stopped well-behaved of QS2, which held 1 ml.g5.xlarge.",
        "Expected: no cross-share preemption in QS2, which was within its limits.",
    )
    see(row(page, PREEMPTIONS, "well-behaved"), "The scheduler did not decide this.")
    assert page.title().startswith("✗ queue")
    take_picture(page, "live-view-violation")


def test_names_are_text(article: World, open_view: Callable[..., Page]) -> None:
    """Even where something got past the API's rule for names."""
    article.submit("first", "QS2", 1)
    article.submit("second", "QS2", 0)
    article.submit("lender", "QS1", 1, demand=2)
    article.advance(60)

    def rename(states: list[Any]) -> None:
        for state in states:
            for job in state.jobs.values():
                job.name = HTML
                if job.attempt is None:
                    job.status_reason = HTML

    article.endpoint.look(rename)
    page = open_view(article)
    see(row(page, RUNNING, HTML).first, "RUNNING")
    see(row(page, WAITING, HTML).first, "RUNNABLE")
    row(page, RUNNING, HTML).first.get_by_role("button", name="Terminate").click()
    see(page.get_by_role("heading", name="Terminate"), HTML)
    page.get_by_role("dialog").get_by_role("button", name="Terminate").click()
    see(page.get_by_role("status"), f"{HTML} is terminated.")
    assert page.locator("img").count() == 0
    assert page.title() == "queue: live view"


def test_the_connection_is_lost_and_comes_back(open_view: Callable[..., Page]) -> None:
    with start(clock=SteppedClock(), seed=1) as server:
        world = World(server.endpoint, server.url)
        world.make_article_queue()
        world.submit("before", "QS1")
        page = open_view(world, complains=False)
        see(row(page, WAITING, "before"), "SUBMITTED")
    see(page.get_by_role("alert").first, "The connection to the endpoint is lost.")
    see(row(page, WAITING, "before"), "SUBMITTED")
    page.get_by_role("button", name="Submit").click()
    see(page.locator("#submit").get_by_role("alert"), "The endpoint doesn't answer: look whether")
    with start(server.port, clock=SteppedClock(), seed=1) as server:
        world = World(server.endpoint, server.url)
        see(page.get_by_text("There is no job queue with quota management yet."), "")
        see(page.get_by_role("status"), "The connection is back.")
        assert page.get_by_text("The connection to the endpoint is lost.").count() == 0
        world.make_article_queue()
        see(row(page, SHARES, "QS3"), "1 idle, reserved")
        world.submit("after", "QS1")
        see(row(page, WAITING, "after"), "SUBMITTED")


def test_queues_are_chosen_by_region_and_name(article: World, open_view: Callable[..., Page]) -> None:
    far = World(article.endpoint, article.url)
    far.batch = far.client("batch", region="eu-west-1")
    far.make_queue(limits(p4=8), name="inference")
    far.make_share("online", limits(p4=8), queue="inference")
    page = open_view(article)
    choice = page.get_by_label("Job queue")
    choice.select_option(label="queue (us-east-1, 123456789012)")
    see(row(page, SHARES, "QS1"), "0 in use")
    choice.select_option(label="inference (eu-west-1, 123456789012)")
    see(row(page, SHARES, "online"), f"{P4}: 0 in use, limit 8", "8 idle, lendable")
    page.reload()
    see(row(page, SHARES, "online"), "8 idle, lendable")
    assert page.get_by_label("Job queue").locator("option:checked").inner_text().startswith("inference")
    assert page.get_by_label("Quota share", exact=True).locator("option").all_inner_texts() == ["online"]


def test_hundreds_of_waiting_jobs(served: World, open_view: Callable[..., Page]) -> None:
    served.endpoint.change_settings(running_seconds=None)
    served.make_queue(limits(g5=2))
    served.make_share("A", limits(g5=1), borrow())
    served.make_share("B", limits(g5=1), RESERVE)
    for number in range(150):
        served.submit(f"a-{number}", "A", number)
        served.submit(f"b-{number}", "B", number)
    served.advance(60)
    page = open_view(served)
    see(page.locator("#waiting-count"), "10 of 298: the first of each share.")
    rows = page.get_by_role("table", name=WAITING).get_by_role("rowheader")
    assert rows.all_inner_texts() == [f"{share}-{number}" for share in "ab" for number in range(148, 143, -1)]
    see(row(page, SHARES, "A"), "149")
    served.submit("a-now", "A", 9999)
    see(page.get_by_role("table", name=WAITING), "a-now")
    served.advance(10)
    see(page.get_by_role("table", name=WAITING).get_by_role("rowheader").first, "a-now")


def test_time_that_passes_by_itself(open_view: Callable[..., Page]) -> None:
    with start(clock=RealClock(speed=60), settings=Settings(running_seconds=None), seed=1) as server:
        world = World(server.endpoint, server.url)
        world.make_article_queue()
        page = open_view(world)
        see(page.locator("#pace"), "Time passes by itself, 60 s a second. To step it: batch-quota local --stepped")
        assert page.get_by_role("button", name="Step the clock").is_disabled()
        page.get_by_role("button", name="Submit").click()
        see(row(page, RUNNING, "job-1"), "RUNNING")


# -- looks --------------------------------------------------------------------------------


def busy(world: World) -> None:
    """Let there be something in every part of the page, with long names."""
    world.make_share("research-and-development-of-large-language-models", limits(g5=1), queue="queue")
    for number in range(4):
        world.submit(f"run-{number}-" + "x" * 110, "QS1", number)
    world.advance(60)
    world.submit("claims-its-own", "QS2")
    world.advance(30)


@pytest.mark.parametrize("width", [360, 800, 1360, 2560])
def test_nothing_sticks_out(article: World, open_view: Callable[..., Page], width: int) -> None:
    busy(article)
    page = open_view(article, viewport={"width": width, "height": 800})
    see(row(page, RUNNING, "claims-its-own"), "RUNNING")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    sticking_out = """[...document.querySelectorAll('main *:not(option), header *:not(option)')].filter(element => {
        const box = element.getBoundingClientRect();
        const clipped = element.closest('thead') !== null;
        return !clipped && box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
    }).map(element => element.outerHTML.slice(0, 80))"""
    assert page.evaluate(sticking_out) == []
    assert page.get_by_role("table").count() == 4, "still tables to those who can't see them"
    assert page.get_by_role("cell").count() > 20


def test_on_a_telephone(article: World, open_view: Callable[..., Page]) -> None:
    article.submit("train-1", "QS1", 3)
    article.submit("train-2", "QS1", 2)
    article.advance(60)
    article.submit("train-3", "QS2")
    article.advance(10)
    page = open_view(article, viewport={"width": 360, "height": 740}, has_touch=True, device_scale_factor=2)
    see(row(page, RUNNING, "train-2"), "stopping")
    take_picture(page, "live-view-narrow", full_page=False)
    page.get_by_role("button", name="Terminate train-1").tap()
    page.get_by_role("dialog").get_by_role("button", name="Terminate").tap()
    see(page.get_by_role("status"), "train-1 is terminated.")


CONTRASTS = """() => {
    const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map(Number).slice(0, 3).map((part) => {
            const value = part / 255;
            return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        const color = getComputedStyle(element).backgroundColor;
        return /, 0\\)$/.test(color) ? behind(element.parentElement) : color;
    };
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const texts = [...document.querySelectorAll('body *')].filter((element) =>
        element.checkVisibility() && !element.disabled && hasText(element));
    return texts.map((element) => {
        const [one, other] = [getComputedStyle(element).color, behind(element)].map(luminance).sort();
        return [Math.round((other + 0.05) / (one + 0.05) * 100) / 100, element.outerHTML.slice(0, 80)];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_be_read(article: World, open_view: Callable[..., Page], scheme: str) -> None:
    for name, priority in (("qs1_job_high", 3), ("qs1_job_med", 2), ("qs1_job_low", 1)):
        article.submit(name, "QS1", priority)
    article.advance(60)
    article.submit("qs2_job_1", "QS2", 1)
    article.advance(10)
    page = open_view(article, color_scheme=scheme)
    see(row(page, PREEMPTIONS, "qs1_job_med"), "stopping")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 60
    assert [entry for entry in contrasts if entry[0] < 4.5] == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 200) == (scheme == "dark")
    if scheme == "dark":
        take_picture(page, "live-view-dark")


def test_capacity_is_told_apart_without_colours(article: World, open_view: Callable[..., Page]) -> None:
    article.submit("borrower", "QS1", demand=2)
    article.advance(60)
    page = open_view(article)
    see(row(page, SHARES, "QS1"), "1 own · 1 borrowed")
    looks = page.evaluate(
        """() => Object.fromEntries(['own', 'borrowed', 'lent', 'idle', 'reserved'].map((kind) => {
            const style = getComputedStyle(document.querySelector(`.swatch.${kind}`));
            return [kind, [style.backgroundImage, style.backgroundColor]];
        }))"""
    )
    patterns = [image for image, _ in looks.values() if image != "none"]
    assert len(set(patterns)) == len(patterns) == 3
    colours = {kind: color for kind, (_, color) in looks.items()}
    assert (colours["own"], colours["idle"]) == ("rgb(0, 114, 178)", "rgba(0, 0, 0, 0)")
    widths = (
        row(page, SHARES, "QS1")
        .locator(".segments span")
        .evaluate_all("spans => spans.map(span => [span.className, span.style.flexGrow])")
    )
    assert widths == [["own", "1"], ["borrowed", "1"], ["rest", "1"]]
