"""What would happen if a job were submitted now."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quota_scheduler.exceptions import DocumentError
from quota_scheduler.explain import Explanation, explain, why_victim
from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.recorded_state import job_from_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quota_scheduler.decision import Decision
    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.scheduler import Scheduler

__all__ = ["DryRun", "decision_document", "dry_run", "next_decisions", "parse_submission"]

_KEYS = ("share", "demand", "priority", "job", "preemptionRetries")


@dataclass(frozen=True)
class DryRun:
    """What a submission would lead to at once.

    Attributes
    ----------
    share : str
        Where the job would be submitted.
    job : Explanation
        The job, once everything that follows from its submission has happened.
    pending : list of Decision
        What the queue would do by itself before.
    decisions : list of Decision
        What it would do because of the submission.
    then : dict of str to str
        State each preempted job would have afterwards.
    """

    share: str
    job: Explanation
    pending: list[Decision]
    decisions: list[Decision]
    then: dict[str, str]

    @property
    def text(self) -> str:
        """Everything in one paragraph."""
        opening = f"Submitted to share {self.share} now, {self.job.text}"
        sentences = [opening, *(f"{decision.sentence()}." for decision in self.decisions)]
        sentences += [f"{job} is {state} afterwards." for job, state in self.then.items()]
        if self.pending:
            sentences.append(f"Before that, the queue would carry out {len(self.pending)} decisions of its own.")
        return " ".join(sentences)

    def to_document(self) -> dict[str, Any]:
        """Return it as ``batch-quota explain --submit … --json`` prints it."""
        return {
            **self.job.to_document(),
            "would_preempt": self._victims(),
            "text": self.text,
            "decisions": [decision_document(decision) for decision in self.decisions],
            "pending": [decision_document(decision) for decision in self.pending],
            "then": self.then,
        }

    def _victims(self) -> list[dict[str, str]]:
        return [
            {
                "job": victim.job,
                "share": victim.share,
                "kind": victim.kind.value,
                "why": why_victim(victim.kind, victim.share, victim.over, victim.priority, decision.priority),
            }
            for decision in self.decisions
            if decision.job == self.job.job
            for victim in decision.victims
        ]


def dry_run(scheduler: Scheduler, job: Job, now: float, *, in_place: bool = False) -> DryRun:
    """Return what would happen at once if `job` were submitted now.

    Preemptions it leads to are carried out as if they took no time; those under way go on.

    Parameters
    ----------
    scheduler : Scheduler
        Left as it is, unless `in_place`.
    job : Job
    now : float
        Seconds.
    in_place : bool
        Try it on the scheduler itself, which spares a copy of all jobs.

    Raises
    ------
    JobError
        The job can't be submitted.
    """
    trial = _trial(scheduler, in_place)
    pending = trial.run(now)
    job = copy.deepcopy(job)
    job.created = now
    trial.submit(job, now)
    outcomes = trial.run(now)
    preempted = {o.job.id: o.job.state.value for o in outcomes if o.kind is OutcomeKind.PREEMPTED}
    return DryRun(job.share, explain(trial, job.id, outcomes), _decisions(pending), _decisions(outcomes), preempted)


def next_decisions(scheduler: Scheduler, now: float, *, in_place: bool = False) -> list[Decision]:
    """Return what the queue would do now by itself; the parameters are those of :func:`dry_run`."""
    return _decisions(_trial(scheduler, in_place).run(now))


def parse_submission(text: str) -> Job:
    """Make a job from text such as ``share=B,demand=ml.p4d.24xlarge=4,priority=5``.

    Several units are separated by ``;``; ``job`` names it, and ``preemptionRetries`` may be given.

    Raises
    ------
    DocumentError
    """
    given = dict(part.partition("=")[::2] for part in text.split(",") if part.strip())
    unknown = [key for key in given if key not in _KEYS]
    if unknown or not {"share", "demand"} <= set(given):
        what = f"{unknown[0]!r} is unknown" if unknown else "share and demand are needed"
        raise DocumentError(f"submission {text!r}: {what}: give share=B,demand=ml.p4d.24xlarge=4,priority=5")
    document: dict[str, Any] = {"job": given.pop("job", "new-job"), "share": given.pop("share")}
    pairs = [part.partition("=")[::2] for part in given.pop("demand").split(";")]
    document["demand"] = {unit.strip(): _whole(count, text) for unit, count in pairs}
    return job_from_document({**document, **{key: _whole(value, text) for key, value in given.items()}})


def decision_document(decision: Decision) -> dict[str, Any]:
    """Return a decision as a plain document, with its reason in words."""
    return {
        "rule": decision.rule.value,
        "job": decision.job,
        "share": decision.share,
        "priority": decision.priority,
        "victims": [
            {"job": v.job, "share": v.share, "kind": v.kind.value, "priority": v.priority} for v in decision.victims
        ],
        "reason": decision.sentence(),
    }


def _trial(scheduler: Scheduler, in_place: bool) -> Scheduler:
    trial = scheduler if in_place else copy.deepcopy(scheduler)
    trial.preemption_seconds = 0
    return trial


def _decisions(outcomes: Iterable[Outcome]) -> list[Decision]:
    """Return the decisions behind outcomes, each once and in order."""
    decisions = {id(outcome.decision): outcome.decision for outcome in outcomes if outcome.decision is not None}
    return list(decisions.values())


def _whole(text: str, submission: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DocumentError(f"submission {submission!r}: {text!r} is no whole number") from None
