"""Claim: simulating quota shares costs no more than half of a bare SimPy FIFO, and 8 times a bare loop around a heap.

The two know nothing of shares, priorities, borrowing, preemption or results: they are one queue in
front of one pool of capacity. All three run the same jobs in turns, and each counts with its best time.
"""

from __future__ import annotations

import gc
import heapq
import time
from collections import deque
from typing import TYPE_CHECKING

import simpy

from benchmarks.figure import Figure
from benchmarks.workloads import generated, policy_for, read_trace
from quota_scheduler.simulator import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

ROUNDS = 3
JOBS = 69_351

Row = tuple[float, float, int]


def measure(trace: str | None = None) -> Iterator[Figure]:
    workload = read_trace(trace) if trace else generated(JOBS)
    policy = policy_for(workload)
    capacity = sum(policy.environment.values())
    rows = [(job.submit, job.duration, min(job.demand[0][1], capacity)) for job in workload.jobs]
    ours, with_simpy, with_heap = _best_times(
        lambda: simulate(policy, workload),
        lambda: simpy_fifo(rows, capacity),
        lambda: heap_fifo(rows, capacity),
    )
    for name, seconds in (("quota_scheduler", ours), ("bare SimPy FIFO", with_simpy), ("bare heapq FIFO", with_heap)):
        yield Figure(f"{name}, {len(rows):,} jobs", f"{len(rows) / seconds:,.0f} jobs/s")
    faster = with_simpy / ours
    yield Figure("jobs/s as a multiple of SimPy's", f"{faster:.2f}", "at least 2", faster >= 2)
    slower = ours / with_heap
    yield Figure("times slower than heapq", f"{slower:.1f}", "at most 8", slower <= 8)


def _best_times(*runs: Callable[[], object]) -> list[float]:
    """Return the shortest processor time of each, in seconds; they take turns so that a slow spell hits all."""
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for index, run in enumerate(runs):
            gc.collect()
            start = time.process_time()
            run()
            best[index] = min(best[index], time.process_time() - start)
    return best


def simpy_fifo(rows: list[Row], capacity: int) -> None:
    """Run the jobs with one SimPy process each."""
    environment = simpy.Environment()
    pool = simpy.Container(environment, capacity, capacity)

    def job(submit: float, duration: float, instances: int) -> Generator[simpy.Event, object, None]:
        yield environment.timeout(submit - rows[0][0])
        yield pool.get(instances)
        yield environment.timeout(duration)
        yield pool.put(instances)

    for row in rows:
        environment.process(job(*row))
    environment.run()


def heap_fifo(rows: list[Row], capacity: int) -> None:
    """Run the jobs with a queue and a heap of ends."""
    free, now, submitted = capacity, 0.0, 0
    queue: deque[Row] = deque()
    ends: list[tuple[float, int]] = []
    while submitted < len(rows) or ends:
        if submitted < len(rows) and (not ends or rows[submitted][0] <= ends[0][0]):
            now = rows[submitted][0]
            queue.append(rows[submitted])
            submitted += 1
        else:
            now, instances = heapq.heappop(ends)
            free += instances
        while queue and queue[0][2] <= free:
            _, duration, instances = queue.popleft()
            free -= instances
            heapq.heappush(ends, (now + duration, instances))
