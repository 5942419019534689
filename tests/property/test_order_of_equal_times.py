"""Events of one moment lead to the same answer in whatever order they come (contract.md section 2).

Jobs stand in order of submission where that is known, else by their ids; so the order in which a moment's
submissions, ends and edits reach the scheduler says nothing, but for those of one job and those of the policy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import (
    Assumptions,
    HeadOfLine,
    Job,
    JobState,
    OutcomeKind,
    QueueTime,
    QuotaPolicy,
    QuotaShare,
    ResourceSharing,
    RetryStrategy,
    Scheduler,
    TimeLimit,
    VictimOrder,
    make_demand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quota_scheduler import Outcome

    Event = tuple[str, Callable[[Scheduler], object]]
    """What it concerns, a job's id or the policy, and the call it makes."""

POLICY = "policy"
TIME_LIMITS = (TimeLimit("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", 600),)
UNITS = (G5, "ml.p4d.24xlarge")
SHARING = (BORROW, BORROW, BORROW, ResourceSharing.lend_and_borrow(limit_percent=100), LEND, RESERVE)

assumptions = st.builds(
    Assumptions,
    unassigned_capacity_lent=st.booleans(),
    borrow_without_limit=st.booleans(),
    disabled_shares_lend=st.booleans(),
    head_of_line=st.sampled_from(HeadOfLine),
    requeue_keeps_place=st.booleans(),
    queue_time=st.sampled_from(QueueTime),
    skip_unfit_fronts=st.booleans(),
    victim_order=st.sampled_from(VictimOrder),
    preemption_uses_attempt=st.booleans(),
    lowered_limits_preempt=st.booleans(),
)


@st.composite
def policies(draw: st.DrawFn) -> QuotaPolicy:
    """Draw shares that are small, so that a few jobs crowd them."""
    units = UNITS[: draw(st.sampled_from([1, 1, 2]))]
    shares = tuple(
        QuotaShare(
            f"S{index}",
            {unit: draw(st.integers(1, 4)) for unit in units},
            draw(st.sampled_from(SHARING)),
            draw(st.booleans()),
        )
        for index in range(draw(st.integers(2, 4)))
    )
    return QuotaPolicy({unit: sum(share.limits[unit] for share in shares) for unit in units}, shares)


class Wanted(NamedTuple):
    """A job to submit; `share` counts the shares, `counts` the units."""

    name: str
    share: int
    counts: tuple[int, int]
    priority: int
    preemption_retries: int | None
    timeout: float | None


wanted = st.builds(
    Wanted,
    st.text("abcdefgh", min_size=4, max_size=4),
    st.integers(0, 3),
    st.tuples(st.sampled_from([1, 1, 1, 2, 3]), st.sampled_from([0, 0, 1, 2])),
    st.integers(0, 2),
    st.sampled_from([None, None, None, 0, 1]),
    st.sampled_from([None, None, 7.0]),
)


def reordered(events: list[Event], order: Sequence[int]) -> list[Event]:
    """Return `events` in another order, but those that concern the same thing one after the other as they were."""
    left = {about: [event for event in events if event[0] == about] for about, _ in events}
    return [left[events[index][0]].pop(0) for index in order]


def happened(outcomes: list[Outcome]) -> Counter[Any]:
    """Count what happened, whatever the order."""
    return Counter(
        (
            *(outcome.at, outcome.kind, outcome.job.id, outcome.before, outcome.after, outcome.reason),
            outcome.preemption,
            outcome.decision and (outcome.decision.rule, outcome.decision.job, outcome.decision.victims),
        )
        for outcome in outcomes
    )


def standing(scheduler: Scheduler) -> dict[str, Any]:
    """Return all that can matter for what comes next."""
    state = scheduler.state
    return {
        "jobs": {
            job.id: (
                *(job.state, job.stopping, job.rank, job.blocked, job.attempts_used, job.preemptions),
                *(job.runnable_since, job.dispatched_at, job.started_at, job.dispatch_order),
            )
            for job in scheduler.jobs.values()
        },
        "claims": [(job.id, None if lane is None else lane.share) for job, lane in state.stopping.items()],
        "fronts": [job.id for job, _ in state.fronts()],
        "due": scheduler.next_due(),
    }


def submission(*given: Any) -> Callable[[Scheduler], object]:
    """Return a call that submits a job of its own to each scheduler."""
    return lambda scheduler: scheduler.submit(job := Job(*given), job.created, accepted=True)


