"""Timelines of simulations: exact where they can be worked out by hand, and in keeping with the result's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lab import BORROW, G5, LEND, RESERVE, share

from quota_scheduler import OutcomeKind, PreemptionKind, QuotaPolicy, TimeLimit
from quota_scheduler.simulation_recorder import SimulationRecorder
from quota_scheduler.simulation_settings import SimulationSettings
from quota_scheduler.simulator import simulate
from quota_scheduler.time_limits import REASONS
from quota_scheduler.time_sums import TimeSums
from quota_scheduler.timeline import PreemptionLink, Timeline
from quota_scheduler.timeline_builder import TimelineBuilder
from quota_scheduler.workload import RowReport, Workload, WorkloadJob

if TYPE_CHECKING:
    from quota_scheduler import Outcome
    from quota_scheduler.simulation_result import SimulationResult

A, B, C = ("A", G5), ("B", G5), ("C", G5)
THREE = QuotaPolicy({G5: 4}, (share("A", 1, BORROW), share("B", 1, LEND), share("C", 1, RESERVE)))
"""One instance belongs to no share; A may borrow B's, and nobody C's."""


def job(name: str, submit: float, duration: float, count: int = 1, retries: int | None = None) -> WorkloadJob:
    """Return a job of the share its name begins with."""
    return WorkloadJob(name, name[0], submit, duration, ((G5, count),), preemption_retries=retries)


class StopCounter(SimulationRecorder):
    """A recorder that counts the jobs that are stopped."""

    stops = 0

    def happened(self, outcome: Outcome) -> None:
        self.stops += outcome.kind is OutcomeKind.PREEMPTED
        super().happened(outcome)


def record(
    policy: QuotaPolicy, *jobs: WorkloadJob, recorder: SimulationRecorder | None = None, **more
) -> tuple[SimulationResult, Timeline]:
    recorder = recorder or SimulationRecorder()
    workload = Workload.of(jobs, RowReport())
    result = simulate(policy, workload, SimulationSettings(2), observer=recorder, **more)
    return result, recorder.timeline()


def test_a_history_worked_out_by_hand() -> None:
    """A2 borrows what is B's, B1 takes it back at 4 s and has it at 6 s, A2 begins anew at 9 s."""
    _, timeline = record(THREE, job("A1", 0, 10), job("A2", 0, 9), job("C1", 2.5, 2), job("B1", 4, 3))
    assert (timeline.start, timeline.end, timeline.width) == (0, 18, 1)
    assert timeline.edges() == [*range(19)]
    a, b, c = (timeline.capacity[key] for key in (A, B, C))
    assert a.own == [1] * 18
    assert a.borrowed == [1] * 6 + [0] * 3 + [1] + [0] * 8
    assert a.lendable_idle == a.reserved_idle == [0] * 18
    assert b.own == [0] * 6 + [1] * 3 + [0] * 9
    assert b.lendable_idle == [1] * 6 + [0] * 3 + [1] * 9
    assert c.own == [0, 0, 0.5, 1, 0.5] + [0] * 13
    assert c.reserved_idle == [1, 1, 0.5, 0, 0.5] + [1] * 13
    assert timeline.shares["A"].waiting == [0] * 6 + [1] * 3 + [0] * 9
    assert timeline.shares["B"].waiting == [0] * 4 + [1] * 2 + [0] * 12
    assert timeline.shares["A"].dispatches == [2] + [0] * 8 + [1] + [0] * 8
    assert timeline.shares["A"].preempted == [0] * 4 + [1] + [0] * 13
    assert timeline.utilisation()[:4] == [2 / 4, 2 / 4, 2.5 / 4, 3 / 4]
    link = PreemptionLink(4, 6, PreemptionKind.CROSS_SHARE, "A2", "A", "B1", "B", 1, 6, failed=False)
    assert (timeline.links, timeline.links_left_out) == ((link,), 0)


def test_a_coarser_timeline_has_the_same_totals() -> None:
    _, fine = record(THREE, job("A1", 0, 10), job("A2", 0, 9), job("B1", 4, 3))
    coarse = fine.coarser(4)
    assert (coarse.width, coarse.edges()) == (5, [0, 5, 10, 15, 18])
    assert coarse.capacity[A].borrowed == [5, 2, 0, 0]
    assert coarse.means(coarse.capacity[A].own) == [1, 1, 1, 1]
    assert coarse.shares["A"].dispatches == [2, 1, 0, 0]


def test_limits_that_change_and_shares_that_go() -> None:
    """At 5 s A's limit rises to 2, at 8 s B is deleted with its two jobs, one of which holds."""
    wider = THREE.with_share(share("A", 2, BORROW))
    changes = [(5.0, wider), (8.0, wider.without_share("B"))]
    _, timeline = record(THREE, job("A1", 0, 10, count=2), job("B1", 6, 9), job("B2", 6, 9), changes=changes)
    assert timeline.capacity[A].own == [1] * 5 + [2] * 5
    assert timeline.capacity[A].borrowed == [1] * 5 + [0] * 5
    assert timeline.capacity[B].own == [0] * 6 + [1] * 2 + [0] * 2
    assert timeline.capacity[B].lendable_idle == [1] * 6 + [0] * 4
    assert timeline.shares["B"].waiting == [0] * 6 + [1] * 2 + [0] * 2


