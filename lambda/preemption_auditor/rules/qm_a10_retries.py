"""QM-A10: a preempted job waits again while it has retries left, and fails when it has none."""

from __future__ import annotations

from preemption_auditor.moments import Requeue
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict, unknown
from quota_scheduler import JobState

__all__ = ["RULE"]


def _judge(step: Requeue) -> Verdict:
    job, count = step.job, step.count
    if job.described_as is None:
        return unknown(f"no event tells the preemption retries of {job.id}", jobs=(job.id,))
    if job.retries is not None and count is None:
        return unknown(f"no event counts the preemptions of {job.id}", jobs=(job.id,))
    used_up = job.retries is not None and count is not None and count > job.retries
    expected = JobState.FAILED if used_up else JobState.RUNNABLE
    if step.became is None:
        return unknown(f"no event shows what became of {job.id}", jobs=(job.id,))
    if used_up:
        return PASS if step.became is JobState.FAILED else _broken(step, expected)
    failed = step.became.final and not (step.became is JobState.FAILED and job.terminated)
    if failed and not step.queue.complete and job.described_as is not step.became:
        return unknown(f"no event shows whether the termination of {job.id} was asked for", jobs=(job.id,))
    return _broken(step, expected) if failed else PASS


def _broken(step: Requeue, expected: JobState) -> Verdict:
    job = step.job
    retries = "without limit" if job.retries is None else f"of {job.retries}"
    became = step.became.value if step.became is not None else ""
    return Verdict(
        Answer.VIOLATION,
        expected=f"{expected.value} after preemption {step.count or 'unknown'}, retries {retries}",
        seen=f"{job.id} became {became}",
        shares=(job.share,) if job.share else (),
        jobs=(job.id,),
        events=(job.described_by, step.completed.event),
    )


RULE = Rule(
    id="QM-A10",
    kind=Kind.VIOLATION,
    judges=Requeue,
    proves="a preempted job failed although it had preemption retries left, or went on although it had none",
    evidence="the job's preemptionRetriesBeforeTermination, the count of its preemptions, and its state after this "
    "one; a termination that was asked for excuses a failure",
    source="preemption (preemption retries), API ServiceJobPreemptionConfiguration",
    judge=_judge,
)
