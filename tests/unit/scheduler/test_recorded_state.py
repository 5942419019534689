"""Recorded states: written down, read back, explained, and asked by the handler."""

from __future__ import annotations

from typing import Any

import pytest
from support.lab import BORROW, G5, Lab, share

from quota_scheduler import DocumentError, JobState, PolicyError
from quota_scheduler.blocked import BlockedReason
from quota_scheduler.handler import handler
from quota_scheduler.recorded_explanation import explain_recorded, name_jobs
from quota_scheduler.recorded_state import dump_state, find_job, load_state

SHARES = [
    {"name": "A", "limits": {G5: 1}, "strategy": "LEND_AND_BORROW"},
    {"name": "B", "limits": {G5: 1}, "strategy": "LEND"},
]


def job(job_id: str, share: str = "A", state: str = "RUNNABLE", **more: object) -> dict[str, Any]:
    return {"job": job_id, "share": share, "demand": {G5: 1}, "state": state, **more}


def state(*jobs: object, **more: object) -> dict[str, Any]:
    return {"environment": {G5: 2}, "shares": SHARES, "jobs": list(jobs), **more}


BORROWED = (
    job("a1", state="RUNNING", createdAt=0, dispatchedAt=1),
    job("a2", state="SCHEDULED", createdAt=0, dispatchedAt=1.5, priority=3),
)


def test_a_state_survives_being_written_down() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 2), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.wait(3)
    lab.submit("a2", "A", 2, priority=4, preemption_retries=2)
    lab.submit("a3", "A")
    lab.submit("b1", "B", 2)
    lab.submit("never", "B", 9, priority=5)
    document = dump_state(lab.scheduler)
    reasons = {job["job"]: job["statusReason"] for job in document["jobs"] if "statusReason" in job}
    assert reasons == {"a2": "PREEMPTION_IN_PROGRESS: cross-share", "never": BlockedReason.ENVIRONMENT}
    scheduler, now = load_state(document)
    assert now == 3
    assert {job.id for job in scheduler.jobs.values() if job.stopping} == {"a2"}
    scheduler.run(2.9)  # judges what can never run; a2 stops at 3
    assert dump_state(scheduler) == document


def test_where_everybody_stands() -> None:
    scheduler, now = load_state(state(*BORROWED, job("b1", "B", createdAt=7)))
    assert now == 7
    assert [(j.id, j.state, j.dispatched_at, j.rank) for j in scheduler.jobs.values()] == [
        ("a1", JobState.RUNNING, 1, 0),
        ("a2", JobState.SCHEDULED, 1.5, 3),
        ("b1", JobState.RUNNABLE, 0, 0),
    ]
    started = [o.job.id for o in scheduler.run(now) if o.kind.value == "preempting"]
    assert started == ["a1"], "the lower priority goes first, though a2 was dispatched later"


def test_who_waits_longer_goes_first_whatever_the_order_of_the_document() -> None:
    late, early = job("late", "B", createdAt=5), job("early", "B", createdAt=2)
    scheduler, now = load_state(state(late, early))
    assert [o.job.id for o in scheduler.run(now)] == ["early"]


def test_jobs_outside_the_queue_are_left_out() -> None:
    outside = [job(s, state=s, share="gone") for s in ("SUBMITTED", "PENDING", "SUCCEEDED", "FAILED")]
    assert load_state(state(*outside))[0].jobs == {}


@pytest.mark.parametrize("retries", [None, 0, 3])
def test_preemption_retries(retries: int | None) -> None:
    scheduler, _ = load_state(state(job("a", preemptionRetries=retries)))
    assert scheduler.jobs["a"].preemption_retries == retries


def test_a_disabled_share_keeps_its_jobs() -> None:
    document = state(job("b1", "B", "RUNNING"), job("b2", "B"))
    document["shares"] = [{**entry, "state": "DISABLED"} for entry in SHARES]
    assert set(load_state(document)[0].jobs) == {"b1", "b2"}


def test_a_deployed_policy_may_be_one_that_could_not_be_declared() -> None:
    document = state(environment={G5: 1}, shares=[{"name": "A", "limits": {G5: 2}, "strategy": "LEND"}])
    assert load_state(document)[0].policy.share("A").limits == {G5: 2}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity", "cross-share"),
        ("PREEMPTION_IN_PROGRESS: In-share preemption", "in-share"),
        ("PREEMPTION_IN_PROGRESS", "cross-share"),
        ("Received status from SageMaker: InProgress/Training", None),
    ],
)
def test_a_job_that_is_being_preempted(reason: str, kind: str | None) -> None:
    scheduler, now = load_state(state(job("a1", state="RUNNING", statusReason=reason)))
    stopping = scheduler.jobs["a1"].stopping
    assert (stopping.value if stopping else None) == kind
    scheduler.run(now)
    assert bool(scheduler.jobs["a1"].preemptions) is (kind is not None)


