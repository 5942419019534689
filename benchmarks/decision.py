"""Claim: with a million jobs waiting in 20 shares, 99 of 100 decisions take less than 200 µs.

A decision here is all that one job's end leads to: the end itself, every pass, dispatch and
preemption that follow, and their reasons with figures. Preemptions take 20 s and a job ends every
second, so that there are always some under way.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from benchmarks.workloads import UNIT
from quota_scheduler import Job, QuotaPolicy, QuotaShare, ResourceSharing, Scheduler, make_demand

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARES, LIMIT = 20, 50
WAITING, ENDS = 1_000_000, 20_000


def measure() -> Iterator[Figure]:
    draw = random.Random(1)
    scheduler = _full_queue(draw)
    holding = [job for job in scheduler.jobs.values() if job.state.holds]
    times = []
    for step in range(ENDS):
        job = holding.pop(draw.randrange(len(holding)))
        if not job.state.holds:  # preempted meanwhile
            continue
        now = float(WAITING + step)
        start = time.process_time()
        scheduler.finish(job.id)
        outcomes = scheduler.run(now)
        times.append(time.process_time() - start)
        holding += [outcome.job for outcome in outcomes if outcome.kind.value == "dispatched"]
    times.sort()
    p99 = times[len(times) * 99 // 100] * 1e6
    yield Figure("median decision", f"{statistics.median(times) * 1e6:.0f} µs")
    yield Figure(f"99th percentile, {len(scheduler.jobs):,} jobs waiting", f"{p99:.0f} µs", "under 200 µs", p99 < 200)


def _full_queue(draw: random.Random) -> Scheduler:
    shares = tuple(
        QuotaShare(
            f"team{index:02}",
            {UNIT: LIMIT},
            ResourceSharing.lend_and_borrow() if index % 2 else ResourceSharing.lend(),
            in_share_preemption=True,
        )
        for index in range(SHARES)
    )
    scheduler = Scheduler(QuotaPolicy({UNIT: SHARES * LIMIT}, shares), preemption_seconds=20)
    demands = [make_demand({UNIT: count}) for count in (1, 1, 1, 2, 4, 8)]
    for number in range(WAITING):
        share = f"team{draw.randrange(SHARES):02}"
        job = Job(f"job-{number}", share, draw.choice(demands), draw.randrange(10), float(number))
        scheduler.submit(job, float(number))
        if number % 100 == 0:
            scheduler.run(float(number))
    scheduler.run(float(WAITING))
    return scheduler
