"""Claim: a job of a million costs at most 1.3 times one of ten thousand, under the same policy and load.

Both workloads have the same arrivals, sizes and durations. Shares have a quarter more than their mean use, and room for
the largest job, so that neither workload has a backlog that grows with time. The durations spread over fewer decades
than a trace's: with those, ten thousand jobs have ended before the load they bring is reached. The figures show how far
loads are alike. Runs take turns, and each workload counts with its best time.
"""

from __future__ import annotations

import gc
import time
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.figure import Figure
from benchmarks.workloads import generated, policy_for
from quota_scheduler.simulator import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler import QuotaPolicy
    from quota_scheduler.workload import Workload

FEW, MANY = 10_000, 1_000_000
SEEDS = range(1, 6)
SPREAD, HEADROOM, LARGEST = 1.0, 1.25, 16
ROUNDS = 3


class _Run(NamedTuple):
    """What one simulation cost a job, and its load."""

    seconds: float
    utilisation: float
    preemptions: float


def measure() -> Iterator[Figure]:
    workload = generated(MANY, spread=SPREAD)
    policy = policy_for(workload, HEADROOM, LARGEST)
    workloads = [workload, *(generated(FEW, seed=seed, spread=SPREAD) for seed in SEEDS)]
    rounds = [[_run(policy, workload) for workload in workloads] for _ in range(ROUNDS)]
    many, *few = (min(runs) for runs in zip(*rounds, strict=True))
    one_of_few = _Run(*(fmean(figures) for figures in zip(*few, strict=True)))
    for count, run in ((FEW, one_of_few), (MANY, many)):
        yield Figure(f"one of {count:,} generated jobs", f"{run.seconds * 1e6:.1f} µs")
        yield Figure(f"their load, {count:,} jobs", f"{run.utilisation:.0%}, {run.preemptions:.3f} preemptions a job")
    ratio = many.seconds / one_of_few.seconds
    yield Figure("ratio of the two costs", f"{ratio:.2f}", "at most 1.3", ratio <= 1.3)


def _run(policy: QuotaPolicy, workload: Workload) -> _Run:
    jobs = len(workload.jobs)
    gc.collect()
    start = time.process_time()
    result = simulate(policy, workload)
    seconds = time.process_time() - start
    return _Run(seconds / jobs, result.utilisation, sum(result.preemptions.values()) / jobs)
