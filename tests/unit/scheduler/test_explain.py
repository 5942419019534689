"""Explanations name what is short, who holds it, and what would have to end."""

from __future__ import annotations

import pytest
from quota_scheduler import Job, JobError, ResourceSharing, make_demand
from quota_scheduler.dry_run import dry_run
from quota_scheduler.explain import explain
from quota_scheduler.recorded_state import dump_state, load_state
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share


def causes(lab: Lab, job: str) -> list[tuple[str, str, int, tuple[str, ...]]]:
    found = explain(lab.scheduler, job, lab.outcomes)
    return [(cause.rule, cause.unit, cause.short, cause.held_by) for cause in found.because]


def test_a_full_share_that_does_not_borrow() -> None:
    lab = Lab(3, share("A", 2, LEND), share("B", 1))
    lab.submit("a1", "A", 2)
    lab.submit("waits", "A", 1)
    assert causes(lab, "waits") == [("own-quota", G5, 1, ("a1",)), ("borrow", G5, 1, ("a1",))]
    text = explain(lab.scheduler, "waits").text
    assert "Share A uses 2 of its limit of 2 ml.g5.xlarge, and it needs 1" in text
    assert "doesn't borrow (LEND)" in text


def test_nothing_left_to_borrow() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 1, BORROW), share("C", 1, RESERVE))
    lab.submit("b1", "B", 2)
    lab.submit("a1", "A", 1)
    assert lab.preempted == [("b1", "cross-share")]
    lab.submit("a2", "A", 1)
    lab.submit("a3", "A", 1)
    assert causes(lab, "a3") == [
        ("own-quota", G5, 2, ("a2", "a1")),
        ("borrow", G5, 1, ()),
    ]


def test_the_borrow_limit_is_reached() -> None:
    lab = Lab(4, share("A", 1, ResourceSharing.lend_and_borrow(limit_percent=100)), share("B", 3))
    lab.submit("a1", "A", 2)
    lab.submit("a2", "A", 1)
    assert ("borrow", G5, 1, ("a1",)) in causes(lab, "a2")
    assert "allows share A at most 2 ml.g5.xlarge" in explain(lab.scheduler, "a2").text


def test_behind_another_job_blocked_and_running() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("runs", "A")
    lab.submit("front", "A", priority=3)
    lab.submit("behind", "A")
    lab.submit("never", "A", 2, priority=9)
    assert causes(lab, "never")[0][0] == "blocked"
    assert causes(lab, "behind") == [("head-of-line", "", 0, ("never",))]
    assert explain(lab.scheduler, "runs").because == []


def test_waiting_for_victims_to_stop() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b", "B")
    assert causes(lab, "b") == [("stopping", "", 0, ("a2",))]


def test_in_share_preemption_that_would_not_free_enough() -> None:
    lab = Lab(4, share("A", 4, RESERVE, in_share=True))
    lab.submit("low", "A", 1)
    lab.submit("same", "A", 3, priority=5)
    lab.submit("waits", "A", 4, priority=5)
    assert causes(lab, "waits")[-1] == ("in-share", "", 0, ("low",))


@pytest.mark.parametrize(("kind", "victim", "by"), [("cross-share", "a2", "b"), ("in-share", "a1", "top")])
def test_who_preempted_it_and_whether_that_was_owed(kind: str, victim: str, by: str) -> None:
    lab = Lab(2, share("A", 1, BORROW, in_share=True), share("B", 1))
    lab.submit("a1", "A", priority=2)
    lab.submit("a2", "A", priority=1)
    lab.wait(5)
    lab.submit("b", "B")
    lab.submit("top", "A", priority=9)
    (entry,) = explain(lab.scheduler, victim, lab.outcomes).preempted_by
    assert (entry["kind"], entry["job"], entry["at"], entry["owed"]) == (kind, by, 5, True)
    assert "as the policy promises" in explain(lab.scheduler, victim, lab.outcomes).text


def test_a_dry_run_says_what_would_happen_and_changes_nothing() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    outcomes = what_if(lab.scheduler, [Job("b", "B", make_demand({G5: 1}), 5)], lab.now)
    assert [(o.kind.value, o.job.id) for o in outcomes] == [
        ("preempting", "a2"),
        ("preempted", "a2"),
        ("dispatched", "b"),
    ]
    assert (lab.holding, set(lab.scheduler.jobs)) == ({"a1", "a2"}, {"a1", "a2"})


def test_fails_for_a_job_nobody_knows() -> None:
    with pytest.raises(JobError, match="job 'x' is unknown"):
        explain(Lab(1, share("A", 1)).scheduler, "x")


def test_a_state_survives_being_written_down() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 2))
    lab.submit("a1", "A")
    lab.wait(3)
    lab.submit("a2", "A", 2, priority=4, preemption_retries=2)
    lab.submit("a3", "A")
    scheduler, now = load_state(dump_state(lab.scheduler))
    assert now == 3
    assert dump_state(scheduler) == dump_state(lab.scheduler)
    assert scheduler.run(now) == [], "it was at rest"
    outcomes = what_if(scheduler, [Job("b", "B", make_demand({G5: 2}))], now)
    assert [o.job.id for o in outcomes if o.kind.value == "preempting"] == ["a2"]