class EqualTimesMachine(RuleBasedStateMachine):
    """Two schedulers get the events of each moment in two orders."""

    @initialize(
        policy=policies(),
        assumptions=assumptions,
        seconds=st.sampled_from([0.0, 20.0, 20.0]),
        order_is_known=st.booleans(),
    )
    def start(self, policy: QuotaPolicy, assumptions: Assumptions, seconds: float, order_is_known: bool) -> None:
        self.first, self.second = (
            Scheduler(policy, assumptions=assumptions, preemption_seconds=seconds, time_limits=TIME_LIMITS)
            for _ in range(2)
        )
        self.order_is_known = order_is_known
        self.names: list[str] = []
        self.now = 0.0
        self.moment: list[Event] = []

    def event(self, about: str, call: Callable[[Scheduler], object]) -> None:
        call(self.first)
        self.moment.append((about, call))

    # -- events -------------------------------------------------------------------

    @rule(jobs=st.lists(wanted, min_size=2, max_size=8))
    def submit(self, jobs: list[Wanted]) -> None:
        policy, now = self.first.policy, self.now
        for job in jobs:
            if job.name in self.names:
                continue
            self.names.append(job.name)
            share = policy.shares[job.share % len(policy.shares)]
            demand = make_demand({unit: n for unit, n in zip(share.limits, job.counts, strict=False) if n})
            sequence = len(self.names) if self.order_is_known else 1
            given = (job.name, share.name, demand, job.priority, now, sequence, job.preemption_retries)
            event = submission(*given, RetryStrategy(2), job.timeout)
            self.event(job.name, event)

    @precondition(lambda self: any(job.state.holds for job in self.first.jobs.values()))
    @rule(data=st.data(), end=st.sampled_from(["finish", "fail", "lack capacity", "run", "run"]))
    def change_a_holding_job(self, data, end) -> None:
        name, now = data.draw(self.names_of(holding=True)), self.now
        if end == "finish":
            self.event(name, lambda scheduler: scheduler.finish(name))
        elif end == "fail":
            self.event(name, lambda scheduler: scheduler.fail(name, now))
        elif end == "lack capacity":
            self.event(name, lambda scheduler: scheduler.lack_capacity(name, now, now + 7))
        else:
            self.event(name, lambda scheduler: scheduler.progress(name, JobState.RUNNING, now))

    @precondition(lambda self: len(self.first.state.stopping) > 1)
    @rule()
    def end_all_that_stop(self) -> None:
        """Complete several claims in one moment."""
        for job in list(self.first.state.stopping):
            self.event(job.id, lambda scheduler, name=job.id: scheduler.finish(name))

    @precondition(lambda self: self.first.jobs)
    @rule(data=st.data(), priority=st.none() | st.integers(0, 4))
    def change_any_job(self, data, priority) -> None:
        name = data.draw(self.names_of(holding=False))
        if priority is None:
            self.event(name, lambda scheduler: scheduler.terminate(name))
        else:
            self.event(name, lambda scheduler: scheduler.set_priority(name, priority))

    @rule(data=st.data(), limit=st.integers(1, 5), enabled=st.sampled_from([True, True, False]))
    def edit_a_share(self, data, limit, enabled) -> None:
        share = data.draw(st.sampled_from(self.first.policy.shares))
        unit = data.draw(st.sampled_from(sorted(share.limits)))
        policy = self.first.policy.with_share(replace(share, limits={**share.limits, unit: limit}, enabled=enabled))
        self.event(POLICY, lambda scheduler: scheduler.set_policy(policy))

    def names_of(self, *, holding: bool) -> st.SearchStrategy[str]:
        jobs = self.first.jobs.values()
        return st.sampled_from(sorted(job.id for job in jobs if job.state.holds or not holding))

    # -- time ---------------------------------------------------------------------

    @rule(data=st.data(), seconds=st.sampled_from([1, 7, 20, 600]))
    def let_the_moment_pass(self, data, seconds) -> None:
        order = data.draw(st.permutations(range(len(self.moment))))
        for _, call in reordered(self.moment, order):
            call(self.second)
        self.moment = []
        self.compare()
        self.now += seconds
        self.compare()

    def compare(self) -> None:
        first, second = self.first.run(self.now), self.second.run(self.now)
        assert happened(first) == happened(second)
        assert standing(self.first) == standing(self.second)


TestEqualTimes = EqualTimesMachine.TestCase
TestEqualTimes.settings = settings(
    max_examples=300, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("calls", [("a", "b"), ("b", "a")], ids=" ".join)
@pytest.mark.parametrize(
    ("sequences", "wins"),
    [
        pytest.param({"a": 2, "b": 1}, "b", id="the order of submission that is given"),
        pytest.param({"a": 1, "b": 1}, "a", id="ids where the order is unknown"),
    ],
)
@pytest.mark.parametrize("shares", [("L", "L"), ("L", "M")], ids=["one share", "two shares"])
def test_equal_times_of_equal_priority(shares, sequences, wins, calls) -> None:
    policy = QuotaPolicy({G5: 2}, (share("L", 1, BORROW), share("M", 1, BORROW), share("N", 1, LEND)))
    scheduler = Scheduler(policy)
    scheduler.place(Job("holder", "N", make_demand({G5: 1})), 0)
    for name in calls:
        scheduler.submit(Job(name, shares[name == "b"], make_demand({G5: 1}), sequence=sequences[name]), 0)
    scheduler.run(0)
    assert {job.id for job in scheduler.jobs.values() if job.state.holds} == {"holder", wins}


def test_who_is_given_without_a_sequence_stands_behind_those_given_before() -> None:
    scheduler = Scheduler(QuotaPolicy({G5: 1}, (share("L", 1),)))
    for name, sequence in (("c", 7), ("a", 0), ("b", 0)):
        scheduler.submit(Job(name, "L", make_demand({G5: 1}), sequence=sequence), 0)
    order = []
    for _ in range(3):
        scheduler.run(0)
        order += [job.id for job in scheduler.jobs.values() if job.state.holds]
        scheduler.finish(order[-1])
    assert order == ["c", "a", "b"]


@pytest.mark.parametrize("ends", [("low", "high"), ("high", "low")], ids=" ".join)
def test_claims_completed_in_one_moment_are_served_in_the_order_of_shares(ends) -> None:
    """Contract.md sections 2 and 3: by the front jobs' created time, not by whose victim stopped first."""
    lab = Lab(3, share("A", 1), share("B", 1), share("C", 1, BORROW), preemption_seconds=20)
    for priority, name in enumerate(("low", "high", "own")):
        lab.submit(name, "C", priority=priority)
    lab.wait(1)
    lab.submit("older", "B")
    lab.wait(1)
    lab.submit("newer", "A")
    assert lab.stopping == {"low", "high"}
    for name in ends:
        lab.scheduler.finish(name)
    assert [outcome.job.id for outcome in lab.run() if outcome.kind is OutcomeKind.DISPATCHED] == ["older", "newer"]
