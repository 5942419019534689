"""How a service job gets from SUBMITTED to its end, and what it tells on the way.

The scheduler decides when a job is dispatched, preempted or blocked; this file carries that over
to what the submitter sees, lets SageMaker's part take its time, and sends the events.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from constructs_qm.local.attempts import Attempt, training_job_name
from constructs_qm.local.events import (
    PREEMPTION_COMPLETED,
    PREEMPTION_STARTED,
    QUEUE_BLOCKED,
    STATE_CHANGE,
    milliseconds,
)
from quota_scheduler import JobState, OutcomeKind, PreemptionKind
from quota_scheduler.blocked import BlockedReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.service_jobs import ServiceJob
    from constructs_qm.local.state import BatchState
    from quota_scheduler import Outcome

__all__ = ["apply", "fail", "finish", "lack_capacity", "make_runnable", "terminate"]

PREFIX = "Received status from SageMaker: "
SUCCEEDED = PREFIX + "Training job completed"
"""As in the guide's example of a state change event."""

PREEMPTED = {
    PreemptionKind.CROSS_SHARE: "Cross-share preemption triggered to reclaim borrowed capacity",
    PreemptionKind.IN_SHARE: "In-share preemption triggered by a job of higher priority",
}
"""The first is the guide's (batch-service-job-preemption-events); for the second AWS publishes no text."""


def make_runnable(state: BatchState, job: ServiceJob) -> None:
    """Hand a SUBMITTED job to the scheduler."""
    if job.status == "SUBMITTED":
        job.queue.scheduler.submit(job.job, state.now, accepted=True)
        _show(state, job, "RUNNABLE")


