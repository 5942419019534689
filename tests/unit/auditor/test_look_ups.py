"""What look-ups add: ends that no event showed, the policy as it is, and moments that are sure."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from support.recording import G5, Job, Recording, job

from preemption_auditor import Answer, AuditSettings, Delivery, Kind, PolicyTimeline, audit
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing, dump_policy

BORROW, LEND, RESERVE = ResourceSharing.lend_and_borrow(), ResourceSharing.lend(), ResourceSharing.reserve()
POLICY = QuotaPolicy({G5: 2}, (QuotaShare("A", {G5: 1}, LEND), QuotaShare("B", {G5: 1}, RESERVE)))
LARGER = QuotaPolicy({G5: 3}, (QuotaShare("A", {G5: 2}, LEND), QuotaShare("B", {G5: 1}, RESERVE)))
LOSSY = AuditSettings(Delivery.LOSSY, decision_lag=0)
JOBS = {"a": job("A"), "b": job("A")}


class Lookups(Recording):
    """A recording whose script also has ``LOST status``, which no event shows, and ``LOOK``."""

    def record(self, at: float, name: str, what: str, more: str = "") -> None:
        if what == "LOST":
            super().record(at, name, more)
            self.events.pop()
        elif what == "LOOK":
            self.look_up(at, [self.detail(other, self.last[other]) for other in self.jobs if other in self.last])
        else:
            super().record(at, name, what, more)


def answers(script: str, rule: str) -> dict[Answer, int]:
    events = Lookups(**deepcopy(JOBS)).script(script)
    return audit(events, POLICY, LOSSY).answers.get(rule, {})


@pytest.mark.parametrize(
    ("name", "script", "expected"),
    [
        ("the end is lost: nobody knows", "0 a SCHEDULED\n 9 a LOST SUCCEEDED\n 20 b SCHEDULED", Answer.UNKNOWN),
        ("a look-up tells the end", "0 a SCHEDULED\n 9 a LOST SUCCEEDED\n 20 b SCHEDULED\n 60 x LOOK", Answer.PASS),
        ("a look-up tells that it goes on", "0 a SCHEDULED\n 20 b SCHEDULED\n 60 x LOOK", Answer.VIOLATION),
        ("a later event tells that it went on",
         "0 a SCHEDULED\n 20 b SCHEDULED\n 50 b RUNNING\n 60 a SUCCEEDED", Answer.VIOLATION),
        ("the dispatch itself is lost",
         "0 a LOST SCHEDULED\n 20 b SCHEDULED\n 50 b RUNNING\n 60 a RUNNING", Answer.VIOLATION),
        ("it may have failed while it waited again",
         "0 a SCHEDULED\n 9 a LOST RUNNABLE\n 20 b SCHEDULED\n 50 b RUNNING\n 60 a FAILED", Answer.UNKNOWN),
    ],
)  # fmt: skip
def test_a_dispatch_beyond_the_limit(name: str, script: str, expected: Answer) -> None:
    found = answers(script, "QM-A03")
    assert set(found) - {Answer.PASS} == {expected} - {Answer.PASS}, name


def policy_look_up(recording: Recording, at: float, policy: QuotaPolicy) -> None:
    recording.look_up(at, [], dump_policy(policy))


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("as declared", [(5, POLICY), (30, POLICY)], set()),
        ("larger limits, all the time", [(5, LARGER), (30, LARGER)], {"QM-A15"}),
        ("larger limits, at some time before", [(5, POLICY), (30, LARGER)], {"QM-A15"}),
    ],
)
def test_the_policy_as_it_is(name: str, found: list[tuple[float, QuotaPolicy]], expected: set[str]) -> None:
    recording = Recording(**deepcopy({"a": job("A"), "b": job("B")}))
    for at, policy in found:
        policy_look_up(recording, at, policy)
    report = audit(recording.script("0 a SCHEDULED\n 20 b SCHEDULED"), POLICY, LOSSY)
    assert {finding.rule for finding in report.findings} == expected, name
    for finding in report.findings:
        assert finding.kind is Kind.VIOLATION
        assert "declared" in finding.seen


@pytest.mark.parametrize(
    ("looked_up", "expected"),
    [([(5, POLICY), (40, POLICY)], Answer.VIOLATION), ([(5, POLICY), (40, LARGER)], Answer.UNKNOWN)],
)
def test_limits_count_only_where_no_change_of_them_may_be_missing(
    looked_up: list[tuple[float, QuotaPolicy]], expected: Answer
) -> None:
    recording = Recording(**deepcopy(JOBS))
    for at, policy in looked_up:
        policy_look_up(recording, at, policy)
    events = recording.script("10 a SCHEDULED\n 20 b SCHEDULED\n 30 a RUNNING\n 30 b RUNNING")
    assert expected in audit(events, POLICY, LOSSY).answers["QM-A03"]


def test_a_policy_over_time_is_taken_at_its_word() -> None:
    recording = Recording(**deepcopy(JOBS))
    policy_look_up(recording, 40, LARGER)
    events = recording.script("10 a SCHEDULED\n 20 b SCHEDULED\n 30 a RUNNING\n 30 b RUNNING")
    timeline = PolicyTimeline([(0, POLICY), (35, LARGER)])
    assert Answer.VIOLATION in audit(events, timeline, LOSSY).answers["QM-A03"]
    assert "QM-A15" not in {finding.rule for finding in audit(events, timeline, LOSSY).findings}


@pytest.mark.parametrize("seen", ["look-up", "call"])
def test_a_policy_over_time_knows_its_moments_better_than_what_is_seen_in_that_second(seen: str) -> None:
    recording = Recording(**deepcopy(JOBS))
    if seen == "look-up":
        policy_look_up(recording, 5, POLICY)
    else:
        arn = "arn:aws:batch:us-east-1:123456789012:job-queue/training/quota-share/A"
        limits = [{"capacityUnit": G5, "maxCapacity": 1}]
        recording.call(5, "UpdateQuotaShare", {"quotaShareArn": arn, "capacityLimits": limits})
    events = recording.script("10 a SCHEDULED\n 20 b SCHEDULED\n 30 a RUNNING\n 30 b RUNNING")
    timeline = PolicyTimeline([(0, LARGER), (5, POLICY), (5, LARGER)])
    assert audit(events, timeline, LOSSY).findings == ()


def test_a_dispatch_that_was_lost_is_not_taken_to_be_where_a_look_up_finds_the_job() -> None:
    script = "0 b SCHEDULED\n 0 a SCHEDULED\n 0 a RUNNABLE\n 0 a LOST SCHEDULED\n 5 a LOST STARTING\n 40 x LOOK"
    events = Lookups(**deepcopy(JOBS)).script(f"{script}\n 60 a SUCCEEDED\n 60 b SUCCEEDED")
    lowered = PolicyTimeline([(0, LARGER), (30, POLICY)])
    assert audit(events, lowered, LOSSY).findings == ()


@pytest.mark.parametrize("detail", [{"environment": 3}, {"jobs": 3}, {"jobs": [None, {}]}, {}])
@pytest.mark.parametrize("kind", ["Quota Policy Look-up", "Job Queue Look-up", "Service Job Look-up", "Another"])
def test_no_form_of_a_look_up_is_fatal(kind: str, detail: dict[str, Any]) -> None:
    event = {
        "source": "constructs-qm.auditor",
        "detail-type": kind,
        "time": "1970-01-01T00:00:05.123Z",
        "detail": detail,
    }
    coverage = audit([event], POLICY, LOSSY).coverage
    assert coverage.read == 1
    assert coverage.used + coverage.unreadable + coverage.ignored == 1


QUALITY: list[tuple[str, str, dict[str, Job], dict[int, dict[str, Any]]]] = [
    ("QM-Q03", "0 a RUNNABLE\n 9 a RUNNING", {"a": job("A")}, {}),
    ("QM-Q05", "9 a STOPPING cross-share", {"a": job("A")}, {}),
    ("QM-Q06", "0 a SCHEDULED", {"a": job("X")}, {}),
    ("QM-Q07", "0 a RUNNABLE\n 9 a SCHEDULED", {"a": job("A")}, {1: {"schedulingPriority": 7}}),
]


@pytest.mark.parametrize(("rule", "script", "jobs", "change"), QUALITY, ids=[row[0] for row in QUALITY])
def test_notes_name_what_is_wrong_with_the_events(
    rule: str, script: str, jobs: dict[str, Job], change: dict[int, dict[str, Any]]
) -> None:
    events = Recording(**deepcopy(jobs)).script(script)
    for index, fields in change.items():
        events[index]["detail"].update(fields)
    complete = AuditSettings(Delivery.COMPLETE, decision_lag=0)
    report = audit(events, POLICY, complete)
    assert {note.rule for note in report.notes} == {rule} if rule != "QM-Q06" else {"QM-Q06", "QM-Q03"}
    (note,) = [note for note in report.notes if note.rule == rule]
    assert note.kind is Kind.NOTE
    assert note.jobs == ("a",)
    doubled = audit([*events, events[-1], "junk"], POLICY, complete).notes
    assert {"QM-Q01", "QM-Q04"} <= {note.rule for note in doubled}


def test_faithful_events_bring_no_note() -> None:
    script = "0 a RUNNABLE\n 0 a SCHEDULED\n 1 a STARTING\n 2 a RUNNING\n 9 a SUCCEEDED"
    assert audit(Recording(**deepcopy(JOBS)).script(script), POLICY, AuditSettings(Delivery.COMPLETE)).notes == ()
