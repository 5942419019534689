"""A1 to A12: our default, and what changes when each is flipped."""

from __future__ import annotations

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import HeadOfLine, PolicyError, QueueTime, ResourceSharing, RetryStrategy, VictimOrder

P5 = "ml.p5.48xlarge"


@pytest.mark.parametrize(("absent", "first"), [(0, "one"), (5, "none")])
def test_a1_priority_of_a_job_without_one(absent: int, first: str) -> None:
    lab = Lab(1, share("A", 1), absent_priority=absent)
    lab.submit("none", "A", priority=None, run=False)
    lab.submit("one", "A", priority=1)
    assert lab.holding == {first}


@pytest.mark.parametrize(("lent", "holding"), [(False, set()), (True, {"big"})])
def test_a2_capacity_in_no_share_can_be_borrowed(lent: bool, holding: set[str]) -> None:
    lab = Lab(4, share("A", 2, BORROW), unassigned_capacity_lent=lent)
    lab.submit("big", "A", 4)
    assert lab.holding == holding
    assert bool(lab.made["big"].blocked) is not lent


@pytest.mark.parametrize(
    ("environment", "shares", "most"),
    [
        pytest.param(8, [("A", 1, BORROW), ("B", 2, RESERVE)], 6, id="5 in no share, and A's own"),
        pytest.param(9, [("A", 1, BORROW), ("B", 3, LEND), ("C", 4, RESERVE)], 5, id="1 in no share, and what B lends"),
        pytest.param(4, [("A", 1, BORROW), ("B", 3, RESERVE)], 1, id="nothing, since all is assigned"),
        pytest.param(4, [("A", 1, BORROW), ("B", 1, LEND), ("C", 3, RESERVE)], 2, id="nothing where more is assigned"),
    ],
)
def test_a2_flipped_lends_what_no_share_has_and_nothing_that_is_reserved(environment, shares, most) -> None:
    lab = Lab(environment, *(share(*terms) for terms in shares), unassigned_capacity_lent=True)
    for number in range(most + 1):  # one by one, since a single larger job would be blocked, not refused
        lab.submit(f"j{number}", "A")
    assert len(lab.holding) == most


@pytest.mark.parametrize(("allowed", "holding"), [(False, set()), (True, {"j"})])
def test_a3_borrowing_a_unit_the_share_has_no_limit_for(allowed: bool, holding: set[str]) -> None:
    lab = Lab({G5: 1, P5: 1}, share("A", {G5: 1}, BORROW), share("B", {P5: 1}), borrow_without_limit=allowed)
    lab.submit("j", "A", {P5: 1})
    assert lab.holding == holding


def test_a3_a_limited_borrow_limit_is_a_percentage_of_nothing() -> None:
    some = ResourceSharing.lend_and_borrow(limit_percent=500)
    lab = Lab({G5: 1, P5: 1}, share("A", {G5: 1}, some), share("B", {P5: 1}), borrow_without_limit=True)
    lab.submit("j", "A", {P5: 1})
    assert lab.holding == set()


@pytest.mark.parametrize(("lends", "holding"), [(True, {"a"}), (False, set())])
def test_a4_a_disabled_share_lends(lends: bool, holding: set[str]) -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), disabled_shares_lend=lends)
    lab.scheduler.set_enabled("B", False)
    lab.submit("a", "A", 2)
    assert lab.holding == holding


@pytest.mark.parametrize(
    ("limit", "holds", "need", "lent", "runs"),
    [
        pytest.param(1, 1, 1, 0, False, id="all of it would be borrowed, nothing is lent"),
        pytest.param(1, 1, 1, 1, True, id="all of it would be borrowed, so much is lent"),
        pytest.param(1, 1, 2, 1, False, id="both would be borrowed, one is lent"),
        pytest.param(1, 1, 2, 2, True, id="both would be borrowed, two are lent"),
        pytest.param(2, 1, 2, 1, True, id="only what goes beyond the limit counts as borrowed"),
        pytest.param(2, 1, 2, 0, False, id="one goes beyond the limit, nothing is lent"),
        pytest.param(1, 3, 1, 1, True, id="what is borrowed already does not count again"),
        pytest.param(1, 3, 1, 0, False, id="the share borrows already, no more is lent"),
    ],
)
def test_a4_flipped_a_disabled_share_lends_nothing_but_borrows_what_goes_beyond_its_limit(
    limit: int, holds: int, need: int, lent: int, runs: bool
) -> None:
    others = max(0, holds - limit) + lent + 1
    environment = limit + others + 3  # the last three belong to nobody
    lab = Lab(environment, share("D", limit, BORROW), share("L", others), disabled_shares_lend=False)
    for number in range(holds):
        lab.submit(f"d{number}", "D")
    lab.submit("l", "L", 1)
    lab.submit("j", "D", need, run=False)
    lab.scheduler.set_enabled("D", False)
    lab.run()
    assert ("j" in lab.holding) is runs


def test_a5_shares_beyond_the_environment_are_legal_and_a_job_within_its_limit_waits() -> None:
    lab = Lab(2, share("A", 2), share("B", 2))
    lab.submit("a", "A", 2)
    lab.submit("b", "B", 1)
    assert (lab.holding, lab.waiting) == ({"a"}, {"b"})


def test_a5_flipped_refuses_such_a_policy_at_the_start_and_later() -> None:
    with pytest.raises(PolicyError, match=r"add up to 4, the environment has 2: lower them \[QM009\]"):
        Lab(2, share("A", 2), share("B", 2), oversubscription=False)
    lab = Lab(2, share("A", 1), share("B", 1), oversubscription=False)
    with pytest.raises(PolicyError, match="QM009"):
        lab.scheduler.set_limits("B", {G5: 2})
    assert lab.scheduler.policy.share("B").limits[G5] == 1


