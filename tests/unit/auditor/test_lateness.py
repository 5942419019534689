"""Events that come late: they reopen what was judged, and what changes is published as a revision."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.histories import Shape, faithful
from support.recording import G5, P4, Recording, job

from preemption_auditor import Auditor, AuditSettings, Delivery, Finding, Kind, Report, audit
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

POLICY = QuotaPolicy(
    {G5: 1, P4: 1},
    (QuotaShare("A", {G5: 1}, ResourceSharing.lend()), QuotaShare("Z", {P4: 1}, ResourceSharing.reserve())),
)
SETTINGS = AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=5)


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
