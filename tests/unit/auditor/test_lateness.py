"""Events that come late: they reopen what was judged, and what changes is published as a revision."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.histories import Shape, faithful
from support.recording import G5, P4, Recording, job
from support.rogues import ROGUES, play

from preemption_auditor import Auditor, AuditSettings, Delivery, Finding, Kind, Report, audit
from preemption_auditor.instants import parse_time
from preemption_auditor.snapshots import take_snapshot
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

POLICY = QuotaPolicy(
    {G5: 1, P4: 1},
    (QuotaShare("A", {G5: 1}, ResourceSharing.lend()), QuotaShare("Z", {P4: 1}, ResourceSharing.reserve())),
)
SETTINGS = AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=5, tolerance=1e6)


def audited(events: list[dict[str, Any]], policy: QuotaPolicy, batch: int) -> Report:
    """Audit with a watermark that moves after every few events."""
    auditor = Auditor(policy, SETTINGS, batch=batch)
    for event in events:
        auditor.feed(event)
    return auditor.report()


def quiet(name: str, start: int, count: int) -> str:
    """Steps of a job that changes nothing for the others."""
    return "\n".join(f"{start + index * 10} {name} {('RUNNABLE', 'SCHEDULED')[index % 2]}" for index in range(count))


def story() -> list[dict[str, Any]]:
    """a ends and b follows; z goes on and on in another share and unit."""
    script = f"0 a SCHEDULED\n 10 b RUNNABLE\n 20 a SUCCEEDED\n 30 b SCHEDULED\n{quiet('z', 40, 12)}"
    return Recording(a=job("A"), b=job("A"), z=job("Z", {P4: 1})).script(script)


def moved(events: list[dict[str, Any]], index: int, to: int) -> list[dict[str, Any]]:
    events = list(events)
    events.insert(to, events.pop(index))
    return events


def a_rules(findings: tuple[Finding, ...]) -> list[tuple[str, int]]:
    return [(finding.rule, finding.revision) for finding in findings if finding.rule.startswith("QM-A")]


def test_a_late_end_withdraws_the_accusation() -> None:
    in_time = audited(story(), POLICY, 4)
    late = audited(moved(story(), 2, 9), POLICY, 4)
    assert a_rules(in_time.findings) == a_rules(late.findings) == []
    withdrawn = [note for note in late.notes if note.rule == "QM-A02"]
    assert [(note.kind, note.revision) for note in withdrawn] == [(Kind.NOTE, 1)]
    assert withdrawn[0].seen.startswith("withdrawn, since an event that came late explains it")
    assert late.coverage.late == 1


def test_a_late_dispatch_brings_an_accusation_as_a_revision() -> None:
    events = Recording(a=job("A"), b=job("A"), z=job("Z", {P4: 1})).script(
        f"0 a SCHEDULED\n 10 b RUNNABLE\n 30 b SCHEDULED\n{quiet('z', 40, 12)}"
    )
    late = audited(moved(events, 0, 9), POLICY, 4)
    assert ("QM-A02", 1) in a_rules(late.findings)


def test_what_comes_too_late_to_be_judged_again_withdraws_what_it_could_explain() -> None:
    late = audited(moved(story(), 2, 15), POLICY, 3)
    assert a_rules(late.findings) == []
    assert [note.seen[:57] for note in late.notes if note.rule == "QM-A02"] == [
        "withdrawn, since an event came too late to judge it again"
    ]


@pytest.mark.parametrize("seed", range(60))
def test_disorder_within_reach_gives_the_same_answer(seed: int) -> None:
    rng = random.Random(seed)
    policy, events = faithful(seed, Shape(actions=40, edits=("none", "logged")[seed % 2]))
    places = sorted(range(len(events)), key=lambda index: index + rng.uniform(0, 12))
    at_once = audit(events, policy, SETTINGS)
    piecemeal = audited([events[place] for place in places], policy, 10)
    assert piecemeal.findings == at_once.findings == ()
    assert piecemeal.coverage.decisions == at_once.coverage.decisions
    assert piecemeal.answers == at_once.answers


@pytest.mark.parametrize("seed", range(60))
def test_no_disorder_brings_an_accusation(seed: int) -> None:
    policy, events = faithful(seed, Shape(actions=40))
    random.Random(seed).shuffle(events)
    report = audited(events, policy, 8)
    assert not [finding for finding in report.findings if finding.kind is Kind.VIOLATION]


# -- a stream that goes on ---------------------------------------------------------------


def streamed(events: list[dict[str, Any]], policy: QuotaPolicy, every: float) -> list[Finding]:
    """Publish from time to time while events come in, and a while after the last."""
    auditor = Auditor(policy, SETTINGS)
    published: list[Finding] = []
    due = every
    for event in events:
        while arrival(event) > due:
            published += auditor.publish(due)
            due += every
        auditor.feed(event)
    while due < arrival(events[-1]) + 5 * every:
        published += auditor.publish(due)
        due += every
    return published


def arrival(event: dict[str, Any]) -> float:
    return (parse_time(event["time"]) or 0) / 1000


def latest(findings: list[Finding]) -> dict[tuple[Any, ...], Finding]:
    """Return the last revision of each finding."""
    return {(f.rule, f.at, f.jobs): f for f in findings}


@pytest.mark.parametrize("every", [3, 20, 300])
@pytest.mark.parametrize("seed", range(12))
def test_a_stream_publishes_what_a_recording_reports(seed: int, every: float) -> None:
    writer = play(seed, ROGUES["takes limits for larger"])
    whole = audit(writer.recording.events, writer.first_policy, SETTINGS).findings
    published = streamed(writer.recording.events, writer.first_policy, every)
    assert {(f.rule, f.at, f.jobs) for f in published} == {(f.rule, f.at, f.jobs) for f in whole}
    assert len(published) == len(latest(published))
    assert {f.revision for f in published} <= {0}


def test_a_stream_publishes_nothing_twice() -> None:
    auditor = Auditor(POLICY, SETTINGS)
    for event in Recording(a=job("A"), b=job("A")).script("0 a SCHEDULED\n 9 b SCHEDULED"):
        auditor.feed(event)
    assert [finding.rule for finding in auditor.publish(30)] == ["QM-A02", "QM-A03", "QM-A05"]
    assert auditor.publish(30) == auditor.publish(31) == auditor.publish(1000) == []


def test_a_stream_withdraws_by_a_revision() -> None:
    auditor = Auditor(POLICY, SETTINGS)
    events = story()
    for event in events[:2] + events[3:4]:
        auditor.feed(event)
    accused = auditor.publish(40)
    assert [(f.kind, f.revision) for f in accused if f.rule == "QM-A02"] == [(Kind.VIOLATION, 0)]
    auditor.feed(events[2])
    withdrawn = auditor.publish(41)
    assert [(f.kind, f.revision) for f in withdrawn if f.rule == "QM-A02"] == [(Kind.NOTE, 1)]


def test_a_stream_keeps_little() -> None:
    auditor = Auditor(POLICY, AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=5))
    sizes = []
    for round_ in range(60):
        recording = Recording(**{f"j{round_}": job("A")})
        start = round_ * 100
        for second, status in ((0, "RUNNABLE"), (0, "SCHEDULED"), (9, "SUCCEEDED")):
            recording.record(start + second, f"j{round_}", status)
        for event in recording.events:
            auditor.feed(event)
        auditor.publish(start + 90)
        sizes.append(len(take_snapshot(auditor)))
    assert max(sizes[30:]) < 1.2 * max(sizes[10:30])
