"""What a test may do to jobs, which AWS Batch has no operation for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs_qm.local import job_life
from constructs_qm.local.errors import ClientException

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.operations import Request
    from constructs_qm.local.service_jobs import ServiceJob
    from constructs_qm.local.state import BatchState

__all__ = ["CONTROLS", "DEFAULT_FAILURE", "find_by_any_name"]


DEFAULT_FAILURE = "AlgorithmError: exit code 1"


def find_by_any_name(state: BatchState, name: str) -> ServiceJob | None:
    """Return the job with this id or ARN, or else the latest one with this name; None where there is none."""
    job = state.jobs.get(name.rpartition("/")[2])
    if job is not None:
        return job
    return next((job for job in reversed(state.jobs.values()) if job.name == name), None)


def _finish(state: BatchState, job: ServiceJob, request: Request) -> None:
    job_life.finish(state, job)


def _fail(state: BatchState, job: ServiceJob, request: Request) -> None:
    reason = request.get("reason", DEFAULT_FAILURE)
    if not isinstance(reason, str):
        raise ClientException(f"reason {reason!r} is not allowed: use a string")
    job_life.fail(state, job, reason)


def _lack_capacity(state: BatchState, job: ServiceJob, request: Request) -> None:
    job_life.lack_capacity(state, job)


CONTROLS: dict[str, Callable[[BatchState, ServiceJob, Request], None]] = {
    "finish": _finish,
    "fail": _fail,
    "lack-capacity": _lack_capacity,
}
"""Name to what it does to a job."""
