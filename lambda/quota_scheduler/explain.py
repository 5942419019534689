"""Why a job waits, whom it would preempt, and who preempted it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quota_scheduler.exceptions import JobError
from quota_scheduler.job import JobState, PreemptionKind
from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.scheduling_pass import action_for_front

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Decision, Outcome
    from quota_scheduler.queue_state import QueueState
    from quota_scheduler.scheduler import Scheduler

__all__ = ["Cause", "Explanation", "explain", "what_if"]


@dataclass(frozen=True)
class Cause:
    """One thing a waiting job lacks.

    Attributes
    ----------
    rule : str
        ``blocked``, ``head-of-line``, ``stopping``, or the clause of contract.md section 3 that can't serve it.
    unit : str
        Capacity unit that is short; empty where it isn't about a unit.
    short : int
        Instances that must become free.
    held_by : tuple of str
        Ids of the jobs that hold what is short, or that stand before it.
    text : str
        The same in words.
    """

    rule: str
    unit: str
    short: int
    held_by: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Explanation:
    """What can be said of a job.

    Attributes
    ----------
    job, state : str
    because : list of Cause
        Why it waits; empty for a job that doesn't.
    would_preempt : list of dict
        Victims its next pass would stop, with ``job``, ``share`` and ``kind``.
    preempted_by : list of dict
        Preemptions it suffered, with ``job`` (the beneficiary), ``kind``, ``at`` and ``owed``: whether
        the rule the decision names held at that moment.
    """

    job: str
    state: str
    because: list[Cause] = field(default_factory=list)
    would_preempt: list[dict[str, str]] = field(default_factory=list)
    preempted_by: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything in one paragraph."""
        sentences = [f"{self.job} is {self.state}."]
        sentences += [f"{cause.text}." for cause in self.because]
        if self.would_preempt:
            victims = ", ".join(f"{v['job']} of {v['share']} ({v['kind']})" for v in self.would_preempt)
            sentences.append(f"The next pass would stop {victims} for it.")
        sentences += [f"{entry['text']}." for entry in self.preempted_by]
        return " ".join(sentences)

    def to_document(self) -> dict[str, Any]:
        """Return it as ``batch-quota explain --json`` prints it."""
        because = [{key: value for key, value in vars(cause).items() if key != "text"} for cause in self.because]
        return {
            "job": self.job,
            "state": self.state,
            "because": [{**cause, "held_by": list(cause["held_by"])} for cause in because],
            "would_preempt": self.would_preempt,
            "preempted_by": self.preempted_by,
            "text": self.text,
        }


def explain(scheduler: Scheduler, job_id: str, outcomes: Iterable[Outcome] = ()) -> Explanation:
    """Explain a job.

    Parameters
    ----------
    scheduler : Scheduler
        As it stands; it isn't changed.
    job_id : str
    outcomes : iterable of Outcome
        What happened so far, from which past preemptions are read.

    Raises
    ------
    JobError
        The job is neither in the queue nor among the outcomes.
    """
    history = [outcome for outcome in outcomes if outcome.job.id == job_id]
    job = scheduler.jobs.get(job_id) or (history[-1].job if history else None)
    if job is None:
        raise JobError(f"job {job_id!r} is unknown: name one that was submitted")
    preempted_by = [
        _preemption(outcome, outcome.decision)
        for outcome in history
        if outcome.kind is OutcomeKind.PREEMPTING and outcome.decision is not None
    ]
    if job.state is not JobState.RUNNABLE:
        return Explanation(job.id, job.state.value, preempted_by=preempted_by)
    because, would_preempt = _why_waiting(scheduler.state, job)
    return Explanation(job.id, job.state.value, because, would_preempt, preempted_by)


def what_if(scheduler: Scheduler, jobs: Sequence[Job], now: float) -> list[Outcome]:
    """Return what would happen at once if `jobs` were submitted now; nothing is changed.

    Preemptions are carried out as if they took no time.

    Parameters
    ----------
    scheduler : Scheduler
    jobs : sequence of Job
    now : float
        Seconds.
    """
    trial = copy.deepcopy(scheduler)
    trial.preemption_seconds = 0
    trial.run(now)
    for job in jobs:
        trial.submit(copy.deepcopy(job), now)
    return trial.run(now)


