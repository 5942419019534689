"""Clauses of contract.md section 3 that the known-answer cases don't tell apart."""

from __future__ import annotations

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import JobError, ResourceSharing, make_demand
from quota_scheduler.action import Rule

P5 = "ml.p5.48xlarge"


def test_own_quota_comes_before_an_older_borrower() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    lab.submit("a1", "A", run=False)
    lab.submit("a2", "A", run=False)
    lab.now += 5
    lab.submit("b", "B")
    assert (lab.holding, lab.preempted) == ({"a1", "b"}, []), "never lent, so never taken back"


def test_shares_take_turns_by_created_time_then_priority_then_submission() -> None:
    lab = Lab(4, share("A", 1, BORROW), share("B", 1, BORROW), share("C", 2))
    lab.submit("a", "A")
    lab.submit("b", "B")
    lab.submit("c", "C", 2)
    lab.submit("first", "B", priority=1, run=False)
    lab.submit("second", "A", priority=2)
    lab.finish("c")
    dispatched = [outcome.job.id for outcome in lab.outcomes if outcome.kind.value == "dispatched"]
    assert dispatched == ["a", "b", "c", "second", "first"]


def test_every_decision_says_why() -> None:
    lab = Lab(3, share("A", 1, BORROW, in_share=True), share("B", 2))
    lab.submit("own", "A", priority=1)
    lab.submit("borrowed", "A")
    lab.submit("b", "B", 2)
    lab.submit("urgent", "A", priority=9)
    decisions = [outcome.decision for outcome in lab.outcomes if outcome.decision]
    assert [(d.rule, d.job, [v.job for v in d.victims]) for d in decisions] == [
        (Rule.OWN_QUOTA, "own", []),
        (Rule.BORROW, "borrowed", []),
        (Rule.RECLAIM, "b", ["borrowed"]),
        (Rule.OWN_QUOTA, "b", []),
        (Rule.IN_SHARE, "urgent", ["own"]),
        (Rule.OWN_QUOTA, "urgent", []),
    ]
    reclaim = decisions[2]
    before, after = reclaim.before[0], reclaim.after[0]
    assert (before.use, before.limit, before.environment_use, before.borrowed, before.lendable) == (
        0,
        2,
        2,
        1,
        2,
    )
    assert (after.use, after.limit, after.environment_use, after.borrowed, after.lendable) == (2, 2, 3, 0, 0)
    assert reclaim.sentence() == (
        "b takes back lent capacity: share B uses ml.g5.xlarge 0 of 2; stops borrowed (cross-share)"
    )


def test_a_share_with_a_claim_starts_no_second_in_share_preemption() -> None:
    lab = Lab(2, share("A", 2, RESERVE, in_share=True), preemption_seconds=20)
    lab.submit("low", "A", priority=0)
    lab.submit("mid", "A", priority=1)
    lab.submit("high", "A", priority=5)
    assert lab.stopping == {"low"}
    lab.submit("higher", "A", priority=9)
    assert lab.stopping == {"low"}
    lab.wait(20)
    assert lab.holding == {"higher"}
    assert lab.stopping == {"mid"}, "the claim is over, so the next front job may preempt"


def test_freed_capacity_goes_to_whichever_job_is_then_at_the_front() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b1", "B")
    lab.submit("b2", "B", priority=9)
    lab.wait(20)
    assert lab.holding == {"a1", "b2"}


def test_a_larger_job_at_the_front_does_not_take_what_is_freed_for_another_share() -> None:
    lab = Lab(5, share("A", 2), share("B", 2), share("C", 1, BORROW), preemption_seconds=20)
    for priority, name in enumerate(("c1", "c2", "c3", "c4", "own")):
        lab.submit(name, "C", priority=priority)
    lab.submit("b", "B", 2)
    lab.wait(5)
    lab.submit("a", "A")
    assert lab.stopping == {"c1", "c2", "c3"}
    lab.submit("large", "A", 2, priority=9, run=False)
    lab.scheduler.finish("c1")
    lab.finish("c3")
    assert "large" in lab.waiting, "two instances are free, but one of them is b's"
    assert lab.stopping == {"c2", "c4"}, "so one more is taken back"
    lab.wait(15)
    assert lab.holding == {"own", "b"}
    lab.wait(5)
    assert lab.holding == {"own", "b", "large"}


def test_a_victim_that_ends_by_itself_completes_the_claim() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b", "B")
    lab.wait(5)
    lab.finish("a2")
    assert lab.holding == {"a1", "b"}
    assert lab.wait(100) == []