def test_a_job_that_lacks_capacity_is_not_dispatched_again_and_keeps_its_place() -> None:
    lacking = job("lacks", "B", statusReason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no more", createdAt=1)
    scheduler, now = load_state(state(lacking, job("behind", "B", createdAt=2)))
    assert [outcome.kind.value for outcome in scheduler.run(now)] == ["blocked"]
    assert scheduler.jobs["lacks"].blocked == BlockedReason.INSUFFICIENT_CAPACITY
    assert explain_recorded(scheduler, job("behind")).because[0].held_by == ("lacks",)


def test_a_paused_queue() -> None:
    scheduler, now = load_state(state(job("b1", "B"), paused=True))
    assert scheduler.run(now) == []
    assert explain_recorded(scheduler, job("b1")).because[0].rule == "paused"


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "state is list"),
        (state(paused="yes"), "state.paused is 'yes'"),
        ({**state(), "jobs": {}}, "state.jobs is no list"),
        (state("a"), r"jobs\[0\] is str"),
        (state(job("a", state="WAITING")), "job a: state is 'WAITING': use one of"),
        (state(job("a", size=1)), "a job has unknown key 'size'"),
        (state(job("")), "a job is called ''"),
        (state({**job("a"), "demand": {}}), "job a: demand"),
        (state(job("a", createdAt="now")), "job a: createdAt is 'now'"),
        (state(job("a", createdAt=float("nan"))), "createdAt is nan"),
        (state(job("a", preemptionRetries=-1)), "job a: preemptionRetries is -1"),
        (state(job("a", priority="high")), "state: job a: scheduling priority 'high' is not allowed"),
        (state(job("a", "Z")), "state: quota share 'Z' is unknown"),
        (state(job("a"), job("a")), "state: job a exists already"),
    ],
)
def test_fails_for_a_malformed_state(document: object, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        load_state(document)


# -- finding and explaining jobs ----------------------------------------------------------


def test_jobs_are_found_by_id_and_by_a_name_of_their_own() -> None:
    document = state(job("1", name="x"), job("2", name="y"), job("3", name="y"), job("y2", name="2"))
    assert find_job(document, "x")["job"] == "1"
    assert find_job(document, "2")["job"] == "2", "an id counts before a name"
    with pytest.raises(DocumentError, match="2 jobs are called 'y': name one by its id, such as 2"):
        find_job(document, "y")
    with pytest.raises(DocumentError, match="job 'z' is not in the queue"):
        find_job(document, "z")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Cross-share preemption triggered to reclaim borrowed capacity", "cross-share"),
        ("In-share preemption", "in-share"),
        ("something new", "unknown"),
        ("", "unknown"),
    ],
)
def test_preemptions_as_the_service_tells_them(reason: str, kind: str) -> None:
    entry = job("a", state="SUCCEEDED", preemptions=[{"at": 1767225623.0, "reason": reason}])
    (told,) = explain_recorded(load_state(state(entry))[0], entry).preempted_by
    assert (told["job"], told["kind"], told["at"], told["owed"]) == ("", kind, 1767225623.0, None)
    when = "On 2026-01-01 at 00:00:23 UTC it was preempted"
    assert told["text"] == f"{when} ({reason or 'no reason given'}), for whom isn't told"


def test_a_job_that_has_ended_has_a_state_and_no_causes() -> None:
    entry = job("a", state="FAILED")
    assert explain_recorded(load_state(state(entry))[0], entry).text == "a is FAILED."


def test_names_beside_ids() -> None:
    known, unnamed = "0d12a524-b824-4999-b5f5-f627071436b4", "73b1be3a-fc3d-488d-8afc-2f75394c0aed"
    document = state(job(known, name="train"), job(unnamed), job("1", name="one"))
    text = f"{known} waits for {unnamed} and 1."
    assert name_jobs(text, document) == f"train ({known}) waits for {unnamed} and 1."


# -- the handler ------------------------------------------------------------------------------


def test_the_handler_tells_what_comes_next_and_why() -> None:
    answer = handler({"state": state(*BORROWED, job("b1", "B", createdAt=7))})
    assert [decision["rule"] for decision in answer["decisions"]] == ["reclaim", "own-quota"]
    assert answer["decisions"][0]["reason"].startswith("b1 takes back lent capacity")
    assert [entry["job"] for entry in answer["explanations"]] == ["b1"]
    assert [(v["job"], v["share"], v["kind"]) for v in answer["explanations"][0]["would_preempt"]] == [
        ("a1", "A", "cross-share")
    ]
    assert "dry_run" not in answer


def test_the_handler_explains_the_job_it_is_asked_about() -> None:
    answer = handler({"state": state(*BORROWED, job("a3"), job("a4", createdAt=1, name="mine")), "job": "mine"})
    assert [entry["job"] for entry in answer["explanations"]] == ["a4"]
    assert answer["explanations"][0]["because"][0]["held_by"] == ["a3"]


def test_the_handler_tries_a_submission() -> None:
    event = {"state": state(*BORROWED), "submit": {"share": "B", "demand": {G5: 1}, "priority": 5}}
    answer = handler(event)
    assert answer["decisions"] == []
    assert (answer["dry_run"]["job"], answer["dry_run"]["state"]) == ("new-job", "SCHEDULED")
    assert [(v["job"], v["share"], v["kind"]) for v in answer["dry_run"]["would_preempt"]] == [
        ("a1", "A", "cross-share")
    ]


@pytest.mark.parametrize(
    ("event", "error", "says"),
    [
        ({}, DocumentError, "the event names no queue and gives no state"),
        ({"state": {}}, DocumentError, "policy has no 'environment'"),
        ({"state": state(environment={G5: 0})}, PolicyError, "QM002"),
        ({"state": state(), "job": "x"}, DocumentError, "job 'x' is not in the queue"),
        ({"state": state(), "submit": "B"}, DocumentError, "submit is str"),
        ({"state": state(), "submit": {"share": "B"}}, DocumentError, "job new-job: demand"),
    ],
)
def test_fails_for_an_event_that_cannot_be_answered(event: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        handler(event)
