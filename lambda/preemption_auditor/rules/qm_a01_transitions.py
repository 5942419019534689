"""QM-A01: a job takes only the steps of the transition graph."""

from __future__ import annotations

from preemption_auditor.moments import Transition
from preemption_auditor.observations import EventKind, Observation
from preemption_auditor.ordering import rank
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict
from quota_scheduler import JobState

__all__ = ["RULE"]

_WAITING = (JobState.SUBMITTED, JobState.RUNNABLE)


def _judge(step: Transition) -> Verdict:
    state, after = step.state, step.after.status
    if step.after.kind is EventKind.STARTED:
        late = step.at.lo > step.before.at.hi + step.queue.lag
        return _broken(step, "no preemption of a job that has ended") if state.final and late else PASS
    if after is None or after is state:
        return PASS
    if state.final:
        return _broken(step, f"nothing after {state.value}")
    if after is JobState.SUBMITTED and state is not JobState.SUBMITTED:
        return _broken(step, f"no way back from {state.value} to {after.value}")
    backwards = state.holds and after.holds and rank(step.after)[2] < rank(step.before)[2]
    if backwards and _same_attempt(step):
        return _broken(step, f"{state.value} to {after.value} only by way of RUNNABLE")
    return PASS


def _same_attempt(step: Transition) -> bool:
    """Whether both events speak of one attempt, or a whole recording shows nothing of another."""
    one, other = step.before, step.after
    if one.resource is not None and other.resource is not None:
        return one.resource == other.resource
    return step.queue.complete and _counts(one) == _counts(other)


def _counts(observation: Observation) -> tuple[int, int, int | None]:
    return max(observation.attempt[0], 0), max(observation.attempt[1], 0), observation.dispatched


def _broken(step: Transition, expected: str) -> Verdict:
    after = step.after.status.value if step.after.status is not None else "an unknown state"
    seen = f"{step.job.id} was {step.state.value} and then {after}"
    if step.after.kind is EventKind.STARTED:
        seen = f"{step.job.id} was {step.state.value} when its preemption started"
    return Verdict(
        Answer.VIOLATION,
        expected=expected,
        seen=seen,
        shares=(step.job.share,) if step.job.share else (),
        jobs=(step.job.id,),
        events=(step.before.event, step.after.event),
    )


RULE = Rule(
    id="QM-A01",
    kind=Kind.VIOLATION,
    judges=Transition,
    proves="a job took a step outside SUBMITTED, RUNNABLE, SCHEDULED, STARTING, RUNNING, SUCCEEDED or FAILED in "
    "this order, back to RUNNABLE while it held, or to FAILED before its end; or anything followed its end",
    evidence="two events of the job; skipped states are gaps, and equal seconds are read in every order",
    source="service-job-status",
    judge=_judge,
)
