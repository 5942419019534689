"""Workloads that benchmarks share, and policies for them."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing
from quota_scheduler.traces import TraceReading, read_csv
from quota_scheduler.workload_generator import ShareLoad, generate

if TYPE_CHECKING:
    from quota_scheduler.workload import Workload

__all__ = ["UNIT", "generated", "policy_for", "read_trace"]

UNIT = "ml.p4d.24xlarge"
_INSTANCES = {1: 0.86, 2: 0.03, 4: 0.05, 8: 0.05, 16: 0.01}


def read_trace(path: str) -> Workload:
    """Read a trace; its teams are the shares."""
    data = Path(path).read_bytes()
    lines = (gzip.decompress(data) if path.endswith(".gz") else data).decode().splitlines()
    team = lines[0].split(",").index("team")
    return read_csv(lines, TraceReading(UNIT, frozenset(line.split(",")[team] for line in lines[1:])))


def generated(jobs: int, shares: int = 10, seed: int = 1, spread: float = 2.0) -> Workload:
    """Draw a workload of the trace's shape: bursts, mostly small jobs, durations over several decades."""
    loads = [
        ShareLoad(
            f"team{index:02}",
            UNIT,
            interarrival_s=60.0 * (1 + index),
            arrivals="bursts",
            instances=_INSTANCES,
            median_s=1500.0,
            spread=spread,
        )
        for index in range(shares)
    ]
    return generate(loads, jobs, seed)


def policy_for(workload: Workload, headroom: float = 1.0, least: int = 1) -> QuotaPolicy:
    """Give each team its mean use times `headroom`, rounded up; every second one borrows, all preempt in-share.

    No team has less than `least` instances.
    """
    use: Counter[str] = Counter()
    for job in workload.jobs:
        use[job.share] += math.ceil(job.duration * sum(count for _, count in job.demand))
    span = workload.jobs[-1].submit - workload.jobs[0].submit
    limits = {team: max(least, math.ceil(headroom * total / span)) for team, total in sorted(use.items())}
    shares = (
        QuotaShare(
            team,
            {UNIT: limit},
            ResourceSharing.lend() if index % 2 else ResourceSharing.lend_and_borrow(),
            in_share_preemption=True,
        )
        for index, (team, limit) in enumerate(limits.items())
    )
    return QuotaPolicy({UNIT: sum(limits.values())}, tuple(shares))
