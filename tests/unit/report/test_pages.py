"""Pages as a browser and a screen reader take them: whole, self-contained, escaped, with a table for every chart."""

from __future__ import annotations

import itertools
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256

import pytest
from support.lab import BORROW, G5, LEND, share
from support.pages import Page
from support.reported import reported

from constructs_qm.report.audit_page import audit_page
from quota_scheduler import QuotaPolicy, QuotaShare
from quota_scheduler.workload import WorkloadJob

POLICY = QuotaPolicy({G5: 3}, (share("A", 1, BORROW), share("B", 1, LEND)))
FIXED = QuotaPolicy({G5: 3}, (share("A", 1), share("B", 1)))
EVIL = '</script><img src=x onerror=alert("x")>'
LABEL = '&lt;/script&gt;&lt;img src=x onerror=alert("x")&gt;'
"""The same, as plotly's labels need it."""
NAME = "<b onclick=alert(1)>"
"""A file can have this name."""


def plan(name: str, submit: float, duration: float, share: str) -> WorkloadJob:
    return WorkloadJob(name, share, submit, duration, ((G5, 1),))


JOBS = (plan(f"a{EVIL}", 0, 10, "A"), plan(f"v{EVIL}", 1, 10, "A"), plan(f"b{EVIL}", 4, 3, "B"))


@cache
def simulation() -> Page:
    return Page(reported({f"policies/{NAME}.yaml": POLICY, "fixed.yaml": FIXED}, *JOBS, trace=EVIL))


DOCUMENT = {
    "findings": [
        {
            "rule": rule,
            "kind": kind,
            "queue": EVIL,
            "shares": ["A"],
            "jobs": [EVIL],
            "from": f"2026-01-01T00:0{minute}:00.000Z",
            "to": f"2026-01-01T00:0{minute}:09.500Z",
            "events": [f"event-{minute}", EVIL],
            "expected": f"{EVIL} to wait",
            "seen": f"{EVIL} ran {minute}",
            "revision": 0,
            "source": "quota-management",
            "replay": f"batch-quota audit EVENTS --policy POLICY --event '{EVIL}'",
        }
        for minute, (rule, kind) in enumerate(
            [("QM-A06", "violation"), ("QM-D01", "divergence"), ("QM-Q01", "note"), ("QM-A06", "violation")]
        )
    ],
    "coverage": {"read": 1234, "used": 1200, "decisions": 40, "judged": 39, "unknown": 1},
    "preemptions": [
        {
            "queue": "q",
            "job": EVIL,
            "share": "A",
            "kind": kind,
            "from": "2026-01-01T00:00:00.000Z",
            "to": "2026-01-01T00:00:00.999Z",
            "for": [{"job": f"{EVIL}-{share}", "share": share} for share in shares],
            "confidence": "open",
        }
        for kind, shares in [("cross-share", ["B", "C"]), ("in-share", ["A"]), ("unknown", [])]
    ],
    "unknown": [
        {"rule": "QM-A09", "jobs": [EVIL], "from": "2026-01-01T00:00:00.000Z", "to": "then", "gap": f"{EVIL} missing"}
    ],
    "rules": {"QM-A06": {"pass": 7, "violation": 2}, "QM-D01": {"divergence": 1, "unknown": 3}},
}


@cache
def audited() -> Page:
    return Page(audit_page(EVIL, DOCUMENT))


@pytest.fixture(scope="module", params=[simulation, audited], ids=["simulation", "audit"])
def page(request: pytest.FixtureRequest) -> Page:
    made: Page = request.param()
    return made


def test_nothing_is_loaded_and_nothing_but_our_scripts_may_run(page: Page) -> None:
    for element in page.root.everything():
        assert element.tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#").startswith("#")
        assert not [name for name in element.attributes if name.startswith("on")]
    [style] = page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    policy = next(meta.attributes["content"] for meta in page.all("meta") if "http-equiv" in meta.attributes)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    run = [script.text for script in page.all("script") if script.attributes.get("type") != "application/json"]
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']*)'", policy) == hashes
    assert len(run) == 2


def test_what_users_named_is_shown_as_they_wrote_it_and_never_as_markup(page: Page) -> None:
    assert EVIL not in page.html
    assert NAME not in page.html
    assert not page.all("img")
    assert NAME in page.all("h1")[0].text or EVIL in page.all("h1")[0].text
    cells = [cell.text for cell in page.all("th") + page.all("td") + page.all("dd")]
    assert any(EVIL in cell for cell in cells)
    for script in page.all("script"):
        if script.attributes.get("type") == "application/json":
            assert "<" not in script.text


