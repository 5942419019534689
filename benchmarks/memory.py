"""Claim: a waiting job takes less than 400 bytes at the peak, beside the id and the demand that were handed in."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from benchmarks.workloads import UNIT
from quota_scheduler import Job, QuotaPolicy, QuotaShare, Scheduler, make_demand

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = 1_000_000


def measure() -> Iterator[Figure]:
    scheduler = Scheduler(QuotaPolicy({UNIT: 1}, (QuotaShare("team", {UNIT: 1}),)))
    ids = [f"job-{number}" for number in range(JOBS)]
    demand = make_demand({UNIT: 1})
    tracemalloc.start()
    for number, name in enumerate(ids):
        scheduler.submit(Job(name, "team", demand, None, float(number)), float(number))
    scheduler.run(float(JOBS))
    peak = tracemalloc.get_traced_memory()[1] / JOBS
    tracemalloc.stop()
    yield Figure(f"peak with {JOBS:,} jobs waiting", f"{peak:.0f} bytes a job", "under 400", peak < 400)
