"""Known-answer cases: a policy, timed steps, and what must be seen after them (contract.md section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quota_scheduler.demand import make_demand
from quota_scheduler.exceptions import DocumentError, JobError, QuotaSchedulerError
from quota_scheduler.job import Job
from quota_scheduler.job_state import JobState
from quota_scheduler.outcome import Outcome, OutcomeKind
from quota_scheduler.policy_document import load_policy, require_mapping
from quota_scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from quota_scheduler.policy import QuotaPolicy

__all__ = ["Case", "CaseRun", "Observation", "load_case", "replay"]

_STEP_KEYS = {
    "submit": {"job", "share", "demand"},
    "submit-all": {"jobs"},
    "running": {"job", "share", "demand"},
    "finish": {"job"},
    "fail": {"job"},
    "terminate": {"job"},
    "set-priority": {"job", "priority"},
    "set-limits": {"share", "limits"},
    "set-share-state": {"share", "state"},
    "set-policy": {"policy"},
    "advance": {"seconds"},
}
_EXPECTABLE = ("holding", "waiting", "preempted", "failed", "blocked")


@dataclass(frozen=True)
class Case:
    """A scenario with its known answers.

    Attributes
    ----------
    id, source : str
        Name, and where the answers come from.
    policy : QuotaPolicy
    preemption_seconds : float
        How long stopping a job takes.
    steps : tuple of mapping
        As in the document, each checked to have a known form.
    """

    id: str
    source: str
    policy: QuotaPolicy
    preemption_seconds: float
    steps: tuple[Mapping[str, Any], ...]


@dataclass
class Observation:
    """What an ``expect`` step saw; job ids in ascending order."""

    holding: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    preempted: list[dict[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CaseRun:
    """Outcome of a replay.

    Attributes
    ----------
    id : str
    observed : list of Observation
        One for each ``expect``.
    differs : list of str
        Each mismatch in one sentence; empty where every answer is as known.
    outcomes : list of Outcome
        Everything that happened, in order.
    scheduler : Scheduler
        As it stands after the last step.
    now : float
        When that was, in seconds.
    """

    id: str
    observed: list[Observation]
    differs: list[str]
    outcomes: list[Outcome]
    scheduler: Scheduler
    now: float

    @property
    def ok(self) -> bool:
        """Whether every answer is as known."""
        return not self.differs

    def to_document(self) -> dict[str, Any]:
        """Return the run as ``batch-quota replay --json`` prints it."""
        observed = [vars(observation) for observation in self.observed]
        return {"id": self.id, "ok": self.ok, "observed": observed, "differs": self.differs}


def load_case(document: object) -> Case:
    """Make a case from a document.

    Raises
    ------
    DocumentError
        The document or one of its steps has the wrong form.
    PolicyError
        Its policy breaks a rule of level ``error``.
    """
    case = require_mapping(document, "case")
    steps = case.get("steps")
    if isinstance(steps, str) or not isinstance(steps, Sequence):
        raise DocumentError("case has no list of steps: give steps with 'do' or 'expect'")
    seconds = _number(case.get("preemptionSeconds", 0), "preemptionSeconds")
    for index, step in enumerate(steps):
        _check_step(step, f"steps[{index}]")
    return Case(
        id=str(case.get("id", "unnamed")),
        source=str(case.get("source", "")),
        policy=load_policy(case),
        preemption_seconds=seconds,
        steps=tuple(steps),
    )


def replay(case: Case) -> CaseRun:
    """Run a case through the reference scheduler.

    Raises
    ------
    DocumentError
        A step can't be carried out, for instance since it names an unknown job.
    """
    run = _Replay(case)
    for index, step in enumerate(case.steps):
        try:
            run.take_step(index, step)
        except QuotaSchedulerError as error:
            raise DocumentError(f"case {case.id}, steps[{index}]: {error}") from None
    return CaseRun(case.id, run.observed, run.differs, run.outcomes, run.scheduler, run.now)


class _Replay:
    def __init__(self, case: Case) -> None:
        self.scheduler = Scheduler(case.policy, preemption_seconds=case.preemption_seconds)
        self.observed: list[Observation] = []
        self.differs: list[str] = []
        self.outcomes: list[Outcome] = []
        self.now = 0.0
        self._since = Observation()

    def take_step(self, index: int, step: Mapping[str, Any]) -> None:
        if "expect" in step:
            self._expect(index, step["expect"])
            return
        self._do(step)
        outcomes = self.scheduler.run(self.now)
        self.outcomes += outcomes
        for outcome in outcomes:
            if outcome.kind is OutcomeKind.PREEMPTED and outcome.preemption is not None:
                self._since.preempted.append({"job": outcome.job.id, "kind": outcome.preemption.value})
            if outcome.after is JobState.FAILED:
                self._since.failed.append(outcome.job.id)

    def _do(self, step: Mapping[str, Any]) -> None:
        scheduler, action = self.scheduler, step["do"]
        if action == "submit":
            scheduler.submit(self._job(step), self.now)
        elif action == "submit-all":
            for job in step["jobs"]:
                scheduler.submit(self._job(job), self.now)
        elif action == "running":
            scheduler.place(self._job(step), _number(step.get("startedAt", self.now), "startedAt"))
        elif action == "finish":
            scheduler.finish(step["job"])
        elif action == "fail":
            if scheduler.fail(step["job"], self.now) is JobState.FAILED:
                self._since.failed.append(step["job"])
        elif action == "terminate":
            scheduler.terminate(step["job"])
            self._since.failed.append(step["job"])
        elif action == "set-priority":
            scheduler.set_priority(step["job"], step["priority"])
        elif action == "set-limits":
            scheduler.set_limits(step["share"], step["limits"])
        elif action == "set-share-state":
            scheduler.set_enabled(step["share"], step["state"] == "ENABLED")
        elif action == "set-policy":
            before = list(scheduler.jobs)
            scheduler.set_policy(load_policy(step["policy"]))
            self._since.failed += [job for job in before if job not in scheduler.jobs]
        else:
            self.now += _number(step["seconds"], "seconds")

    def _job(self, step: Mapping[str, Any]) -> Job:
        retries = step.get("preemptionRetries")
        if retries is not None and (not isinstance(retries, int) or isinstance(retries, bool) or retries < 0):
            raise JobError(f"preemptionRetries {retries!r} is not allowed: use a whole number of 0 or more")
        return Job(
            id=step["job"],
            share=step["share"],
            demand=make_demand(step["demand"]),
            priority=step.get("priority"),
            created=self.now,
            preemption_retries=retries,
        )

    def _expect(self, index: int, expected: Mapping[str, Any]) -> None:
        seen, self._since = self._since, Observation()
        jobs = self.scheduler.jobs.values()
        seen.holding = sorted(job.id for job in jobs if job.state.holds and job.stopping is None)
        seen.waiting = sorted(job.id for job in jobs if job.state is JobState.RUNNABLE)
        seen.preempted.sort(key=lambda entry: (entry["job"], entry["kind"]))
        seen.failed.sort()
        seen.blocked = {job.id: job.blocked for job in jobs if job.blocked is not None}
        self.observed.append(seen)
        for key, value in expected.items():
            wanted, got = _comparable(value), getattr(seen, key)
            if wanted != got:
                self.differs.append(f"steps[{index}]: {key} should be {wanted}, is {got}")


def _comparable(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return sorted(value, key=lambda entry: (entry["job"], entry["kind"]) if isinstance(entry, dict) else entry)


def _check_step(step: object, where: str) -> None:
    step = require_mapping(step, where)
    if "expect" in step:
        expected = require_mapping(step["expect"], f"{where}.expect")
        for key in expected:
            if key not in _EXPECTABLE:
                raise DocumentError(f"{where}.expect has unknown key {key!r}: use {', '.join(_EXPECTABLE)}")
        return
    action = step.get("do")
    if action not in _STEP_KEYS:
        raise DocumentError(f"{where}.do is {action!r}: use one of {', '.join(_STEP_KEYS)}, or give 'expect'")
    _require_keys(step, _STEP_KEYS[action], where)
    if action == "submit-all":
        for index, job in enumerate(step["jobs"]):
            _require_keys(
                require_mapping(job, f"{where}.jobs[{index}]"), _STEP_KEYS["submit"], f"{where}.jobs[{index}]"
            )
    if action == "set-share-state" and step["state"] not in ("ENABLED", "DISABLED"):
        raise DocumentError(f"{where}.state is {step['state']!r}: use ENABLED or DISABLED")


def _require_keys(step: Mapping[str, Any], keys: set[str], where: str) -> None:
    missing = sorted(keys - set(step))
    if missing:
        raise DocumentError(f"{where} has no {missing[0]!r}: give {', '.join(sorted(keys))}")


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise DocumentError(f"{what} is {value!r}: use a number of seconds")
    return value