def test_a_page_can_be_read_without_seeing_it(page: Page) -> None:
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("title")[0].text == page.all("h1")[0].text
    ids = [element.attributes["id"] for element in page.root.everything() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.root.everything():
        for name in ("aria-labelledby", "aria-describedby"):
            assert element.attributes.get(name, ids[0]) in ids
    links = [link.attributes["href"].removeprefix("#") for link in page.all("a")]
    assert set(links) <= set(ids)
    assert links[0] == page.all("main")[0].attributes["id"]
    levels = [int(element.tag[1]) for element in page.root.everything() if re.fullmatch("h[1-6]", element.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(next_one - level <= 1 for level, next_one in itertools.pairwise(levels))


def test_every_chart_has_a_caption_and_a_table(page: Page) -> None:
    figures = page.all("figure")
    assert len(figures) >= 2
    for figure in figures:
        assert len(figure.all("figcaption")[0].all("p")[0].text) > 20
        assert figure.all("table")
        for table in figure.all("table"):
            assert table.all("caption")[0].text
            [columns] = table.all("thead")
            assert {len(row.children) for row in table.all("tbody")[0].all("tr")} <= {len(columns.all("th"))}
        [plot] = [element for element in figure.all("div") if element.attributes.get("class") == "plot"]
        assert plot.attributes["role"] == "img"


def test_tables_that_scroll_can_be_reached_with_the_keyboard(page: Page) -> None:
    regions = [element for element in page.root.everything() if element.attributes.get("class") == "scroll"]
    assert len(regions) == len(page.all("table"))
    assert all(element.attributes["tabindex"] == "0" for element in regions)
    assert all(element.attributes["aria-label"] for element in regions)


def test_the_numbers_of_marks_are_those_of_the_table_s_rows(page: Page) -> None:
    picked = [figure for figure in page.all("figure") if figure.all("button")]
    assert picked
    for figure in picked:
        identity = figure.attributes["id"]
        numbers = {number for trace in page.figure(identity)["data"] for number in trace.get("customdata", [])}
        assert numbers == set(range(len(page.rows(identity))))
        for button in figure.all("button"):
            assert page.by_id(f"{identity}-{button.attributes['data-row']}").all("button")[0].text == button.text


def test_a_preemption_leads_from_its_victim_to_whom_it_was_for() -> None:
    page = simulation()
    assert page.rows("activity-0") == [
        [f"v{EVIL}", "A", "cross-share", f"b{EVIL}", "B", "4s", "2s", "1", "0.00", "RUNNABLE"]
    ]
    stopped, whom = (trace for trace in page.figure("activity-0")["data"] if "customdata" in trace)
    shares = page.figure("activity-0")["layout"]["yaxis"]["ticktext"]
    assert (stopped["x"], shares[int(stopped["y"][0])]) == ([4], "A")
    assert (whom["x"], shares[int(whom["y"][0])]) == ([6], "B")
    assert stopped["text"] == [f"v{LABEL} of A stopped for b{LABEL} of B"]
    assert page.rows("activity-1") == []
    counts = [row for row in page.rows("activity-0-counts") if row[0] == "A"]
    assert [row[1:] for row in counts if row[2:] != ["0", "0"]] == [
        *(["0s to 1s", "1", "0"], ["1s to 2s", "1", "0"]),
        *(["4s to 5s", "0", "1"], ["9s to 10s", "1", "0"]),
    ]


def test_policies_stand_side_by_side_at_one_scale() -> None:
    page = simulation()
    [header] = page.all("table")[0].all("thead")
    assert [cell.text for cell in header.all("th")] == ["measure", NAME, "fixed"]
    for kind in ("capacity", "activity", "waiting"):
        one, other = (page.figure(f"{kind}-{number}")["layout"] for number in (0, 1))
        for axis in ("xaxis", "yaxis"):
            assert one[axis]["range"] == other[axis]["range"]


def test_the_capacity_chart_draws_what_its_table_says() -> None:
    page = simulation()
    data = page.figure("capacity-0")["data"]
    own, borrowed = (
        next(trace for trace in data if trace["name"] == name and trace.get("xaxis", "x") == "x")
        for name in ("own", "borrowed")
    )
    rows = [row for row in page.rows("capacity-0") if row[0] == "A"]
    assert [float(row[3]) for row in rows] == own["y"][:-1]
    assert [float(row[4]) for row in rows] == borrowed["y"][:-1]
    # A's second job borrows B's instance from 1 s until it is stopped at 6 s, and again when B1 ended at 9 s
    assert borrowed["y"][:10] == [0, 1, 1, 1, 1, 1, 0, 0, 0, 1]
    assert own["x"][:4] == [0, 1, 2, 3]


def test_totals_and_shares_are_those_of_the_json_form() -> None:
    page = simulation()
    totals = {row.children[0].text: [cell.text for cell in row.children[1:]] for row in page.all("table")[0].all("tr")}
    assert totals["cross-share preemptions"] == ["1", "0"]
    assert totals["finished"] == ["3", "3"]
    waits = next(table for table in page.all("table") if table.all("caption")[0].text == "Waits")
    assert [row.children[1].text for row in waits.all("tr")[1:]] == [NAME, "fixed"] * 2


def test_findings_are_grouped_by_rule_with_their_witness() -> None:
    page = audited()
    section = page.by_id("findings")
    assert [heading.text.partition(":")[0] for heading in section.all("h3")] == ["QM-A06", "QM-D01", "QM-Q01"]
    first = section.all("details")[0]
    facts = dict(zip((e.text for e in first.all("dt")), (e.text for e in first.all("dd")), strict=True))
    assert facts["expected"] == f"{EVIL} to wait"
    assert facts["events"] == f"event-0, {EVIL}"
    assert first.all("pre")[0].text == f"batch-quota audit EVENTS --policy POLICY --event '{EVIL}'"
    verdict = next(e for e in page.all("p") if e.attributes.get("class") == "verdict")
    assert verdict.text == "2 violations and 1 divergence; 39 of 40 decisions judged."


def test_an_audit_that_found_nothing_says_so() -> None:
    nothing = {**DOCUMENT, "findings": [], "preemptions": [], "unknown": []}
    page = Page(audit_page("events.jsonl", nothing))
    text = " ".join(page.all("main")[0].text.split())
    assert "No violation and no divergence found; 39 of 40 decisions judged." in text
    assert "Nothing was found, and no job was preempted." in text
    assert "Every decision was judged." in text


def test_a_simulation_in_which_nothing_ran_has_a_page() -> None:
    closed = QuotaPolicy({G5: 3}, (QuotaShare("A", {G5: 1}, enabled=False),))
    page = Page(reported({"closed": closed}, *JOBS[:2]))
    assert page.rows("activity-0") == []
    assert [row[-1] for row in page.rows("utilisation")] == ["0.0%"]


def test_a_policy_without_shares_has_a_page() -> None:
    page = Page(reported({"empty": QuotaPolicy({G5: 3}), "policy": POLICY}, *JOBS))
    assert page.rows("waiting-0") == page.rows("capacity-0") == []
    assert {row[-1] for row in page.rows("total-waiting") if row[0] == "empty"} == {"0.00"}


def test_of_many_shares_those_with_most_waiting_jobs_are_drawn_alone() -> None:
    shares = [chr(ord("A") + number) for number in range(12)]
    policy = QuotaPolicy({G5: 12}, tuple(share(name, 1) for name in shares))
    jobs = [plan(f"{name}{job}", 0, 10, name) for number, name in enumerate(shares) for job in range(number + 1)]
    page = Page(reported({"policy": policy}, *jobs))
    lines = page.figure("waiting-0")["data"]
    assert [line["name"] for line in lines] == [*shares[4:], "4 other shares"]
    assert lines[-1]["y"][0] == 0 + 1 + 2 + 3
    assert {row[0] for row in page.rows("waiting-0")} == set(shares)


def test_what_is_too_much_to_show_is_counted() -> None:
    many = {**DOCUMENT, "findings": DOCUMENT["findings"][:1] * 1200, "unknown": DOCUMENT["unknown"] * 300}
    page = Page(audit_page("events.jsonl", {**many, "preemptions": DOCUMENT["preemptions"] * 200}))
    text = " ".join(page.all("main")[0].text.split())
    assert "1,100 more findings of QM-A06 are left out." in text
    assert "The chart shows the first findings; 200 later ones are left out." in text
    assert "100 before them are left out" in text
    assert "200 decisions that a rule couldn't judge, and what is missing; 100 more are left out" in text


def test_a_page_stays_small_however_long_the_simulation() -> None:
    jobs = [plan(f"j{number}", number * 1000.0, 900 + number % 700, "AB"[number % 2]) for number in range(2000)]
    few, many = (reported({"p": POLICY}, *jobs[:count]) for count in (200, 2000))
    assert len(many) < len(few) + 250_000
    page = Page(many)
    assert all(len(trace["x"]) <= 1001 for trace in page.figure("capacity-0")["data"])
    assert len(page.rows("capacity-0")) <= 2 * 24
