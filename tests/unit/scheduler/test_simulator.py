"""Simulations of workloads so small that every figure can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, share

from quota_scheduler import JobError, QuotaPolicy, QuotaShare, TimeLimit, VictimOrder
from quota_scheduler.assumptions import Assumptions
from quota_scheduler.simulation_result import SimulationResult, Spread
from quota_scheduler.simulation_settings import SimulationSettings
from quota_scheduler.simulator import simulate
from quota_scheduler.time_limits import REASONS
from quota_scheduler.workload import RowReport, Workload, WorkloadJob
from quota_scheduler.workload_generator import ShareLoad, generate

P4 = "ml.p4d.24xlarge"
LIMITS = tuple(TimeLimit(reason, 600) for reason in REASONS)


def job(
    name: str,
    submit: float,
    duration: float,
    need: int | dict[str, int] = 1,
    priority: int = 0,
    retries: int | None = None,
) -> WorkloadJob:
    """Return a job of the share its name begins with."""
    demand = tuple((need if isinstance(need, dict) else {G5: need}).items())
    return WorkloadJob(name, name[0], submit, duration, demand, priority, retries)


def policy(environment: int | dict[str, int], *shares: QuotaShare) -> QuotaPolicy:
    return QuotaPolicy(environment if isinstance(environment, dict) else {G5: environment}, shares)


def workload(*jobs: WorkloadJob) -> Workload:
    return Workload.of(jobs, RowReport())


def run(
    policy: QuotaPolicy, *jobs: WorkloadJob, preemption: float = 20, checkpoint: float | None = None, **more: object
) -> SimulationResult:
    return simulate(policy, workload(*jobs), SimulationSettings(preemption, checkpoint), **more)


TWO = policy(2, share("A", 1, BORROW), share("B", 1))
"""A may borrow B's instance."""
TAKEN_BACK = (job("A1", 0, 100), job("A2", 0, 100), job("B1", 40, 10))
"""B takes its instance back from A2 at 40 s, and has it at 60 s."""


def test_waits_in_a_queue() -> None:
    result = run(policy(1, share("A", 1)), job("A1", 0, 10), job("A2", 2, 5), job("A3", 3, 1))
    assert result.wait_s == Spread(mean=20 / 3, p50=8, p95=12, max=12)
    assert result.shares["A"].wait_s == result.wait_s
    assert (result.jobs, result.finished, result.span_s, result.utilisation) == (3, 3, 16, 1)


def test_idle_capacity_and_idle_time_lower_utilisation() -> None:
    result = run(policy(4, share("A", 4)), job("A1", 100, 10, 2), job("A2", 130, 10))
    assert (result.span_s, result.utilisation) == (40, (2 * 10 + 1 * 10) / (4 * 40))


@pytest.mark.parametrize(
    ("checkpoint", "preemption", "lost", "span"),
    [
        (None, 20, 60, 170),  # A2 held 0-60 in vain, and runs from 70 for 100 s
        (45, 20, 60, 170),  # it worked for 40 s, less than an interval
        (30, 20, 30, 140),  # 30 of the 60 s it held were saved: 70 s are left from 70 on
        (20, 20, 20, 130),
        (30, 0, 10, 120),  # stops at once: B1 runs 40-50, A2 has 70 s left from 50 on
        (None, 0, 40, 150),
    ],
)
def test_lost_work_with_and_without_checkpoints(
    checkpoint: float | None, preemption: float, lost: float, span: float
) -> None:
    result = run(TWO, *TAKEN_BACK, checkpoint=checkpoint, preemption=preemption)
    assert (result.lost_instance_s, result.span_s) == (lost, span)
    assert result.utilisation == pytest.approx((100 + 100 + 10 + lost) / (2 * span))
    assert (result.shares["A"].lost_instance_s, result.shares["B"].lost_instance_s) == (lost, 0)


