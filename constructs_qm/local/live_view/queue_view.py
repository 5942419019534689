"""A queue as the live view shows it: shares, running jobs, and the fronts with why they wait."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any

from constructs_qm.local.snapshot import first_waiting
from quota_scheduler.explain import explain

if TYPE_CHECKING:
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.quota_shares import Share
    from constructs_qm.local.service_jobs import ServiceJob
    from constructs_qm.local.state import BatchState
    from quota_scheduler import Job
    from quota_scheduler.ledger import Standing

__all__ = ["show_queue"]

_FRONT = 5
"""Waiting jobs shown of each share."""

_RUNNING = 50
"""Jobs that hold capacity shown of a queue, the latest dispatched first."""

_SUBMITTED = 5
"""Jobs shown that the scheduler hasn't taken yet, the latest first."""


def show_queue(state: BatchState, queue: JobQueue) -> dict[str, Any]:
    """Return a queue as a document; instances are whole numbers, times seconds since 1970."""
    running = [job for share in queue.scheduler.state.shares.values() for job in share.holding]
    latest = heapq.nlargest(_RUNNING, running, key=lambda job: job.dispatch_order)
    submitted = [job for job in state.jobs.values() if job.queue is queue and job.status == "SUBMITTED"]
    return {
        "arn": queue.arn,
        "name": queue.name,
        "state": queue.state,
        "status": queue.status,
        "environment": queue.environment.name,
        "paused": queue.scheduler.paused,
        "units": [_show_unit(queue, unit, capacity) for unit, capacity in queue.environment.limits.items()],
        "shares": [_show_share(state, queue, share) for share in queue.shares.values()],
        "running": [_show_job(state.jobs[job.id]) for job in latest],
        "runningCount": len(running),
        "submitted": [_show_job(job) for job in submitted[: -_SUBMITTED - 1 : -1]],
        "submittedCount": len(submitted),
    }


def _show_unit(queue: JobQueue, unit: str, capacity: int) -> dict[str, Any]:
    ledger = queue.scheduler.state.ledger
    return {
        "unit": unit,
        "capacity": capacity,
        "use": ledger.total(unit),
        "borrowed": ledger.borrowed(unit),
        "lendable": ledger.lendable(unit),
    }


def _show_share(state: BatchState, queue: JobQueue, share: Share) -> dict[str, Any]:
    value, scheduler = share.value, queue.scheduler
    known = scheduler.state.shares.get(value.name)  # not while it is CREATING
    lanes = [] if known is None else known.lanes.values()
    front = first_waiting(queue, value.name, _FRONT)
    return {
        "name": value.name,
        "state": share.state,
        "status": share.status,
        "strategy": value.sharing.strategy.value,
        "borrowLimit": value.sharing.borrow_limit,
        "inSharePreemption": value.in_share_preemption,
        "limits": dict(value.limits),
        "standings": [] if known is None else [_show(line) for line in scheduler.state.ledger.standings(value.name)],
        "waitingCount": sum(len(lane) for lane in lanes),
        "front": [_show_job(state.jobs[job.id]) for job in front],
        "why": _why(queue, front[0]) if front else [],
    }


def _show(standing: Standing) -> dict[str, Any]:
    document = standing._asdict()
    return {**document, "ceiling": None} if math.isinf(standing.ceiling) else document


def _why(queue: JobQueue, front: Job) -> list[str]:
    return [f"{cause.text}." for cause in explain(queue.scheduler, front.id).because]


def _show_job(record: ServiceJob) -> dict[str, Any]:
    job = record.job
    since = job.dispatched_at if record.attempt is not None else job.runnable_since or job.created
    return {
        "id": record.id,
        "name": record.name,
        "share": job.share,
        "priority": job.rank,
        "demand": dict(job.demand),
        "status": record.status,
        "reason": record.status_reason,
        "stopping": None if job.stopping is None else job.stopping.value,
        "since": since,
        "created": job.created,
        "preemptions": record.preemptions,
    }
