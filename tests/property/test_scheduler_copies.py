"""Seeded histories in which a scheduler is replaced by a copy of itself now and then: nothing that follows differs."""

from __future__ import annotations

import copy
import pickle
import random
from typing import TYPE_CHECKING

import pytest
from support.random_calls import UNITS, new_scheduler, random_call, seen

from quota_scheduler import HeadOfLine, Job, JobState, QuotaPolicy, QuotaShare, ResourceSharing, Scheduler, make_demand

if TYPE_CHECKING:
    from collections.abc import Callable


def pickled(scheduler: Scheduler) -> Scheduler:
    return pickle.loads(pickle.dumps(scheduler))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["copied", "pickled"])
@pytest.mark.parametrize("preemption_seconds", [0, 20], ids=["instant", "slow"])
@pytest.mark.parametrize("head_of_line", HeadOfLine)
@pytest.mark.parametrize("block", range(4))
def test_a_copy_goes_on_as_the_original(
    block: int,
    head_of_line: HeadOfLine,
    preemption_seconds: float,
    copied: Callable[[Scheduler], Scheduler],
) -> None:
    for seed in range(block * 6, block * 6 + 6):
        draw = random.Random(seed)
        original = new_scheduler(draw, head_of_line, preemption_seconds)
        other, now = copied(original), 0.0
        for number in range(120):
            call = random_call(draw, number, original, now)
            call(original)
            call(other)
            if draw.random() < 0.3:
                other = copied(other)  # some calls after the last run, too
            if draw.random() < 0.7:
                now += draw.choice((0, 0, 5, 20, 300))
                assert seen(other, now) == seen(original, now), (seed, number)


def test_a_copy_has_jobs_of_its_own() -> None:
    scheduler = Scheduler(QuotaPolicy({UNITS[0]: 1}, (QuotaShare("A", {UNITS[0]: 1}),)))
    for name in ("runs", "waits"):
        scheduler.submit(Job(name, "A", make_demand({UNITS[0]: 1})), 0)
    scheduler.run(0)
    other = copy.deepcopy(scheduler)
    other.finish("runs")
    other.run(1)
    assert {name: job.state for name, job in scheduler.jobs.items()} == {
        "runs": JobState.SCHEDULED,
        "waits": JobState.RUNNABLE,
    }
    assert {name: job.state for name, job in other.jobs.items()} == {"waits": JobState.SCHEDULED}


def test_the_claim_of_a_deleted_share_is_not_that_of_the_next_one_of_its_name() -> None:
    unit = UNITS[0]
    lends = QuotaShare("B", {unit: 1}, ResourceSharing.lend())
    policy = QuotaPolicy({unit: 2}, (QuotaShare("A", {unit: 1}, ResourceSharing.lend_and_borrow()), lends))
    scheduler = Scheduler(policy, preemption_seconds=20)
    for name, share in (("a1", "A"), ("a2", "A"), ("b", "B")):
        scheduler.submit(Job(name, share, make_demand({unit: 1})), 0)
        scheduler.run(0)
    assert scheduler.state.shares["B"].has_claim()
    scheduler.set_policy(policy.without_share("B"))
    scheduler.set_policy(policy)
    for one in (scheduler, copy.deepcopy(scheduler)):
        assert not one.state.shares["B"].has_claim()
        assert [job.id for job in one.state.stopping] == ["a2"]