def test_stopping_jobs_count_as_free_so_that_nobody_is_stopped_twice_over() -> None:
    lab = Lab(4, share("A", 1, BORROW), share("B", 1), share("C", 2), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("big", "A", 3)
    lab.submit("b", "B")
    assert lab.stopping == {"big"}
    lab.submit("c", "C", 2)
    assert lab.stopping == {"big"}
    lab.wait(20)
    assert lab.holding == {"a1", "b", "c"}


def test_reserved_idle_capacity_stays_out_of_reach_even_if_the_environment_has_room() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 1, RESERVE), share("C", 1))
    for name in ("a1", "a2", "a3"):
        lab.submit(name, "A")
    assert lab.holding == {"a1", "a2"}


def test_only_holders_of_the_missing_unit_are_stopped() -> None:
    lab = Lab(
        {G5: 4, P5: 4},
        share("A", {G5: 1, P5: 1}, BORROW),
        share("B", {G5: 3, P5: 3}),
    )
    lab.submit("own", "A", {G5: 1, P5: 1}, priority=9)
    lab.submit("g", "A", {G5: 3}, priority=5)
    lab.submit("p", "A", {P5: 3}, priority=0)
    lab.submit("b", "B", {G5: 1})
    assert lab.preempted == [("g", "cross-share")]


def test_in_share_preemption_borrows_first() -> None:
    lab = Lab(2, share("A", 1, BORROW, in_share=True), share("B", 1))
    lab.submit("low", "A")
    lab.submit("high", "A", priority=9)
    assert (lab.holding, lab.preempted) == ({"low", "high"}, [])


def test_a_borrow_limit_bounds_what_in_share_preemption_can_reach() -> None:
    some = ResourceSharing.lend_and_borrow(limit_percent=100)
    lab = Lab(4, share("A", 1, some, in_share=True), share("B", 3, LEND))
    lab.submit("low", "A", 2)
    lab.submit("high", "A", 2, priority=9)
    assert lab.preempted == [("low", "in-share")]
    assert lab.holding == {"high"}


def test_a_raised_limit_lets_waiting_jobs_run() -> None:
    lab = Lab(2, share("A", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.scheduler.set_limits("A", {G5: 2})
    lab.run()
    assert lab.holding == {"a1", "a2"}


def test_a_share_that_is_added_takes_back_what_was_lent() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.scheduler.set_policy(lab.scheduler.policy.without_share("B").with_share(share("N", 1)))
    lab.submit("n", "N")
    assert lab.preempted == [("a2", "cross-share")]


def test_jobs_of_a_deleted_share_are_terminated() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    runs = lab.submit("b1", "B")
    waits = lab.submit("b2", "B")
    lab.scheduler.set_policy(lab.scheduler.policy.without_share("B"))
    lab.run()
    assert {runs.state.value, waits.state.value} == {"FAILED"}
    assert lab.scheduler.state.ledger.total(G5) == 0


def test_a_disabled_share_takes_no_jobs_and_finishes_those_it_has() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("runs", "A")
    lab.submit("waits", "A")
    lab.scheduler.set_enabled("A", False)
    with pytest.raises(JobError, match="quota share A is DISABLED and takes no jobs: enable it or name another"):
        lab.submit("late", "A")
    lab.finish("runs")
    assert lab.holding == {"waits"}


def test_nobody_uses_or_lends_a_unit_that_no_policy_names() -> None:
    lab = Lab(1, share("A", 1), share("B", 1))
    ledger = lab.scheduler.state.ledger
    assert (ledger.use("B", P5), ledger.over("B", P5)) == (0, 0)
    lab.submit("never", "A", {P5: 1})
    assert lab.holding == set()
    assert (ledger.total(P5), ledger.borrowed(P5), ledger.lendable(P5)) == (0, 0, 0)


def test_a_ledger_counts_what_is_taken() -> None:
    lab = Lab(5, share("A", 2, BORROW), share("B", 3))
    ledger = lab.scheduler.state.ledger
    ledger.take("A", make_demand({G5: 3}))
    assert (ledger.use("A", G5), ledger.over("A", G5), ledger.total(G5), ledger.lendable(G5)) == (3, 1, 3, 3)


def test_a_decision_shows_what_all_shares_use() -> None:
    lab = Lab(4, share("A", 3), share("B", 1))
    lab.submit("a", "A", 3)
    before, after = lab.outcomes[0].decision.before[0], lab.outcomes[0].decision.after[0]
    assert (before.environment_use, after.environment_use, after.environment) == (0, 3, 4)