def test_a_victim_without_retries_left_is_shown_as_failed_and_waits_no_more() -> None:
    _, timeline = record(THREE, job("A1", 0, 10), job("A2", 0, 10, retries=0), job("B1", 4, 3))
    assert [link.failed for link in timeline.links] == [True]
    assert sum(timeline.shares["A"].waiting) == 0


def test_a_victim_that_does_its_work_before_it_has_stopped_counts_as_preempted_and_has_no_link() -> None:
    result, timeline = record(THREE, job("A1", 0, 10), job("A2", 0, 5), job("B1", 4, 3))
    assert (result.preemptions["cross-share"], result.lost_instance_s, result.finished) == (1, 0, 3)
    assert (sum(timeline.shares["A"].preempted), timeline.links) == (1, ())


def test_a_job_that_is_ended_by_a_time_limit_waits_no_more() -> None:
    limits = [TimeLimit(reason, 600) for reason in REASONS]
    _, timeline = record(THREE, job("C1", 0, 5, count=3), job("C2", 0, 5), time_limits=limits)
    assert timeline.end == 605
    assert sum(timeline.shares["C"].waiting) == 600 + 600


def test_the_preemptions_that_stopped_the_most_work_are_kept() -> None:
    builder = TimelineBuilder(THREE, 0)
    for at in range(1, 1001):
        builder.link(
            PreemptionLink(at, at + 1, PreemptionKind.IN_SHARE, f"v{at}", "A", "b", "A", 1, at % 7 * 100 + at, False)
        )
    timeline = builder.build(1001)
    assert (len(timeline.links), timeline.links_left_out) == (500, 500)
    assert [link.decided for link in timeline.links] == sorted(link.decided for link in timeline.links)
    most = sorted((at % 7 * 100 + at for at in range(1, 1001)), reverse=True)[:500]
    assert sorted((link.instance_s for link in timeline.links), reverse=True) == most


_JOBS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(0, 3000), st.integers(1, 2500), st.integers(1, 3), st.integers(0, 9)),
    min_size=1,
    max_size=40,
)


@given(_JOBS, st.sampled_from([None, 500.0]))
@settings(max_examples=60, deadline=None)
def test_curves_integrate_to_what_the_result_measures(rows: list[tuple], changed: float | None) -> None:
    policy = QuotaPolicy(
        {G5: 6}, (share("A", 2, BORROW, in_share=True), share("B", 2, BORROW), share("C", 1, RESERVE, in_share=True))
    )
    jobs = [
        WorkloadJob(f"{name}{index}", name, submit, duration, ((G5, count),), priority)
        for index, (name, submit, duration, count, priority) in enumerate(rows)
    ]
    changes = [(changed, policy.with_share(share("B", 3, LEND)))] if changed is not None else []
    counter = StopCounter()
    result, timeline = record(policy, *jobs, recorder=counter, changes=changes)
    assert len(timeline.environment) <= 1000
    span = max(1, result.span_s)
    assert sum(timeline.used()) == pytest.approx(result.utilisation * 6 * result.span_s, abs=1e-6 * span)
    for name, measured in result.shares.items():
        curves = timeline.capacity[name, G5]
        assert sum(curves.borrowed) == pytest.approx(measured.borrowed_instance_s, abs=1e-6 * span)
        assert sum(timeline.shares[name].preempted) == measured.preempted
        idle = curves.reserved_idle if name == "C" else curves.lendable_idle
        if name == "A":
            assert sum(curves.own) + sum(idle) == pytest.approx(2 * (timeline.end - timeline.start))
    requeued = sum(not link.failed for link in timeline.links)
    dispatched = sum(sum(curves.dispatches) for curves in timeline.shares.values())
    assert dispatched == result.finished + requeued
    assert len(timeline.links) == counter.stops <= sum(result.preemptions.values())


def test_curves_keep_their_totals_when_stretches_widen() -> None:
    sums = TimeSums(100, limit=4)
    curve, counts = sums.curve(), sums.curve()
    sums.add(curve, 2, 100.5, 103)
    assert (sums.width, curve) == (1, [1, 2, 2, 0])
    sums.count(counts, 104)
    assert (sums.width, curve, counts) == (2, [3, 2, 0, 0], [0, 0, 1, 0])
    sums.add(curve, 1, 104, 133)
    assert sums.width == 16
    assert sum(curve) == 5 + 29
    assert sums.until(curve, 133) == [5 + 12, 16, 1]
    assert sums.until(counts, 133) == [1, 0, 0]