def _why_waiting(state: QueueState, job: Job) -> tuple[list[Cause], list[dict[str, str]]]:
    if job.blocked is not None:
        return [Cause("blocked", "", 0, (), f"It can't run: {job.blocked.rstrip('.')}")], []
    lane = state.lane_of(job)
    front = lane.front
    if front is not None and front is not job:
        text = f"It stands behind {front.id} (priority {front.rank}), the front job of share {job.share}"
        return [Cause("head-of-line", "", 0, (front.id,), text)], []
    action = action_for_front(state, job, lane)
    if action is not None:
        victims = [{"job": v.id, "share": v.share, "kind": kind.value} for v, kind in action.victims]
        return ([] if victims else [Cause(action.rule.value, "", 0, (), "The next pass dispatches it")]), victims
    stopping = tuple(holder.id for holder in state.stopping if holder in lane.claim)
    if stopping:
        text = f"It waits for {', '.join(stopping)} to stop, which are being preempted for its share"
        return [Cause("stopping", "", 0, stopping, text)], []
    return [*_beyond_limit(state, job), *_not_free(state, job), *_in_share(state, job)], []


def _beyond_limit(state: QueueState, job: Job) -> list[Cause]:
    """Tell why own quota doesn't serve it, and whether borrowing may."""
    causes = []
    share = state.shares[job.share].share
    for unit, count in job.demand:
        use, limit = state.ledger.use(job.share, unit), share.limits.get(unit, 0)
        if use + count <= limit:
            continue
        held_by = _holders(state, unit, job.share)
        text = f"Share {job.share} uses {use} of its limit of {limit} {unit}, and it needs {count}"
        causes.append(Cause("own-quota", unit, use + count - limit, held_by, text))
        if not share.sharing.borrows:
            text = f"Share {job.share} doesn't borrow ({share.sharing.strategy.value})"
            causes.append(Cause("borrow", unit, use + count - limit, held_by, text))
        elif use + count > limit + share.borrowable(unit):
            most = limit + int(share.borrowable(unit))
            text = f"Its borrow limit allows share {job.share} at most {most} {unit}"
            causes.append(Cause("borrow", unit, use + count - most, held_by, text))
    return causes


def _not_free(state: QueueState, job: Job) -> list[Cause]:
    """Tell what is missing of idle capacity that it may use."""
    entitled = state.ledger.within_limit(job.share, job.demand)
    causes = []
    for unit, short in state.ledger.shortage(job.share, job.demand).items():
        if not entitled and not state.shares[job.share].borrows:
            continue
        held_by = tuple(
            holder
            for name in state.shares
            if name != job.share and (entitled or state.ledger.over(name, unit))
            for holder in _holders(state, unit, name)
        )
        whose = "of its own" if entitled else "that it could borrow"
        text = f"{short} {unit} more must become free {whose}"
        causes.append(Cause("reclaim" if entitled else "borrow", unit, short, held_by, text))
    return causes


def _in_share(state: QueueState, job: Job) -> list[Cause]:
    share = state.shares[job.share].share
    if not share.in_share_preemption:
        return []
    lower = tuple(holder.id for _, holder in state.shares[job.share].holding if holder.rank < job.rank)
    what = f"stopping {', '.join(lower)} wouldn't free enough" if lower else "no job of its share has lower priority"
    return [Cause("in-share", "", 0, lower, f"In-share preemption can't serve it: {what}")]


def _holders(state: QueueState, unit: str, share: str) -> tuple[str, ...]:
    holding = state.shares[share].holding
    return tuple(job.id for _, job in holding if any(held == unit for held, _ in job.demand))


def _preemption(outcome: Outcome, decision: Decision) -> dict[str, Any]:
    owed = _owed(outcome, decision)
    verdict = "as the policy promises" if owed else "which the policy doesn't promise"
    return {
        "job": decision.job,
        "kind": next(v.kind.value for v in decision.victims if v.job == outcome.job.id),
        "at": outcome.at,
        "owed": owed,
        "text": f"At {outcome.at:g} s it was preempted: {decision.sentence()}, {verdict}",
    }


def _owed(outcome: Outcome, decision: Decision) -> bool:
    """Whether the clause it was decided by held, by the figures of that moment."""
    victim = next(victim for victim in decision.victims if victim.job == outcome.job.id)
    if victim.kind is PreemptionKind.IN_SHARE:
        return victim.share == decision.share and victim.priority < decision.priority
    needed = {figures.unit for figures in decision.after}
    entitled = all(figures.use <= figures.limit for figures in decision.after)
    return (
        victim.share != decision.share and entitled and any(over > 0 and unit in needed for unit, over in victim.over)
    )
