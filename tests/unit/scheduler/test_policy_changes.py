"""Policies that change under load: limits, shares, the environment's capacity and units."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import JobError, QuotaPolicy, ResourceSharing
from quota_scheduler.blocked import BlockedReason

P5 = "ml.p5.48xlarge"


def change(lab: Lab, environment: dict[str, int] | None = None, *shares: object) -> None:
    """Put another environment in force, and shares in place of those of the same name or beside them."""
    policy = lab.scheduler.policy
    policy = QuotaPolicy(environment or policy.environment, policy.shares)
    for changed in shares:
        policy = policy.with_share(changed)
    lab.scheduler.set_policy(policy)
    lab.run()


def test_a_raised_limit_turns_what_was_borrowed_into_its_own() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 2))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    change(lab, None, share("A", 2, BORROW), share("B", 1))
    lab.submit("b1", "B")
    assert (lab.preempted, lab.holding) == ([], {"a1", "a2", "b1"})


@pytest.mark.parametrize("sharing", [RESERVE, LEND, BORROW])
def test_jobs_beyond_a_lowered_limit_stop_for_those_who_are_entitled_now(sharing: ResourceSharing) -> None:
    lab = Lab(3, share("A", 3, sharing), share("B", 1))
    for name in ("a1", "a2", "a3"):
        lab.submit(name, "A")
        lab.wait(1)
    change(lab, None, share("A", 2, sharing))
    assert lab.holding == {"a1", "a2", "a3"}, "nothing stops without a claim"
    lab.submit("b1", "B")
    assert (lab.preempted, lab.holding) == ([("a3", "cross-share")], {"a1", "a2", "b1"})


def test_a_lowered_limit_keeps_the_next_job_waiting() -> None:
    lab = Lab(2, share("A", 2, RESERVE))
    lab.submit("a1", "A")
    change(lab, None, share("A", 1, RESERVE))
    lab.submit("a2", "A")
    assert lab.waiting == {"a2"}
    lab.finish("a1")
    assert lab.holding == {"a2"}


def test_a_claim_outlasts_a_change_of_limits() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b1", "B")
    assert lab.stopping == {"a2"}
    change(lab, None, share("A", 2, BORROW), share("B", 1, RESERVE))
    lab.wait(20)
    assert lab.holding == {"a1", "b1"}, "a2 is entitled by now, too, and older, but B had the claim"


def test_strategy_changes_count_at_once() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1, RESERVE))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    assert lab.waiting == {"a2"}
    change(lab, None, share("B", 1, LEND))
    assert lab.holding == {"a1", "a2"}


def test_in_share_preemption_can_be_switched_on_under_load() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("low", "A")
    lab.submit("high", "A", priority=5)
    assert lab.waiting == {"high"}
    change(lab, None, share("A", 1, in_share=True))
    assert lab.preempted == [("low", "in-share")]


def test_a_disabled_share_may_be_enabled_again() -> None:
    lab = Lab(1, share("A", 1))
    change(lab, None, replace(share("A", 1), enabled=False))
    with pytest.raises(JobError, match="DISABLED"):
        lab.submit("a1", "A")
    change(lab, None, share("A", 1))
    lab.submit("a2", "A")
    assert lab.holding == {"a2"}


def test_deleting_the_share_of_a_victim_serves_the_claim_at_once() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b1", "B")
    lab.scheduler.set_policy(lab.scheduler.policy.without_share("A"))
    lab.run()
    assert (lab.holding, lab.stopping, lab.made["a2"].state.value) == ({"b1"}, set(), "FAILED")
    assert lab.wait(100) == []


def test_deleting_the_share_of_a_claim_leaves_what_its_victims_free_to_others() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b1", "B")
    lab.scheduler.set_policy(lab.scheduler.policy.without_share("B").with_share(share("C", 1)))
    lab.run()
    lab.submit("c1", "C")
    assert (lab.stopping, lab.preempted) == ({"a2"}, [("a2", "cross-share")])
    lab.wait(20)
    assert lab.holding == {"a1", "c1"}


def test_a_share_that_is_deleted_and_added_again_starts_anew() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.scheduler.set_policy(QuotaPolicy({G5: 1}))
    change(lab, None, share("A", 1))
    lab.submit("a3", "A")
    assert set(lab.scheduler.jobs) == lab.holding == {"a3"}


def test_a_larger_environment_lets_jobs_within_their_limits_run() -> None:
    lab = Lab(1, share("A", 1), share("B", 1))
    lab.submit("a1", "A")
    lab.submit("b1", "B")
    assert lab.waiting == {"b1"}
    change(lab, {G5: 2})
    assert lab.holding == {"a1", "b1"}


def test_a_smaller_environment_stops_nothing_and_starts_nothing() -> None:
    lab = Lab(3, share("A", 2), share("B", 1))
    for name in ("a1", "a2"):
        lab.submit(name, "A")
    change(lab, {G5: 2})
    lab.submit("b1", "B")
    assert (lab.holding, lab.waiting, lab.preempted) == ({"a1", "a2"}, {"b1"}, [])
    lab.finish("a1")
    assert lab.holding == {"a2", "b1"}


def test_a_unit_that_is_removed_blocks_jobs_that_need_it_and_spares_those_that_run() -> None:
    lab = Lab({G5: 1, P5: 2}, share("A", {G5: 1, P5: 2}))
    lab.submit("runs", "A", {P5: 1})
    change(lab, {G5: 1}, share("A", {G5: 1}))
    lab.submit("never", "A", {P5: 1})
    assert (lab.holding, lab.made["never"].blocked) == ({"runs"}, BlockedReason.ENVIRONMENT)
    lab.finish("runs")
    change(lab, {G5: 1, P5: 1}, share("A", {G5: 1, P5: 1}))
    assert (lab.holding, lab.made["never"].blocked) == ({"never"}, None)


def test_a_job_of_two_units_is_taken_back_for_either() -> None:
    lab = Lab({G5: 2, P5: 2}, share("A", {G5: 1, P5: 1}, BORROW), share("B", {G5: 1, P5: 1}))
    lab.submit("a1", "A", {G5: 2, P5: 1})
    lab.submit("b1", "B", {P5: 1})
    assert lab.preempted == [], "B's P5 was never lent"
    lab.submit("b2", "B", {G5: 1})
    assert (lab.preempted, lab.holding) == ([("a1", "cross-share")], {"b1", "b2"})