def apply(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    """Show what the scheduler did with a job."""
    _OUTCOMES[outcome.kind](state, job, outcome)


def finish(state: BatchState, job: ServiceJob) -> None:
    """End a dispatched job as SUCCEEDED; raises JobError where it isn't dispatched."""
    job.queue.scheduler.finish(job.id)
    _end_attempt(state, job, SUCCEEDED)
    _close(state, job, "SUCCEEDED", SUCCEEDED)


def fail(state: BatchState, job: ServiceJob, reason: str) -> None:
    """Let the attempt of a dispatched job fail, as SageMaker would with `reason`; it may be retried."""
    text = PREFIX + reason
    after = job.queue.scheduler.fail(job.id, state.now, text)
    _after_failure(state, job, after, text)


def lack_capacity(state: BatchState, job: ServiceJob) -> None:
    """Put a dispatched job back to RUNNABLE since SageMaker has no capacity for it."""
    retry_at = state.now + state.settings.capacity_retry_seconds
    job.queue.scheduler.lack_capacity(job.id, state.now, retry_at)
    job.attempt = None
    _show(state, job, "RUNNABLE")


def terminate(state: BatchState, job: ServiceJob, reason: str) -> None:
    """End a job at once as FAILED, whatever its state."""
    if job.status != "SUBMITTED":
        job.queue.scheduler.terminate(job.id)
    job.job.state = JobState.FAILED
    job.terminated = True
    _end_attempt(state, job, reason)
    _close(state, job, "FAILED", reason)


# -- what the scheduler did ------------------------------------------------------


def _dispatched(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    name = training_job_name(job.name, state.new_id())
    attempt = Attempt(state.arns.training_job(name), state.now)
    job.attempt = job.latest = attempt
    state.training_jobs[name] = (job, attempt)
    _show(state, job, "SCHEDULED")
    _later(state, job, state.settings.scheduled_seconds, _start)


def _preempting(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    job.status_reason = f"PREEMPTION_IN_PROGRESS: {_why(outcome)}"
    detail = {"statusReason": job.status_reason, "preemptedJobArn": job.arn, "status": job.status}
    state.emit(PREEMPTION_STARTED, [job.arn], detail)


def _preempted(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    attempt, job.attempt = job.attempt, None
    job.preemptions += 1
    if attempt is not None:
        attempt.stopped_at = state.now
        attempt.status_reason = _why(outcome)
        job.preempted.appendleft(attempt)
    if outcome.after is JobState.FAILED:
        _close(state, job, "FAILED", _why(outcome))
    elif state.breaks("QM-A10", job):
        job.queue.scheduler.terminate(job.id)
        _close(state, job, "FAILED", _why(outcome))
    else:
        _show(state, job, "RUNNABLE")
    detail = {
        "preemptedJobArn": job.arn,
        "preemptionSummary": job.preemption_summary(),
        "status": job.status,
    }
    state.emit(PREEMPTION_COMPLETED, [job.arn], detail)


def _blocked(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    job.status_reason = outcome.reason
    if state.breaks("QM-A14", job):
        job.status_reason = next(text for text in _OTHER_REASONS if text != outcome.reason)
    state.emit(QUEUE_BLOCKED, [job.arn], job.details())


def _unblocked(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    job.status_reason = None


def _timed_out(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    _after_failure(state, job, outcome.after, outcome.reason)


def _limit_reached(state: BatchState, job: ServiceJob, outcome: Outcome) -> None:
    job.terminated = True
    _close(state, job, "FAILED", outcome.reason)


_OTHER_REASONS = (BlockedReason.ENVIRONMENT, BlockedReason.LIMIT)

_OUTCOMES: dict[OutcomeKind, Callable[[BatchState, ServiceJob, Outcome], None]] = {
    OutcomeKind.DISPATCHED: _dispatched,
    OutcomeKind.PREEMPTING: _preempting,
    OutcomeKind.PREEMPTED: _preempted,
    OutcomeKind.BLOCKED: _blocked,
    OutcomeKind.UNBLOCKED: _unblocked,
    OutcomeKind.TIMED_OUT: _timed_out,
    OutcomeKind.TERMINATED: _limit_reached,
}


# -- SageMaker's part ------------------------------------------------------------


def _later(state: BatchState, job: ServiceJob, seconds: float, then: Callable[[BatchState, ServiceJob], None]) -> None:
    """Call `then` in some seconds, unless the attempt ended or is being stopped by then."""
    attempt = job.attempt

    def due() -> None:
        if job.attempt is attempt and job.job.stopping is None and not job.seized:
            then(state, job)

    state.timers.at(state.now + seconds, due)


def _start(state: BatchState, job: ServiceJob) -> None:
    if job.capacity_failures < state.script_for(job.name).lacks_capacity:
        job.capacity_failures += 1
        lack_capacity(state, job)
        return
    job.queue.scheduler.progress(job.id, JobState.STARTING, state.now)
    _show(state, job, "STARTING")
    _later(state, job, state.settings.starting_seconds, _run)


def _run(state: BatchState, job: ServiceJob) -> None:
    job.queue.scheduler.progress(job.id, JobState.RUNNING, state.now)
    if job.attempt is not None:
        job.attempt.started_at = state.now
    _show(state, job, "RUNNING")
    script = state.script_for(job.name)
    if script.running_seconds is not None:
        fails = script.fails if script.fails_after(len(job.attempts)) else None
        end = finish if fails is None else partial(fail, reason=fails)
        _later(state, job, script.running_seconds, end)


# -- what all of them share --------------------------------------------------------


def _why(outcome: Outcome) -> str:
    return PREEMPTED[outcome.preemption or PreemptionKind.CROSS_SHARE]


def _show(state: BatchState, job: ServiceJob, status: str) -> None:
    """Let a job be seen in a state that isn't its last."""
    job.status = status
    job.status_reason = None
    state.emit(STATE_CHANGE, [job.arn], job.details())


def _after_failure(state: BatchState, job: ServiceJob, after: JobState, reason: str) -> None:
    _end_attempt(state, job, reason)
    if after is JobState.FAILED:
        _close(state, job, "FAILED", reason)
    else:
        _show(state, job, "RUNNABLE")


def _end_attempt(state: BatchState, job: ServiceJob, reason: str) -> None:
    attempt, job.attempt = job.attempt, None
    if attempt is not None:
        attempt.stopped_at = state.now
        attempt.status_reason = reason
        job.attempts.append(attempt)


def _close(state: BatchState, job: ServiceJob, status: str, reason: str) -> None:
    job.stopped_at = state.now
    job.status = status
    job.status_reason = reason
    state.emit(STATE_CHANGE, [job.arn], job.details())
    if state.breaks("QM-A01", job):
        state.timers.at(state.now + 1, partial(_rise, state, job))


def _rise(state: BatchState, job: ServiceJob) -> None:
    """Say of a job that ended that it runs (QM-A01)."""
    detail = {key: value for key, value in job.details().items() if key not in ("stoppedAt", "statusReason")}
    detail.update(status="RUNNING", startedAt=milliseconds(state.now))
    state.emit(STATE_CHANGE, [job.arn], detail)