def test_capacity_that_is_lent_and_taken_back() -> None:
    result = run(TWO, *TAKEN_BACK)
    a, b = result.shares["A"], result.shares["B"]
    assert (a.borrowed_instance_s, b.lent_instance_s) == (90, 90), "0-60, and 70-100 while A1 runs, too"
    assert (a.lent_instance_s, b.borrowed_instance_s) == (0, 0)
    assert (result.borrowed_instance_s, result.lent_instance_s) == (90, 90)
    assert result.preemptions == {"cross-share": 1, "in-share": 0}
    assert (a.preempted, b.preempted) == (1, 0)
    assert result.reclaim_s == b.reclaim_s == Spread(20, 20, 20, 20)
    assert a.reclaim_s == Spread(None, None, None, None)
    assert (a.wait_s.max, b.wait_s.max) == (0, 20), "what a preempted job waits again is no first wait"


def test_several_lenders_lend_in_proportion_to_what_they_leave_idle() -> None:
    shares = (share("A", 1, BORROW), share("B", 1), share("C", 3), share("R", 2, RESERVE))
    result = run(policy(7, *shares), job("A1", 0, 10), job("A2", 0, 10, 2))
    lent = {name: entry.lent_instance_s for name, entry in result.shares.items()}
    assert lent == {"A": 0, "B": pytest.approx(5), "C": pytest.approx(15), "R": 0}
    assert result.shares["A"].borrowed_instance_s == 20


def test_every_instance_of_a_job_is_lost() -> None:
    result = run(policy(3, share("A", 1, BORROW), share("B", 2)), job("A1", 0, 50, 3), job("B1", 10, 5, 2))
    assert result.lost_instance_s == 3 * 30


def test_unless_told_otherwise_stopping_takes_20_s_and_jobs_restart() -> None:
    assert simulate(TWO, workload(*TAKEN_BACK)) == run(TWO, *TAKEN_BACK, preemption=20, checkpoint=None)


def test_an_urgent_job_of_the_same_share() -> None:
    result = run(policy(1, share("A", 1, in_share=True)), job("A1", 0, 100), job("A2", 50, 10, priority=1))
    assert result.preemptions == {"cross-share": 0, "in-share": 1}
    assert (result.lost_instance_s, result.span_s, result.shares["A"].wait_s.max) == (70, 180, 20)
    assert result.reclaim_s.max is None, "nothing that was lent was taken back"


def test_a_victim_that_ends_by_itself_while_it_is_stopped_loses_nothing() -> None:
    result = run(TWO, job("A1", 0, 100), job("A2", 0, 45), job("B1", 40, 10))
    assert (result.finished, result.lost_instance_s, result.shares["A"].preempted) == (3, 0, 1)
    assert result.reclaim_s.max == 5


@pytest.mark.parametrize(("checkpoint", "lost", "span"), [(None, 60, 160), (30, 30, 130)])
def test_a_victim_that_runs_again_the_moment_it_has_stopped(checkpoint: float | None, lost: float, span: float) -> None:
    jobs = (job("A1", 0, 60), job("A2", 0, 100), job("B1", 40, 10))  # A1 ends when A2 has stopped, at 60
    result = run(TWO, *jobs, checkpoint=checkpoint)
    assert (result.lost_instance_s, result.span_s, result.wait_s.max) == (lost, span, 20)


@pytest.mark.parametrize("checkpoint", [None, 10])
def test_a_job_without_preemption_retries_left_fails_and_loses_everything(checkpoint: float | None) -> None:
    jobs = (job("A1", 0, 200), job("A2", 0, 200, retries=1), job("B1", 40, 10), job("B2", 100, 10))
    result = run(TWO, *jobs, checkpoint=checkpoint)
    assert (result.failed, result.finished) == (1, 3)
    assert result.lost_instance_s == 60 + 50, "held 0-60 and 70-120"


