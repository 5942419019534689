"""Seeded crowded queues: every action of every pass is the one contract.md's words lead to.

Hypothesis explores odd corners; these histories keep queues full, with many small jobs in several
shares, so that victims have to be chosen among many and claims overlap.
"""

from __future__ import annotations

import random
from unittest import mock

import pytest
from support.book import Book
from support.contract import Contract

import quota_scheduler.scheduler as scheduler_module
from quota_scheduler import Job, JobState, QuotaPolicy, QuotaShare, ResourceSharing, Scheduler, make_demand
from quota_scheduler.scheduling_pass import next_action

UNITS = ("ml.g5.xlarge", "ml.p5.48xlarge")


def random_policy(draw: random.Random) -> QuotaPolicy:
    units = UNITS[: draw.choice((1, 1, 2))]
    shares = tuple(
        QuotaShare(
            f"S{index}",
            {unit: draw.randint(1, 8) for unit in units},
            draw.choice(
                (
                    ResourceSharing.lend_and_borrow(),
                    ResourceSharing.lend_and_borrow(limit_percent=draw.choice((50, 100, 200))),
                    ResourceSharing.lend(),
                    ResourceSharing.reserve(),
                )
            ),
            in_share_preemption=draw.random() < 0.6,
        )
        for index in range(draw.randint(2, 4))
    )
    slack = draw.choice((0, 0, 0, -2, 3))
    return QuotaPolicy({u: max(1, sum(s.limits[u] for s in shares) + slack) for u in units}, shares)


class History:
    """A random history whose passes are compared with the contract."""

    def __init__(self, seed: int, preemption_seconds: float) -> None:
        self.draw = random.Random(seed)
        self.scheduler = Scheduler(random_policy(self.draw), preemption_seconds=preemption_seconds)
        self.now = 0.0
        self.count = 0
        self.rules: set[str] = set()

    def checked(self, state):
        expected = Contract(state, list(self.scheduler.jobs.values())).next_action()
        action = next_action(state)
        got = action and (action.rule.value, action.job, action.victims, set(action.taken_over))
        assert got == expected
        if action is not None:
            self.rules.add(action.rule.value)
        return action

    def run(self, steps: int) -> None:
        with mock.patch.object(scheduler_module, "next_action", self.checked):
            for _ in range(steps):
                self.step()
                self.scheduler.run(self.now)
        self.check_the_sums()

    def check_the_sums(self) -> None:
        book, ledger = Book.of(self.scheduler.policy, list(self.scheduler.jobs.values())), self.scheduler.state.ledger
        for unit in self.scheduler.policy.environment:
            sums = ledger.total(unit), ledger.borrowed(unit), ledger.lendable(unit)
            assert sums == (book.total(unit), book.borrowed(unit), book.lendable(unit))

    def step(self) -> None:
        draw, scheduler = self.draw, self.scheduler
        choice = draw.random()
        holding = sorted(job.id for job in scheduler.jobs.values() if job.state.holds)
        waiting = sorted(job.id for job in scheduler.jobs.values() if job.state is JobState.RUNNABLE)
        if choice < 0.5 and len(waiting) < 12:
            for _ in range(draw.randint(1, 3)):
                self.submit()
        elif choice < 0.7 and holding:
            scheduler.finish(draw.choice(holding))
        elif choice < 0.8 and holding + waiting:
            scheduler.set_priority(draw.choice(holding + waiting), draw.randint(0, 5))
        elif choice < 0.85:
            share = draw.choice(scheduler.policy.shares)
            unit = draw.choice(sorted(share.limits))
            scheduler.set_limits(share.name, {**share.limits, unit: draw.randint(1, 8)})
        elif choice < 0.87:
            self.change_policy()
        else:
            self.now += draw.choice((1, 5, 20))

    def change_policy(self) -> None:
        """Delete a share and its jobs, add one, or change the environment, under load."""
        draw, policy = self.draw, self.scheduler.policy
        environment = {unit: max(1, count + draw.randint(-3, 3)) for unit, count in policy.environment.items()}
        shares = list(policy.shares)
        if len(shares) > 2 and draw.random() < 0.5:
            shares.remove(draw.choice(shares))
        elif draw.random() < 0.5:
            self.count += 1
            limits = {unit: draw.randint(1, 4) for unit in environment}
            shares.append(QuotaShare(f"N{self.count}", limits, ResourceSharing.lend_and_borrow()))
        self.scheduler.set_policy(QuotaPolicy(environment, tuple(shares)))

    def submit(self) -> None:
        draw = self.draw
        self.count += 1
        share = draw.choice(self.scheduler.policy.shares)
        units = draw.sample(sorted(share.limits), draw.randint(1, len(share.limits)))
        demand = make_demand({unit: draw.choice((1, 1, 1, 2, 2, 3, 5)) for unit in units})
        self.scheduler.submit(Job(f"j{self.count}", share.name, demand, draw.randint(0, 3), self.now), self.now)


@pytest.mark.parametrize("preemption_seconds", [0, 20], ids=["instant", "slow"])
@pytest.mark.parametrize("block", range(8))
def test_every_action_is_the_contracts(block: int, preemption_seconds: float) -> None:
    rules: set[str] = set()
    for seed in range(block * 20, block * 20 + 20):
        history = History(seed, preemption_seconds)
        history.run(steps=80)
        rules |= history.rules
    assert rules == {"own-quota", "reclaim", "borrow", "in-share"}
