"""Recordings as they come: forms, duplicates, disorder, and what can't be read."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from support.recording import G5, Recording, job

from preemption_auditor import AuditorError, AuditSettings, PolicyTimeline, audit, load_policy_timeline
from quota_scheduler import DocumentError, QuotaPolicy, QuotaShare, ResourceSharing

POLICY = QuotaPolicy(
    {G5: 2},
    (QuotaShare("A", {G5: 1}, ResourceSharing.lend_and_borrow()), QuotaShare("B", {G5: 1}, ResourceSharing.lend())),
)
COMPLETE = AuditSettings(delivery="complete", decision_lag=0)  # type: ignore[arg-type]


def borrowed_and_reclaimed() -> list[dict[str, Any]]:
    return Recording(a=job("A"), b=job("A"), c=job("B")).script(
        """
        0 a RUNNABLE
        0 a SCHEDULED
        1 b RUNNABLE
        1 b SCHEDULED
        5 c RUNNABLE
        5 b STOPPING cross-share
        9 b STOPPED RUNNABLE
        9 c SCHEDULED
        20 c SUCCEEDED
        20 b SCHEDULED
        30 a SUCCEEDED
        """
    )


def wrong() -> list[dict[str, Any]]:
    return Recording(a=job("A"), b=job("B")).script("0 a SCHEDULED\n 3 b SCHEDULED\n 9 b STOPPING cross-share")


FORMS = {
    "objects": lambda event: event,
    "JSON lines": json.dumps,
    "bytes": lambda event: json.dumps(event).encode(),
    "log records": lambda event: {"timestamp": 1, "message": json.dumps(event)},
    "log export lines": lambda event: "2026-03-16T19:57:27.123Z " + json.dumps(event),
    "log pages": lambda event: {"events": [{"message": json.dumps(event)}]},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_reads_every_form_of_a_recording(form: Any) -> None:
    plain = audit(wrong(), POLICY, COMPLETE)
    report = audit([form(event) for event in wrong()], POLICY, COMPLETE)
    assert report.to_document() == plain.to_document()
    assert {"QM-A06", "QM-A07"} <= {finding.rule for finding in report.findings}


KIND = {"source": "aws.batch", "detail-type": "Batch Service Job State Change"}


@pytest.mark.parametrize(
    "junk",
    [
        "not json",
        "{",
        "[]",
        "1",
        '{"detail": 3, "time": "2026-01-01T00:00:00Z"}',
        '{"detail": {}, "time": "yesterday"}',
        json.dumps({**KIND, "detail": {}, "time": "2026-01-01T00:00:00Z"}),
        b"\xff\xfe",
        "{" * 100_000,
    ],
)
def test_counts_what_cannot_be_read_and_goes_on(junk: Any) -> None:
    report = audit([junk, *wrong(), "", "  \n"], POLICY, COMPLETE)
    assert report.coverage.unreadable == 1
    assert report.coverage.read == len(wrong()) + 1
    assert report.findings == audit(wrong(), POLICY, COMPLETE).findings


@pytest.mark.parametrize(
    "change",
    [
        {"detail-type": "Batch Service Job Something New"},
        {"source": "aws.ec2"},
        {"detail-type": "AWS API Call via CloudTrail"},
    ],
)
def test_counts_kinds_it_does_not_know(change: dict[str, str]) -> None:
    report = audit([*wrong(), {**wrong()[0], **change}], POLICY, COMPLETE)
    assert report.coverage.ignored == 1
    assert report.coverage.unreadable == 0


def test_unknown_fields_change_nothing() -> None:
    events = [{**event, "new": 1, "detail": {**event["detail"], "newField": {"x": []}}} for event in wrong()]
    assert audit(events, POLICY, COMPLETE).to_document() == audit(wrong(), POLICY, COMPLETE).to_document()


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [None], [{"x": None}], -1, 1e300, True])
@pytest.mark.parametrize("name", sorted(wrong()[0]["detail"]))
def test_no_form_of_a_field_is_fatal(name: str, value: Any) -> None:
    events = borrowed_and_reclaimed()
    for event in events:
        if name in event["detail"]:
            event["detail"][name] = value
    coverage = audit(events, POLICY, COMPLETE).coverage
    assert coverage.read == len(events)
    assert coverage.used + coverage.duplicate + coverage.unreadable + coverage.ignored == coverage.read


@pytest.mark.parametrize("seed", range(30))
def test_order_and_duplicates_of_delivery_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    for events in (wrong(), borrowed_and_reclaimed()):
        again = [{**event, "id": f"again-{event['id']}"} for event in rng.sample(events, len(events) // 2)]
        noisy = [*again, *events]
        rng.shuffle(noisy)
        one, other = audit(events, POLICY, COMPLETE), audit(noisy, POLICY, COMPLETE)
        assert [(f.rule, f.jobs, f.at) for f in other.findings] == [(f.rule, f.jobs, f.at) for f in one.findings]
        assert other.coverage.duplicate == len(again)
        assert other.coverage.decisions == one.coverage.decisions


def test_coverage_adds_up() -> None:
    coverage = audit([*borrowed_and_reclaimed(), "x", borrowed_and_reclaimed()[0]], POLICY, COMPLETE).coverage
    assert coverage.to_document() == {
        "read": 14,
        "used": 12,
        "duplicate": 1,
        "late": 0,
        "unreadable": 1,
        "ignored": 0,
        "decisions": 6,
        "judged": 6,
        "unknown": 0,
    }


def test_counts_what_came_late() -> None:
    events = borrowed_and_reclaimed()
    report = audit([*events[1:], events[0]], POLICY, AuditSettings(delivery="complete", lateness=10))  # type: ignore[arg-type]
    assert report.coverage.late == 1
    assert report.coverage.used == len(events)


def test_each_queue_is_judged_on_its_own() -> None:
    events = wrong()
    other = json.loads(
        json.dumps(events).replace("job-queue/training", "job-queue/other").replace("service-job/", "service-job/x")
    )
    report = audit([*events, *other], POLICY, COMPLETE)
    assert {finding.queue for finding in report.findings} == {"training", "other"}
    assert report.coverage.decisions == 2 * audit(events, POLICY, COMPLETE).coverage.decisions


def test_an_update_of_a_share_in_the_recording_changes_the_policy() -> None:
    recording = Recording(b=job("B", 2))
    arn = "arn:aws:batch:us-east-1:123456789012:job-queue/training/quota-share/B"
    call = {"quotaShareArn": arn, "capacityLimits": [{"capacityUnit": G5, "maxCapacity": 2}]}
    recording.call(5, "UpdateQuotaShare", call)
    early, late = recording.script("0 b RUNNABLE\n 90 b SCHEDULED"), Recording(b=job("B", 2)).script("90 b SCHEDULED")
    assert "QM-A03" not in {finding.rule for finding in audit(early, POLICY, COMPLETE).findings}
    assert "QM-A03" in {finding.rule for finding in audit(late, POLICY, COMPLETE).findings}


POLICY_DOCUMENT = {"environment": {G5: 1}, "shares": [{"name": "A", "limits": {G5: 1}, "strategy": "LEND"}]}


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ([], AuditorError, "no version"),
        ([POLICY_DOCUMENT], AuditorError, "has no 'at'"),
        ([{**POLICY_DOCUMENT, "at": "soon"}], AuditorError, "'soon' is not a time"),
        ([{**POLICY_DOCUMENT, "at": True}], AuditorError, "True is not a time"),
        ([3], DocumentError, "policy version [0] is int"),
        ("text", DocumentError, "policy is str"),
    ],
)
def test_fails_on_a_policy_over_time_it_cannot_use(document: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("[", r"\[")):
        load_policy_timeline(document)


def test_versions_come_into_force_at_their_time() -> None:
    larger = {**POLICY_DOCUMENT, "at": "1970-01-01T00:01:40Z", "environment": {G5: 2}}
    timeline = load_policy_timeline([larger, {**POLICY_DOCUMENT, "at": 0}])
    capacities = [
        [dict(p.environment)[G5] for p in timeline.within(lo, hi)]
        for lo, hi in [(0, 99_999), (99_000, 101_000), (100_001, 10**9)]
    ]
    assert capacities == [[1], [1, 2], [2]]
    assert isinstance(timeline, PolicyTimeline)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delivery": "some"}, "use complete, lossy"),
        ({"decision_lag": -1}, "decision lag of -1 s"),
        ({"tolerance": "9"}, "tolerance of '9' s"),
        ({"lateness": float("nan")}, "lateness of nan s"),
    ],
)
def test_fails_on_a_setting_that_makes_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AuditorError, match=message):
        AuditSettings(**settings)
