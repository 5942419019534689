"""Why a job waits, whom it would preempt, and who preempted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from quota_scheduler.blocked import blocked_reason
from quota_scheduler.exceptions import JobError
from quota_scheduler.job_state import JobState, PreemptionKind
from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.scheduling_pass import action_for_front

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quota_scheduler.decision import Decision
    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.queue_state import QueueState
    from quota_scheduler.scheduler import Scheduler

__all__ = ["Cause", "Explanation", "explain", "moment", "why_victim"]

_SINCE_1970 = 1e8
"""From here on seconds are taken for a date."""

_SHOWN = 5
"""Jobs named in a sentence; the structured form has all of them."""


@dataclass(frozen=True)
class Cause:
    """One thing a waiting job lacks.

    Attributes
    ----------
    rule : str
        ``paused``, ``blocked``, ``head-of-line``, ``stopping``, or the clause of contract.md section 3
        that can't serve it.
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
        Victims its next pass would stop in order of choice, with ``job``, ``share``, ``kind`` and ``why``.
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
            victims = ", ".join(f"{v['job']} of {v['share']} ({v['kind']}: {v['why']})" for v in self.would_preempt)
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
    if scheduler.paused:
        paused = Cause("paused", "", 0, (), "The service environment is DISABLED, so nothing is dispatched")
        return Explanation(job.id, job.state.value, [paused], preempted_by=preempted_by)
    because, would_preempt = _why_waiting(scheduler.state, job)
    return Explanation(job.id, job.state.value, because, would_preempt, preempted_by)


def moment(at: float) -> str:
    """Say when something was: a date for seconds since 1970, else seconds."""
    if at < _SINCE_1970:
        return f"At {at:g} s"
    return f"On {datetime.fromtimestamp(at, timezone.utc):%Y-%m-%d at %H:%M:%S} UTC"


def _why_waiting(state: QueueState, job: Job) -> tuple[list[Cause], list[dict[str, str]]]:
    lane = state.lane_of(job)
    front = lane.front
    blocked = job.blocked
    if blocked is None and front is job:  # no pass has looked at it yet
        blocked = blocked_reason(state.policy, state.assumptions, state.shares[job.share].share, job.demand)
    if blocked is not None:
        return [Cause("blocked", "", 0, (), f"It can't run: {blocked.rstrip('.')}")], []
    if front is not None and front is not job:
        text = f"It stands behind {front.id} (priority {front.rank}), the front job of share {job.share}"
        return [Cause("head-of-line", "", 0, (front.id,), text)], []
    action = action_for_front(state, job)
    if action is not None:
        victims = [_victim(state, job, victim, kind) for victim, kind in action.victims]
        return ([] if victims else [Cause(action.rule.value, "", 0, (), "The next pass dispatches it")]), victims
    stopping = tuple(holder.id for holder in state.stopping if holder in lane.claim)
    if stopping:
        text = f"It waits for {_some(stopping)} to stop, preempted for its share"
        return [Cause("stopping", "", 0, stopping, text)], []
    causes = [*_beyond_limit(state, job), *_not_free(state, job), *_in_share(state, job)]
    units = {unit for unit, _ in job.demand}
    for_somebody = tuple(
        holder.id
        for holder, claimant in state.stopping.items()
        if claimant is None and any(unit in units for unit, _ in holder.demand)
    )
    if for_somebody:
        text = f"Preemptions of {_some(for_somebody)} are under way, for whom isn't known"
        causes.insert(0, Cause("stopping", "", 0, for_somebody, text))
    return causes, []


def why_victim(kind: PreemptionKind, share: str, over: Iterable[tuple[str, int]], priority: int, for_whom: int) -> str:
    """Say why a job may be stopped.

    Parameters
    ----------
    kind : PreemptionKind
    share : str
        Its share.
    over : iterable of (str, int)
        For each unit the beneficiary lacks, what the share uses beyond its limit, in instances.
    priority, for_whom : int
        Priorities of the victim and of the beneficiary.
    """
    if kind is PreemptionKind.IN_SHARE:
        return f"its priority {priority} is below {for_whom}"
    borrowed = ", ".join(f"{count} {unit}" for unit, count in over if count)
    return f"{share} uses {borrowed} beyond its limit; its priority is {priority}"