def test_a_job_that_can_never_run_blocks_its_share() -> None:
    result = run(policy(2, share("A", 1), share("B", 1)), job("A1", 0, 5, 2), job("A2", 1, 5), job("B1", 0, 5))
    a, b = result.shares["A"], result.shares["B"]
    assert (a.blocked, a.never_dispatched, a.finished, a.wait_s.mean) == (1, 2, 0, None)
    assert (b.blocked, b.never_dispatched, b.finished) == (0, 0, 1)
    assert (result.blocked, result.never_dispatched) == (1, 2)


def test_a_time_limit_ends_it_so_that_the_next_one_runs() -> None:
    jobs = (job("A1", 0, 5, 2), job("A2", 1, 5))
    result = run(policy(2, share("A", 1), share("B", 1)), *jobs, time_limits=LIMITS)
    a = result.shares["A"]
    assert (a.terminated, a.never_dispatched, a.finished, a.wait_s.max) == (1, 1, 1, 599)
    assert result.terminated == 1


def test_jobs_of_a_share_that_takes_none_are_rejected() -> None:
    closed = replace(share("B", 1), enabled=False)
    result = run(policy(2, share("A", 1), closed), job("A1", 0, 5), job("B1", 0, 5), job("Z1", 0, 5))
    assert {name: entry.rejected for name, entry in result.shares.items()} == {"A": 0, "B": 1, "Z": 1}
    assert (result.rejected, result.never_dispatched, result.finished, result.jobs) == (2, 0, 1, 3)


# -- policies over time ---------------------------------------------------------------


def test_a_raised_limit_lets_the_next_job_run_from_then_on() -> None:
    one, two = policy(2, share("A", 1)), policy(2, share("A", 2))
    result = run(one, job("A1", 0, 100), job("A2", 10, 100), changes=[(50, two)])
    assert (result.shares["A"].wait_s.max, result.span_s) == (40, 150)


def test_what_is_used_beyond_a_lowered_limit_counts_as_borrowed_from_then_on() -> None:
    before, after = (policy(4, share("A", limit), share("B", 2)) for limit in (2, 1))
    result = run(before, job("A1", 0, 30), job("A2", 0, 40), changes=[(10, after)])
    assert (result.shares["A"].borrowed_instance_s, result.shares["B"].lent_instance_s) == (20, 20)
    assert result.shares["A"].preempted == 0


def test_a_deleted_share_loses_its_jobs_and_a_new_one_takes_the_capacity() -> None:
    before, after = policy(1, share("A", 1)), policy(1, share("N", 1))
    jobs = (job("A1", 0, 100), job("A2", 0, 100), job("N1", 5, 10), job("A3", 20, 1), job("N2", 20, 10))
    result = run(before, *jobs, changes=[(10, after)])
    a, n = result.shares["A"], result.shares["N"]
    assert (a.terminated, a.finished, a.rejected, a.never_dispatched) == (2, 0, 1, 1)
    assert (n.rejected, n.finished, n.wait_s.max) == (1, 1, 0), "N1 came before its share"
    assert (result.span_s, result.utilisation) == (30, 20 / 30)


def test_environment_capacity_counts_as_long_as_it_is_there() -> None:
    before, after = policy(2, share("A", 1)), policy(4, share("A", 1))
    assert run(before, job("A1", 0, 20), changes=[(10, after)]).utilisation == 20 / (2 * 10 + 4 * 10)


def test_a_unit_that_is_added_lets_a_job_run_that_could_not() -> None:
    before, after = policy(1, share("A", 1)), policy({G5: 1, P4: 1}, share("A", {G5: 1, P4: 1}))
    result = run(before, job("A1", 0, 20, {P4: 1}), job("A2", 1, 5), changes=[(10, after)])
    assert (result.blocked, result.finished, result.span_s) == (1, 2, 30)
    assert result.utilisation == (20 + 5) / (1 * 10 + 2 * 20)