@pytest.mark.parametrize(
    ("head_of_line", "holding"),
    [(HeadOfLine.SHARE, {"fills"}), (HeadOfLine.UNIT, {"fills", "other"})],
)
def test_a6_what_a_front_job_that_cannot_run_holds_up(head_of_line: HeadOfLine, holding: set[str]) -> None:
    lab = Lab({G5: 1, P5: 1}, share("A", {G5: 1, P5: 1}), head_of_line=head_of_line)
    lab.submit("fills", "A", {G5: 1})
    lab.submit("front", "A", {G5: 1}, priority=2)
    lab.submit("other", "A", {P5: 1})
    lab.submit("both", "A", {G5: 1, P5: 1}, priority=1)
    lab.submit("late", "A", {P5: 1})
    assert lab.holding == holding
    if head_of_line is HeadOfLine.UNIT:
        lab.finish("other")
        assert lab.holding == {"fills"}, "an earlier job that needs both units holds up the later one"


@pytest.mark.parametrize(("keeps", "next_job"), [(True, "victim"), (False, "waited")])
def test_a7_a_preempted_job_keeps_its_place(keeps: bool, next_job: str) -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), requeue_keeps_place=keeps)
    lab.submit("own", "A")
    lab.submit("victim", "A")
    lab.wait(1)
    lab.submit("waited", "A")
    lab.wait(1)
    lab.submit("b", "B")
    assert lab.preempted == [("victim", "cross-share")]
    lab.finish("own")
    assert lab.holding == {"b", next_job}


@pytest.mark.parametrize(("time", "first"), [(QueueTime.CREATED, "old"), (QueueTime.RUNNABLE, "new")])
def test_a8_time_by_which_shares_take_turns(time: QueueTime, first: str) -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 1, BORROW), share("C", 1), queue_time=time)
    lab.submit("a", "A")
    lab.submit("old", "A")
    lab.submit("b", "B")
    lab.wait(1)
    lab.submit("new", "B")
    lab.wait(1)
    lab.submit("c", "C")
    assert lab.preempted == [("old", "cross-share")]
    lab.finish("c")
    assert lab.holding == {"a", "b", first}


@pytest.mark.parametrize(("skip", "holding"), [(True, {"a", "small"}), (False, {"a"})])
def test_a9_a_front_job_that_does_not_fit_idle_capacity_is_skipped(skip: bool, holding: set[str]) -> None:
    # B's first job takes B's own instance, so that "small" would borrow as well
    lab = Lab(4, share("A", 1, BORROW), share("B", 1, BORROW), share("C", 2), skip_unfit_fronts=skip)
    lab.submit("a", "A", 1)
    lab.submit("b", "B", 1)
    lab.submit("c", "C", 1)
    lab.submit("large", "A", 2)
    lab.submit("small", "B", 1)
    assert lab.holding - {"b", "c"} == holding


@pytest.mark.parametrize(
    ("order", "victim"), [(VictimOrder.NEWEST_FIRST, "second"), (VictimOrder.OLDEST_FIRST, "first")]
)
def test_a10_which_victim_of_one_priority_goes_first(order: VictimOrder, victim: str) -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), victim_order=order)
    lab.submit("first", "A")
    lab.wait(1)
    lab.submit("second", "A")
    lab.submit("b", "B")
    assert lab.preempted == [(victim, "cross-share")]


@pytest.mark.parametrize(("uses", "state"), [(False, "RUNNABLE"), (True, "FAILED")])
def test_a11_a_preemption_uses_an_attempt(uses: bool, state: str) -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_uses_attempt=uses)
    lab.submit("own", "A")
    job = lab.submit("victim", "A", retry=RetryStrategy(attempts=2))
    for round_ in (1, 2):
        lab.submit(f"b{round_}", "B")
        if round_ == 1:
            assert job.state.value == "RUNNABLE"
            lab.finish("b1")
    assert job.state.value == state


@pytest.mark.parametrize(("at_once", "holding"), [(False, {"a1", "a2"}), (True, {"a1"})])
def test_a12_jobs_beyond_a_lowered_limit_stop_only_for_a_claim(at_once: bool, holding: set[str]) -> None:
    lab = Lab(2, share("A", 2, RESERVE), lowered_limits_preempt=at_once)
    lab.submit("a1", "A")
    lab.wait(1)
    lab.submit("a2", "A")
    lab.scheduler.set_limits("A", {G5: 1})
    lab.run()
    assert lab.holding == holding


def test_a12_flipped_stops_no_more_than_goes_beyond_the_limits() -> None:
    half = ResourceSharing.lend_and_borrow(limit_percent=50)
    lab = Lab(
        {G5: 6, P5: 2},
        share("A", {G5: 3, P5: 2}, RESERVE),
        share("B", {G5: 2}, half),
        share("C", {G5: 1}),
        lowered_limits_preempt=True,
        preemption_seconds=20,
    )
    for name, unit in (("p1", P5), ("p2", P5), ("g1", G5), ("g2", G5), ("g3", G5)):
        lab.submit(name, "A", {unit: 1}, priority=int(unit == G5))
    for name in ("b1", "b2", "b3"):
        lab.submit(name, "B")
    assert lab.waiting == set()
    lab.scheduler.set_limits("A", {G5: 1, P5: 2})
    lab.run()
    assert lab.stopping == {"g2", "g3"}, "not those of another unit, nor who borrows as much as B may"
    lab.wait(5)
    assert lab.stopping == {"g2", "g3"}, "those that stop are gone already for what goes beyond"
    lab.wait(15)
    assert lab.waiting == {"g2", "g3"}
