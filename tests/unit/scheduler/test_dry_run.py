"""Dry runs: what a submission would lead to, without anything being changed."""

from __future__ import annotations

import pytest
from support.lab import BORROW, G5, Lab, share

from quota_scheduler import DocumentError, Job, QuotaSchedulerError, make_demand
from quota_scheduler.dry_run import DryRun, dry_run, next_decisions, parse_submission

P4 = "ml.p4d.24xlarge"


def busy(**more: object) -> Lab:
    """Return a queue in which A borrows B's instance."""
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20, **more)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    return lab


def tried(lab: Lab, text: str) -> DryRun:
    return dry_run(lab.scheduler, parse_submission(text), lab.now)


def test_whom_it_would_preempt_and_that_nothing_is_changed() -> None:
    lab = busy()
    document = tried(lab, f"job=b,share=B,demand={G5}=1,priority=5").to_document()
    assert (document["job"], document["state"], document["because"]) == ("b", "SCHEDULED", [])
    why = "A uses 1 ml.g5.xlarge beyond its limit; its priority is 0"
    assert document["would_preempt"] == [{"job": "a2", "share": "A", "kind": "cross-share", "why": why}]
    assert [decision["rule"] for decision in document["decisions"]] == ["reclaim", "own-quota"]
    assert document["decisions"][0]["victims"] == [{"job": "a2", "share": "A", "kind": "cross-share", "priority": 0}]
    assert (document["then"], document["pending"]) == ({"a2": "RUNNABLE"}, [])
    assert document["text"] == (
        "Submitted to share B now, b is SCHEDULED. b takes back lent capacity: share B uses ml.g5.xlarge 0 of 1; "
        "stops a2 (cross-share). b is within its capacity limit: share B uses ml.g5.xlarge 0 of 1. "
        "a2 is RUNNABLE afterwards."
    )
    assert (lab.holding, set(lab.scheduler.jobs), lab.stopping) == ({"a1", "a2"}, {"a1", "a2"}, set())
    assert lab.run() == []


def test_trying_in_place_gives_the_same_answer() -> None:
    job = parse_submission(f"share=B,demand={G5}=1")
    copied, in_place = (dry_run(busy().scheduler, job, 0, in_place=where) for where in (False, True))
    assert copied.to_document() == in_place.to_document()


def test_why_it_would_wait() -> None:
    document = tried(busy(), f"share=A,demand={G5}=1").to_document()
    assert (document["job"], document["state"], document["would_preempt"]) == ("new-job", "RUNNABLE", [])
    assert [cause["rule"] for cause in document["because"]] == ["own-quota", "borrow"]


def test_a_victim_without_retries_would_fail() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A", preemption_retries=0)
    assert tried(lab, f"share=B,demand={G5}=1").then == {"a2": "FAILED"}


def test_what_the_queue_does_by_itself_is_told_apart() -> None:
    lab = busy()
    lab.submit("b1", "B", run=False)
    run = tried(lab, f"share=B,demand={G5}=1")
    assert [decision.job for decision in run.pending] == ["b1", "b1"]
    assert run.decisions == []
    assert "2 decisions of its own" in run.text
    assert [decision.rule.value for decision in next_decisions(lab.scheduler, lab.now)] == ["reclaim", "own-quota"]


def test_it_stands_behind_those_who_wait_whenever_its_own_clock_began() -> None:
    lab = busy()
    lab.wait(100)
    lab.submit("a3", "A")
    job = Job("late", "A", make_demand({G5: 1}), created=0)
    assert dry_run(lab.scheduler, job, lab.now).job.because[0].held_by == ("a3",)
    assert (job.created, job.priority) == (0, None), "the caller's job is left alone"


@pytest.mark.parametrize(
    ("text", "job"),
    [
        (f"share=B,demand={P4}=4,priority=5", Job("new-job", "B", ((P4, 4),), 5)),
        (
            f"job=j,share=B,demand={P4}=4; {G5}=1,preemptionRetries=0",
            Job("j", "B", ((G5, 1), (P4, 4)), preemption_retries=0),
        ),
    ],
)
def test_submissions_as_text(text: str, job: Job) -> None:
    made = parse_submission(text)
    for name in ("id", "share", "demand", "priority", "preemption_retries"):
        assert getattr(made, name) == getattr(job, name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "share and demand are needed"),
        ("share=B", "share and demand are needed"),
        (f"share=B,demand={G5}=1,size=2", "'size' is unknown"),
        (f"share=B,demand={G5}", "'' is no whole number"),
        (f"share=B,demand={G5}=x", "'x' is no whole number"),
        (f"share=B,demand={G5}=0", "demand 0 of ml.g5.xlarge is not allowed"),
        (f"share=B,demand={G5}=1,priority=high", "'high' is no whole number"),
        (f"share=B,demand={G5}=1,preemptionRetries=-1", "preemptionRetries is -1"),
    ],
)
def test_fails_for_text_that_says_no_job(text: str, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        parse_submission(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"share=Z,demand={G5}=1", "quota share 'Z' is unknown: use one of A, B"),
        (f"share=B,demand={G5}=1,priority=10000", "priority 10000 is not allowed"),
        (f"job=a1,share=B,demand={G5}=1", "job a1 exists already"),
    ],
)
def test_fails_for_a_job_that_could_not_be_submitted(text: str, says: str) -> None:
    with pytest.raises(QuotaSchedulerError, match=says):
        tried(busy(), text)
