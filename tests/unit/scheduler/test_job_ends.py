"""How jobs end: retries, preemption retries, time-outs, lack of capacity, time limit actions."""

from __future__ import annotations

import pytest
from support.lab import BORROW, G5, Lab, share

from quota_scheduler import ExitRule, JobError, JobState, PolicyError, RetryStrategy, TimeLimit
from quota_scheduler.blocked import BlockedReason

MISCONFIGURED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    ("rules", "reason", "retried"),
    [
        ((), "anything", True),
        ((ExitRule("RETRY", "*internal*"), ExitRule("EXIT", "*")), "An INTERNAL error", True),
        ((ExitRule("Retry", "*internal*"), ExitRule("exit", "*")), "out of memory", False),
        ((ExitRule("EXIT", "*"), ExitRule("RETRY", "*")), "anything", False),
        ((ExitRule("EXIT", "bad image"),), "bad image pulled", True),
        ((ExitRule("EXIT", "[ab]?"),), "a1", True),
        ((ExitRule("EXIT", "[ab]?"),), "[ab]?", False),
        ((ExitRule("EXIT"),), "anything", False),
    ],
)
def test_the_first_exit_rule_that_matches_decides(rules, reason, retried) -> None:
    assert RetryStrategy(3, rules).allows(1, reason) is retried


def test_attempts_count_every_time_a_job_becomes_runnable() -> None:
    lab = Lab(1, share("A", 1))
    job = lab.submit("j", "A", retry=RetryStrategy(attempts=3))
    states = []
    for _ in range(3):
        states.append(lab.scheduler.fail("j", lab.now, "boom"))
        lab.run()
    assert states == [JobState.RUNNABLE, JobState.RUNNABLE, JobState.FAILED]
    assert job.attempts_used == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: RetryStrategy(0),
        lambda: RetryStrategy(11),
        lambda: RetryStrategy(True),
        lambda: RetryStrategy(1, (ExitRule("EXIT"),) * 6),
        lambda: ExitRule("STOP"),
        lambda: ExitRule("EXIT", "x" * 513),
    ],
)
def test_fails_for_a_retry_strategy_out_of_bounds(make) -> None:
    with pytest.raises(JobError, match="use"):
        make()


def test_an_attempt_that_takes_too_long_ends_and_is_retried() -> None:
    lab = Lab(1, share("A", 1))
    job = lab.submit("j", "A", timeout=100, retry=RetryStrategy(attempts=2))
    lab.scheduler.progress("j", JobState.RUNNING, lab.now)
    lab.wait(99)
    assert job.state is JobState.RUNNING
    lab.wait(1)
    assert job.state is JobState.SCHEDULED, "retried and dispatched anew"
    lab.wait(50)
    lab.scheduler.progress("j", JobState.RUNNING, lab.now)
    lab.wait(60)
    assert job.state is JobState.RUNNING, "the time of the second attempt counts from its own start"
    lab.wait(40)
    assert job.state is JobState.FAILED


def test_lack_of_capacity_puts_the_job_back_without_using_an_attempt() -> None:
    lab = Lab(2, share("A", 1), share("B", 1))
    job = lab.submit("j", "A")
    lab.scheduler.lack_capacity("j", lab.now, retry_at=60)
    lab.run()
    assert (job.state, job.attempts_used, job.blocked) == (
        JobState.RUNNABLE,
        1,
        BlockedReason.INSUFFICIENT_CAPACITY,
    )
    lab.wait(59)
    assert job.state is JobState.RUNNABLE
    lab.wait(1)
    assert (job.state, job.attempts_used, job.blocked) == (JobState.SCHEDULED, 1, None)


def test_a_time_limit_action_ends_a_job_that_can_never_run() -> None:
    lab = Lab(2, share("A", 2), time_limits=(TimeLimit(MISCONFIGURED, 600),))
    lab.scheduler.set_limits("A", {G5: 1})
    job = lab.submit("never", "A", 2)
    waits = lab.submit("waits", "A", 1)
    lab.wait(599)
    assert (job.blocked, waits.state) == (BlockedReason.LIMIT, JobState.RUNNABLE)
    outcomes = lab.wait(1)
    assert outcomes[0].reason == f"Terminated by JobStateTimeLimit action due to reason: {MISCONFIGURED}"
    assert (job.state, waits.state) == (JobState.FAILED, JobState.SCHEDULED)


