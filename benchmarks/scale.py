"""Claim: a job of a million costs at most 1.3 times one of ten thousand, under the same policy."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from benchmarks.workloads import generated, policy_for
from quota_scheduler.simulator import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler import QuotaPolicy
    from quota_scheduler.workload import Workload

FEW, MANY = 10_000, 1_000_000


def measure() -> Iterator[Figure]:
    workload = generated(MANY)
    policy = policy_for(workload)
    many = _seconds_a_job(policy, workload)
    del workload
    few = min(_seconds_a_job(policy, generated(FEW, seed=seed)) for seed in range(1, 6))
    yield Figure(f"one of {FEW:,} generated jobs", f"{few * 1e6:.1f} µs")
    yield Figure(f"one of {MANY:,} generated jobs", f"{many * 1e6:.1f} µs")
    yield Figure("their ratio", f"{many / few:.2f}", "at most 1.3", many / few <= 1.3)


def _seconds_a_job(policy: QuotaPolicy, workload: Workload) -> float:
    gc.collect()
    start = time.process_time()
    simulate(policy, workload)
    return (time.process_time() - start) / len(workload.jobs)
