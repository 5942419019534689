"""GetJobQueueSnapshot: who is next, and who uses what."""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

from constructs_qm.local.events import milliseconds
from constructs_qm.local.operations import Answer, Request, operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState
    from quota_scheduler import Job

__all__ = ["first_waiting"]

FRONT = 100
"""Jobs at the front of the queue that are shown (API GetJobQueueSnapshot)."""


@operation("GetJobQueueSnapshot")
def _snapshot(state: BatchState, request: Request) -> Answer:
    queue = state.queue(request["jobQueue"])
    updated = {"lastUpdatedAt": milliseconds(state.now)}
    waiting = {name: first_waiting(queue, name, FRONT) for name in queue.shares}
    fronts = {name: [_position(state, jobs[0])] for name, jobs in waiting.items() if jobs}
    in_order = _in_order_of_dispatch(list(waiting.values()))
    return {
        "frontOfQueue": {"jobs": [_position(state, job) for job in in_order], **updated},
        "frontOfQuotaShares": {"quotaShares": fronts, **updated},
        "queueUtilization": {
            "totalCapacityUsage": _usage(queue.environment.limits, queue.scheduler.state.ledger.total),
            "quotaShareUtilization": {"topCapacityUtilization": _share_usage(queue)},
            **updated,
        },
    }


def first_waiting(queue: JobQueue, share: str, count: int) -> list[Job]:
    """Return the first `count` RUNNABLE jobs of a share, in order."""
    state = queue.scheduler.state.shares.get(share)
    if state is None:  # still CREATING
        return []
    lanes = (lane.first(count) for lane in state.lanes.values())
    return heapq.nsmallest(count, (job for jobs in lanes for job in jobs), key=lambda job: job.entry or ())


def _in_order_of_dispatch(shares: list[list[Job]]) -> Iterator[Job]:
    """Iterate over the first jobs of all shares, whose turn among their fronts goes by creation time."""
    turns = [(jobs[0].created, -jobs[0].rank, jobs[0].sequence, index, 0) for index, jobs in enumerate(shares) if jobs]
    heapq.heapify(turns)
    for _ in range(FRONT):
        if not turns:
            return
        _, _, _, index, place = heapq.heappop(turns)
        jobs = shares[index]
        yield jobs[place]
        if place + 1 < len(jobs):
            job = jobs[place + 1]
            heapq.heappush(turns, (job.created, -job.rank, job.sequence, index, place + 1))


def _position(state: BatchState, job: Job) -> Answer:
    return {
        "jobArn": state.jobs[job.id].arn,
        "earliestTimeAtPosition": milliseconds(job.runnable_since),
    }


def _usage(units: Iterable[str], use: Callable[[str], int]) -> list[Answer]:
    return [{"capacityUnit": unit, "quantity": float(use(unit))} for unit in units]


def _share_usage(queue: JobQueue) -> list[Answer]:
    """Return what every share uses, the largest use first."""
    ledger, units = queue.scheduler.state.ledger, queue.environment.limits
    names = sorted(queue.scheduler.state.shares, key=lambda name: -sum(ledger.use(name, unit) for unit in units))
    return [{"quotaShareName": name, "capacityUsage": _usage(units, partial(ledger.use, name))} for name in names]