@pytest.mark.parametrize(
    ("times", "wait"),
    [((-5, -1), 0), ((0, 0), 0), ((5, 0), 0), ((3, 5), 3), ((500, 600), 100)],
)
def test_when_policies_come_into_force(times: tuple[float, float], wait: float) -> None:
    first, second = policy(3, share("A", 2)), policy(3, share("A", 3))
    changes = list(zip(times, (first, second), strict=True))
    result = run(policy(3, share("A", 1)), job("A1", 0, 100), job("A2", 0, 100), changes=changes)
    assert result.wait_s.max == wait


# -- the whole --------------------------------------------------------------------------


def _jobs(seed: int = 3) -> Workload:
    loads = [
        ShareLoad("A", G5, 300, "bursts", {1: 3, 2: 1, 5: 1}, 1500, 1.2, {0: 1, 5: 1, 9: 1}),
        ShareLoad("B", G5, 700, "poisson", {1: 1, 3: 1}, 2500, 1.0, {0: 1, 5: 1}),
        ShareLoad("C", G5, 900, "regular", {2: 1}, 800, 0.2),
    ]
    return generate(loads, 800, seed)


def _generated(assumptions: Assumptions | None = None, seed: int = 3) -> SimulationResult:
    shares = (share("A", 4, BORROW, in_share=True), share("B", 5, BORROW, in_share=True), share("C", 3, LEND))
    return simulate(policy(12, *shares), _jobs(seed), SimulationSettings(30, 600), assumptions=assumptions)


def test_the_same_workload_gives_the_same_figures() -> None:
    assert _generated().to_document() == _generated().to_document()
    assert _generated().to_document() != _generated(seed=4).to_document()


def test_assumptions_are_the_scheduler_s() -> None:
    flipped = Assumptions(victim_order=VictimOrder.OLDEST_FIRST)
    assert _generated(flipped).lost_instance_s != _generated().lost_instance_s


def test_the_figures_of_shares_add_up() -> None:
    result = _generated()
    shares = result.shares.values()
    work = sum(job.duration * count for job in _jobs().jobs for _, count in job.demand)
    assert result.utilisation * 12 * result.span_s == pytest.approx(work + result.lost_instance_s)
    assert result.jobs == result.finished == sum(entry.jobs for entry in shares) == 800
    assert sum(result.preemptions.values()) == sum(entry.preempted for entry in shares) > 100
    assert result.borrowed_instance_s == pytest.approx(result.lent_instance_s)
    assert 0.5 < result.utilisation <= 1
    assert min(result.preemptions.values()) > 0


def test_a_document_is_plain_and_whole() -> None:
    document = run(TWO, *TAKEN_BACK).to_document()
    assert document["wait_s"] == {"mean": 20 / 3, "p50": 0, "p95": 20, "max": 20}
    assert document["shares"]["B"]["reclaim_s"] == {"mean": 20, "p50": 20, "p95": 20, "max": 20}
    assert document["shares"]["B"]["wait_s"]["max"] == 20


def test_no_jobs_at_all() -> None:
    result = run(TWO)
    assert (result.jobs, result.span_s, result.utilisation, result.wait_s.mean) == (0, 0, 0, None)


def test_progress_is_told_and_ends_at_all_jobs() -> None:
    told: list[int] = []
    jobs = [job(f"A{index}", index, 1) for index in range(2500)]
    run(TWO, *jobs, on_progress=told.append)
    assert told == [1000, 2000, 2500]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SimulationSettings(-1), "preemption of -1 s is not allowed: use 0 or more"),
        (lambda: SimulationSettings(float("nan")), "preemption of nan s"),
        (lambda: SimulationSettings(0, 0), "checkpoint interval of 0 s is not allowed: use more than 0"),
        (lambda: run(TWO, job("A1", 0, 1, priority=-1)), "priority -1 is not allowed"),
        (lambda: run(TWO, job("A1", 0, 5), job("A1", 1, 5)), "job A1 exists already"),
    ],
)
def test_fails_for_values_that_are_not_allowed(make, says: str) -> None:
    with pytest.raises(JobError, match=says):
        make()
