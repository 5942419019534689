"""Invariants of the reference scheduler over random policies and histories."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.book import Book
from support.contract import Contract

import quota_scheduler.scheduler as scheduler_module
from quota_scheduler import (
    Job,
    JobState,
    OutcomeKind,
    PreemptionKind,
    QuotaPolicy,
    QuotaShare,
    ResourceSharing,
    Scheduler,
    SharingStrategy,
    make_demand,
)
from quota_scheduler.scheduling_pass import next_action

if TYPE_CHECKING:
    from quota_scheduler.action import Action
    from quota_scheduler.queue_state import QueueState

UNITS = ("ml.g5.xlarge", "ml.p4d.24xlarge")
SHARING = st.one_of(
    st.just(ResourceSharing.reserve()),
    st.just(ResourceSharing.lend()),
    st.sampled_from([-1, 0, 50, 100, 200]).map(lambda limit: ResourceSharing.lend_and_borrow(limit_percent=limit)),
)


@st.composite
def policies(draw: st.DrawFn) -> QuotaPolicy:
    units = UNITS[: draw(st.integers(1, 2))]
    shares = []
    for index in range(draw(st.integers(1, 4))):
        limits = {unit: draw(st.integers(1, 4)) for unit in units if unit == units[0] or draw(st.booleans())}
        shares.append(QuotaShare(f"S{index}", limits, draw(SHARING), draw(st.booleans())))
    slack = draw(st.sampled_from([-1, 0, 0, 0, 2]))
    environment = {u: max(1, sum(s.limits.get(u, 0) for s in shares) + slack) for u in units}
    return QuotaPolicy(environment, tuple(shares))


demands = st.dictionaries(st.sampled_from(UNITS), st.integers(1, 5), min_size=1, max_size=2).map(make_demand)


class SchedulerMachine(RuleBasedStateMachine):
    """Random submissions, ends, edits and waits; the books are checked after every step."""

    preemption_seconds = 0.0

    @initialize(policy=policies())
    def start(self, policy: QuotaPolicy) -> None:
        self.policy = policy
        self.scheduler = Scheduler(policy, preemption_seconds=self.preemption_seconds)
        self.now = 0.0
        self.count = 0
        self.lowered = False

        self.patch = mock.patch.object(scheduler_module, "next_action", self.checked_next_action)
        self.patch.start()

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.stop()

    def checked_next_action(self, state: QueueState) -> Action | None:
        """Return the pass's action after holding it against the contract's words."""
        expected = Contract(state, self.jobs()).next_action()
        action = next_action(state)
        got = action and (action.rule.value, action.job, action.victims, set(action.taken_over))
        assert got == expected
        return action

    def settle(self) -> None:
        """Let the scheduler work, and check every decision against books kept from its outcomes."""
        for outcome in self.scheduler.run(self.now):
            if outcome.kind is OutcomeKind.PREEMPTING:
                self.check_preemption(outcome)
        assert len(self.scheduler.jobs) <= self.count

    def check_preemption(self, outcome) -> None:
        job, decision = outcome.job, outcome.decision
        beneficiary = self.scheduler.jobs[decision.job]
        if outcome.preemption is PreemptionKind.IN_SHARE:
            assert job.share == decision.share
            assert self.policy.share(job.share).in_share_preemption
            assert job.rank < beneficiary.rank
        else:
            assert job.share != decision.share
            if not self.lowered:
                assert self.policy.share(job.share).sharing.strategy is SharingStrategy.LEND_AND_BORROW

    @rule(
        data=st.data(),
        demand=demands,
        priority=st.integers(0, 3),
        retries=st.sampled_from([None, None, 0, 1]),
    )
    def submit(self, data, demand, priority, retries) -> None:
        share = data.draw(st.sampled_from([s.name for s in self.policy.shares]))
        self.count += 1
        job = Job(f"j{self.count}", share, demand, priority, self.now, preemption_retries=retries)
        self.scheduler.submit(job, self.now)
        self.settle()

    @precondition(lambda self: any(j.state.holds for j in self.scheduler.jobs.values()))
    @rule(data=st.data())
    def finish(self, data) -> None:
        holding = sorted(j.id for j in self.scheduler.jobs.values() if j.state.holds)
        self.scheduler.finish(data.draw(st.sampled_from(holding)))
        self.settle()

    @precondition(lambda self: self.scheduler.jobs)
    @rule(data=st.data())
    def terminate(self, data) -> None:
        self.scheduler.terminate(data.draw(st.sampled_from(sorted(self.scheduler.jobs))))
        self.settle()

    @precondition(lambda self: self.scheduler.jobs)
    @rule(data=st.data(), priority=st.integers(0, 4))
    def set_priority(self, data, priority) -> None:
        self.scheduler.set_priority(data.draw(st.sampled_from(sorted(self.scheduler.jobs))), priority)
        self.settle()

    @rule(seconds=st.sampled_from([1, 7, 20]))
    def wait(self, seconds) -> None:
        self.now += seconds
        self.settle()

    @rule(data=st.data(), limit=st.integers(1, 5))
    def set_limits(self, data, limit) -> None:
        share = data.draw(st.sampled_from([s.name for s in self.policy.shares]))
        unit = data.draw(st.sampled_from(sorted(self.policy.share(share).limits)))
        self.lowered = self.lowered or limit < self.policy.share(share).limits[unit]
        self.scheduler.set_limits(share, {**self.policy.share(share).limits, unit: limit})
        self.policy = self.scheduler.policy
        self.settle()

    # -- what must always hold ----------------------------------------------------

    def jobs(self) -> list[Job]:
        return list(self.scheduler.jobs.values())

    @invariant()
    def the_ledger_agrees_with_the_jobs(self) -> None:
        if not hasattr(self, "scheduler"):
            return
        book, ledger = Book.of(self.policy, self.jobs()), self.scheduler.state.ledger
        for unit in self.policy.environment:
            assert ledger.total(unit) == book.total(unit)
            assert ledger.borrowed(unit) == book.borrowed(unit)
            assert ledger.lendable(unit) == book.lendable(unit)

    @invariant()
    def capacity_is_never_exceeded_nor_reserved_capacity_lent(self) -> None:
        if not hasattr(self, "scheduler"):
            return
        book = Book.of(self.policy, self.jobs())
        assert book.i1(list(self.policy.environment))
        if not self.lowered:
            assert book.i2_i3()
            assert book.i4(list(self.policy.environment))

    @invariant()
    def nobody_who_could_run_is_left_waiting(self) -> None:
        if not hasattr(self, "scheduler") or self.scheduler.state.stopping:
            return
        book = Book.of(self.policy, self.jobs())
        for front in self.fronts():
            assert not book.runs(front), f"{front.id} could run"
            if book.entitled(front) and not front.blocked:
                assert book.borrowers_to_stop(front) is None, f"borrowers hold what {front.id} needs"

    def fronts(self) -> list[Job]:
        fronts = []
        for share in self.policy.shares:
            waiting = [j for j in self.jobs() if j.state is JobState.RUNNABLE and j.share == share.name]
            if waiting:
                fronts.append(min(waiting, key=lambda j: (-j.rank, j.created, j.sequence)))
        return fronts


class SlowPreemptionMachine(SchedulerMachine):
    """The same with preemptions that take time."""

    preemption_seconds = 20.0


_settings = settings(max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
TestInstantPreemption = SchedulerMachine.TestCase
TestInstantPreemption.settings = _settings
TestSlowPreemption = SlowPreemptionMachine.TestCase
TestSlowPreemption.settings = _settings
