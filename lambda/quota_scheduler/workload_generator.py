"""Seeded workloads: arrivals, sizes, durations and priorities of each share, drawn from a description."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from quota_scheduler.demand import make_demand
from quota_scheduler.exceptions import DocumentError
from quota_scheduler.policy_document import require_mapping
from quota_scheduler.value_rules import MAX_PRIORITY, is_whole
from quota_scheduler.workload import RowReport, Workload, WorkloadJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ShareLoad", "generate", "load_share_loads"]

ARRIVALS = ("poisson", "regular", "bursts")
_BURST = 10


@dataclass(frozen=True)
class ShareLoad:
    """What one share is asked to run.

    Parameters
    ----------
    share : str
        Its name.
    unit : str
        Capacity unit of its jobs.
    interarrival_s : float
        Mean time between two submissions, in seconds.
    arrivals : str
        ``poisson``, ``regular``, or ``bursts`` of ten at once.
    instances : mapping of int to float
        Weight of each number of instances a job needs.
    median_s, spread : float
        Median of the log-normal durations in seconds, and the standard deviation of their logarithm.
    priorities : mapping of int to float
        Weight of each priority.
    """

    share: str
    unit: str
    interarrival_s: float
    arrivals: str = "poisson"
    instances: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    median_s: float = 3600.0
    spread: float = 1.0
    priorities: Mapping[int, float] = field(default_factory=lambda: {0: 1.0})


def generate(loads: list[ShareLoad], jobs: int, seed: int) -> Workload:
    """Draw a workload; the same arguments give the same jobs on every machine.

    Parameters
    ----------
    loads : list of ShareLoad
    jobs : int
        How many in all.
    seed : int
    """
    streams = [_stream(load, random.Random(f"{seed}:{load.share}")) for load in loads]
    merged = heapq.merge(*streams, key=lambda job: job.submit)
    return Workload.of(islice(merged, jobs), RowReport(read=jobs))


def load_share_loads(document: object, unit: str | None) -> tuple[list[ShareLoad], int]:
    """Make the arguments of :func:`generate` from a document.

    Parameters
    ----------
    document : object
        ``{"jobs": n, "shares": [{"share", "interarrival_s", ...}]}`` with the fields of
        :class:`ShareLoad`.
    unit : str, optional
        Capacity unit of the loads that name none; without it, each has to.

    Raises
    ------
    DocumentError
    """
    mapping = require_mapping(document, "workload")
    jobs, shares = mapping.get("jobs"), mapping.get("shares")
    if not is_whole(jobs) or jobs < 1:
        raise DocumentError(f"workload.jobs is {jobs!r}: use a whole number of at least 1")
    if not isinstance(shares, list) or not shares:
        raise DocumentError("workload.shares: give a list with at least one share")
    return [_load(share, f"workload.shares[{i}]", unit) for i, share in enumerate(shares)], jobs


def _load(document: object, where: str, unit: str | None) -> ShareLoad:
    given = {"unit": unit, **require_mapping(document, where)}
    unknown = sorted(set(given) - set(ShareLoad.__dataclass_fields__))
    if unknown:
        allowed = ", ".join(ShareLoad.__dataclass_fields__)
        raise DocumentError(f"{where} has unknown key {unknown[0]!r}: use {allowed}")
    for key in ("share", "interarrival_s", "unit"):
        if given.get(key) is None:
            raise DocumentError(f"{where} has no {key!r}: give share, interarrival_s and, of several units, unit")
    for key, least in (("interarrival_s", 1e-9), ("median_s", 1e-9), ("spread", 0.0)):
        if key in given:
            _require_number(given[key], least, f"{where}.{key}")
    if given.get("arrivals", "poisson") not in ARRIVALS:
        raise DocumentError(f"{where}.arrivals is {given['arrivals']!r}: use one of {', '.join(ARRIVALS)}")
    for key, least, most in (("instances", 1, 10**6), ("priorities", 0, MAX_PRIORITY)):
        if key in given:
            given[key] = _weights(given[key], least, most, f"{where}.{key}")
    return ShareLoad(**given)


def _require_number(value: Any, least: float, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < math.inf:
        raise DocumentError(f"{what} is {value!r}: use a number of at least {least:g}")


def _weights(document: object, least: int, most: int, where: str) -> dict[int, float]:
    """Read weights; a file's keys are text where it is JSON."""
    if not isinstance(document, dict) or not document:
        raise DocumentError(f"{where}: give an object of number to weight")
    weights = {}
    for key, weight in document.items():
        if not str(key).isdecimal() or not least <= int(key) <= most:
            raise DocumentError(f"{where} has key {key!r}: use whole numbers from {least} to {most}")
        _require_number(weight, 0, f"{where}.{key}")
        weights[int(key)] = float(weight)
    if not any(weights.values()):
        raise DocumentError(f"{where}: give at least one weight above 0")
    return weights


def _stream(load: ShareLoad, draw: random.Random) -> Iterator[WorkloadJob]:
    sizes, size_weights = list(load.instances), list(load.instances.values())
    priorities, priority_weights = list(load.priorities), list(load.priorities.values())
    demands = {size: make_demand({load.unit: size}) for size in sizes}
    log_median = math.log(load.median_s)
    for index, time in enumerate(_arrival_times(load, draw), start=1):
        size = draw.choices(sizes, size_weights)[0]
        priority = draw.choices(priorities, priority_weights)[0]
        duration = draw.lognormvariate(log_median, load.spread)
        yield WorkloadJob(f"{load.share}-{index}", load.share, time, duration, demands[size], priority)


def _arrival_times(load: ShareLoad, draw: random.Random) -> Iterator[float]:
    time = 0.0
    while True:
        if load.arrivals == "regular":
            time += load.interarrival_s
            yield time
        elif load.arrivals == "poisson":
            time += draw.expovariate(1 / load.interarrival_s)
            yield time
        else:
            time += draw.expovariate(1 / (load.interarrival_s * _BURST))
            yield from [time] * _BURST