def test_a_job_that_can_run_again_is_spared_by_the_time_limit() -> None:
    lab = Lab(2, share("A", 1), time_limits=(TimeLimit(MISCONFIGURED, 600),))
    job = lab.submit("j", "A", 2)
    lab.wait(300)
    lab.scheduler.set_limits("A", {G5: 2})
    lab.wait(1)
    assert job.state is JobState.SCHEDULED
    assert [o.kind.value for o in lab.outcomes] == ["blocked", "unblocked", "dispatched"]
    assert lab.wait(600) == []


@pytest.mark.parametrize(
    ("reason", "seconds"),
    [("NO_SUCH", 600), (MISCONFIGURED, 599), (MISCONFIGURED, 86_401), (MISCONFIGURED, 600.5)],
)
def test_fails_for_a_time_limit_out_of_bounds(reason, seconds) -> None:
    with pytest.raises(PolicyError, match="QM008"):
        TimeLimit(reason, seconds)


def test_only_the_front_job_is_blocked() -> None:
    lab = Lab(1, share("A", 1))
    behind = lab.submit("behind", "A", 2)
    assert behind.blocked == BlockedReason.ENVIRONMENT
    front = lab.submit("front", "A", 3, priority=1)
    assert front.blocked == BlockedReason.ENVIRONMENT
    later = lab.submit("later", "A", 3)
    assert later.blocked is None


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda s: s.finish("waits"), "waits is RUNNABLE: only a SCHEDULED, STARTING or RUNNING job"),
        (lambda s: s.finish("nobody"), "'nobody' is unknown or has ended"),
        (lambda s: s.terminate("gone"), "'gone' is unknown or has ended"),
        (lambda s: s.set_priority("runs", -1), "priority -1 is not allowed"),
        (lambda s: s.set_priority("runs", True), "priority True is not allowed"),
        (lambda s: s.set_limits("Z", {G5: 1}), "quota share 'Z' is unknown: use one of A"),
    ],
)
def test_fails_without_changing_anything(act, says) -> None:
    lab = Lab(2, share("A", 1, BORROW))
    lab.submit("gone", "A")
    lab.finish("gone")
    lab.submit("runs", "A", priority=3)
    lab.submit("waits", "A")
    with pytest.raises(JobError, match=says):
        act(lab.scheduler)
    assert (lab.holding, lab.waiting, lab.made["runs"].priority) == ({"runs"}, {"waits"}, 3)


def test_an_id_is_taken_only_once() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("j", "A")
    with pytest.raises(JobError, match="job j exists already"):
        lab.submit("j", "A")


@pytest.mark.parametrize(
    ("retries", "states"),
    [
        (None, ["RUNNABLE", "RUNNABLE", "RUNNABLE"]),
        (0, ["FAILED"]),
        (1, ["RUNNABLE", "FAILED"]),
        (2, ["RUNNABLE", "RUNNABLE", "FAILED"]),
    ],
)
def test_a_preemption_beyond_the_retries_fails_the_job(retries: int | None, states: list[str]) -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    lab.submit("own", "A")
    job = lab.submit("victim", "A", preemption_retries=retries, retry=RetryStrategy(attempts=1))
    seen = []
    for index in range(len(states)):
        lab.submit(f"b{index}", "B")
        seen.append(job.state.value)
        lab.finish(f"b{index}")
    assert (seen, job.preemptions) == (states, len(states))


def test_a_job_that_is_being_preempted_is_not_timed_out() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("own", "A")
    job = lab.submit("victim", "A", timeout=10)
    lab.scheduler.progress("victim", JobState.RUNNING, lab.now)
    lab.submit("b", "B")
    lab.wait(15)
    assert (job.state, job.stopping is not None) == (JobState.RUNNING, True)
    lab.wait(5)
    assert job.state is JobState.RUNNABLE
    assert "timed-out" not in [outcome.kind.value for outcome in lab.outcomes]


def test_a_time_limit_action_ends_a_job_that_lacks_capacity_too_long() -> None:
    lab = Lab(1, share("A", 1), time_limits=(TimeLimit("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 600),))
    job = lab.submit("j", "A")
    lab.scheduler.lack_capacity("j", lab.now, retry_at=10_000)
    lab.wait(599)
    assert job.state is JobState.RUNNABLE
    lab.wait(1)
    assert job.state is JobState.FAILED