def _victim(state: QueueState, job: Job, victim: Job, kind: PreemptionKind) -> dict[str, str]:
    over = [(unit, state.ledger.over(victim.share, unit)) for unit, _ in victim.demand]
    why = why_victim(kind, victim.share, over, victim.rank, job.rank)
    return {"job": victim.id, "share": victim.share, "kind": kind.value, "why": why}


def _beyond_limit(state: QueueState, job: Job) -> list[Cause]:
    """Tell why own quota doesn't serve it, and whether borrowing may."""
    causes = []
    share = state.shares[job.share].share
    for unit, count in job.demand:
        use, limit = state.ledger.use(job.share, unit), share.limits.get(unit, 0)
        if use + count <= limit:
            continue
        holders = _holders(state, unit, job.share)
        text = f"Share {job.share} uses {use} of its limit of {limit} {unit}, and it needs {count}"
        causes.append(_shortage("own-quota", unit, use + count - limit, holders, text))
        if not share.sharing.borrows:
            text = f"Share {job.share} doesn't borrow ({share.sharing.strategy.value})"
            causes.append(Cause("borrow", unit, use + count - limit, tuple(holder.id for holder in holders), text))
        elif use + count > limit + share.borrowable(unit):
            most = limit + int(share.borrowable(unit))
            text = f"Its borrow limit allows share {job.share} at most {most} {unit}"
            causes.append(_shortage("borrow", unit, use + count - most, holders, text))
    return causes


def _not_free(state: QueueState, job: Job) -> list[Cause]:
    """Tell what is missing of idle capacity that it may use."""
    entitled = state.ledger.within_limit(job.share, job.demand)
    causes = []
    for unit, short in state.ledger.shortage(job.share, job.demand).items():
        if not entitled and not state.shares[job.share].borrows:
            continue
        holders = [
            holder
            for name in state.shares
            if name != job.share and (entitled or state.ledger.over(name, unit))
            for holder in _holders(state, unit, name)
        ]
        whose = "its own capacity" if entitled else "idle capacity that it could borrow"
        text = f"It lacks {short} {unit} of {whose}" + ("" if holders else ": what is idle isn't lent")
        causes.append(_shortage("reclaim" if entitled else "borrow", unit, short, holders, text))
    return causes


def _shortage(rule: str, unit: str, short: int, holders: list[Job], text: str) -> Cause:
    """Return a cause that ends when jobs do, with those in its text."""
    held = [f"{holder.id} ({dict(holder.demand)[unit]})" for holder in holders]
    if held:
        text += f": jobs that hold {short} must end, of {_some(held)}"
    return Cause(rule, unit, short, tuple(holder.id for holder in holders), text)


def _in_share(state: QueueState, job: Job) -> list[Cause]:
    share = state.shares[job.share].share
    if not share.in_share_preemption:
        return []
    lower = tuple(holder.id for holder in state.shares[job.share].holding if holder.rank < job.rank)
    what = f"stopping {_some(lower)} wouldn't free enough" if lower else "no job of its share has lower priority"
    return [Cause("in-share", "", 0, lower, f"In-share preemption can't serve it: {what}")]


def _holders(state: QueueState, unit: str, share: str) -> list[Job]:
    holding = state.shares[share].holding
    return [job for job in holding if any(held == unit for held, _ in job.demand)]


def _some(names: Sequence[str]) -> str:
    """Name a few, and say how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _preemption(outcome: Outcome, decision: Decision) -> dict[str, Any]:
    owed = _owed(outcome, decision)
    verdict = "as the policy promises" if owed else "which the policy doesn't promise"
    return {
        "job": decision.job,
        "kind": next(v.kind.value for v in decision.victims if v.job == outcome.job.id),
        "at": outcome.at,
        "owed": owed,
        "text": f"{moment(outcome.at)} it was preempted: {decision.sentence()}, {verdict}",
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
