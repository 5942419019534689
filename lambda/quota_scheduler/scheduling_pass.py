"""The scheduling pass: contract.md section 3 as a function from state to the next action.

Nothing here changes the state. ``scheduler.py`` carries an action out and asks again
until there is none, so every clause of the contract can be tested, explained and tried
out on its own. What a pass costs depends on the shares and units, not on the jobs waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from quota_scheduler.job import Job, PreemptionKind
from quota_scheduler.victims import borrowers_to_stop, lower_priority_jobs, without_needless

if TYPE_CHECKING:
    from quota_scheduler.ledger import Ledger
    from quota_scheduler.queue_state import Lane, QueueState

__all__ = ["Action", "Rule", "action_for_claimant", "action_for_front", "next_action"]


class Rule(str, Enum):
    """The clause of contract.md section 3 an action follows."""

    OWN_QUOTA = "own-quota"
    RECLAIM = "reclaim"
    BORROW = "borrow"
    IN_SHARE = "in-share"
    LOWERED_LIMIT = "lowered-limit"
    """Assumption A12, where it is flipped."""


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a pass.

    Attributes
    ----------
    rule : Rule
        Own quota and borrow dispatch `job`; the others stop `victims` for it.
    job : Job or None
        The beneficiary; None where limits were lowered and nobody claims.
    lane : Lane or None
        The beneficiary's lane.
    victims : tuple of (Job, PreemptionKind)
        Jobs to stop, in order of choice.
    taken_over : tuple of Job
        Jobs already stopping for a job that would borrow, which now stop for `job`.
    """

    rule: Rule
    job: Job | None
    lane: Lane | None
    victims: tuple[tuple[Job, PreemptionKind], ...] = ()
    taken_over: tuple[Job, ...] = ()


def next_action(state: QueueState) -> Action | None:
    """Return the first action that applies, or None where nothing can be done.

    Parameters
    ----------
    state : QueueState
        With the blocked reasons of front jobs up to date.
    """
    if state.assumptions.lowered_limits_preempt:
        action = _stop_jobs_beyond_limits(state)
        if action is not None:
            return action
    fronts = [(job, lane) for job, lane in state.fronts() if job.blocked is None]
    for job, lane in fronts:
        if _own_quota(state, job, lane):
            return Action(Rule.OWN_QUOTA, job, lane)
    for job, lane in fronts:
        action = _reclaim(state, job, lane)
        if action is not None:
            return action
    for job, lane in fronts:
        if _borrow(state, job, lane):
            return Action(Rule.BORROW, job, lane)
        if not state.assumptions.skip_unfit_fronts and _would_borrow(state, job):
            break
    for job, lane in fronts:
        action = _preempt_in_share(state, job, lane)
        if action is not None:
            return action
    return None


def action_for_front(state: QueueState, job: Job, lane: Lane) -> Action | None:
    """Return what a pass would do for one front job if it came to it, or None."""
    if _own_quota(state, job, lane):
        return Action(Rule.OWN_QUOTA, job, lane)
    action = _reclaim(state, job, lane)
    if action is None and _borrow(state, job, lane):
        action = Action(Rule.BORROW, job, lane)
    return action or _preempt_in_share(state, job, lane)


def action_for_claimant(state: QueueState, lane: Lane) -> Action | None:
    """Return how to dispatch the front job of a lane whose victims have all stopped, or None."""
    job = state.front(lane)
    if job is None:
        return None
    if _own_quota(state, job, lane):
        return Action(Rule.OWN_QUOTA, job, lane)
    return Action(Rule.BORROW, job, lane) if _borrow(state, job, lane) else None


def outlook(state: QueueState, lane: Lane, *, borrowing: bool) -> Ledger:
    """Return the ledger as it will stand for `lane` once everything under way is done.

    Jobs that are stopping hold nothing any more, and the claims of other lanes hold what
    they claim: those of entitled jobs always, those of jobs that would borrow only for
    one that would borrow too (contract.md section 3, *Claims*).

    Returns
    -------
    Ledger
        The live ledger where nothing is stopping: copy it before trying things on it.
    """
    if not state.stopping:
        return state.ledger
    ledger = _without_stopping(state)
    claims = [
        (other, front) for other in state.claims() if other is not lane and (front := state.front(other))
    ]
    entitled = [ledger.within_limit(front.share, front.demand) for _, front in claims]
    for (_, front), is_entitled in zip(claims, entitled, strict=True):
        if is_entitled or borrowing:
            ledger.take(front.share, front.demand)
    return ledger


def _own_quota(state: QueueState, job: Job, lane: Lane) -> bool:
    """Step 1: `job` is entitled, and I1 and I4 hold now and once claims are served."""
    ledger = state.ledger
    return (
        ledger.within_limit(job.share, job.demand)
        and ledger.fits(job.share, job.demand)
        and (not state.stopping or outlook(state, lane, borrowing=False).fits(job.share, job.demand))
    )


def _reclaim(state: QueueState, job: Job, lane: Lane) -> Action | None:
    """Step 2: take back what borrowers hold for an entitled job."""
    if not state.ledger.within_limit(job.share, job.demand):
        return None
    trial = outlook(state, lane, borrowing=False)
    plan = _plan_reclaim(state, job, trial)
    if plan is None or not any(plan):
        return None
    victims, taken_over = plan
    return Action(
        Rule.RECLAIM,
        job,
        lane,
        tuple((victim, PreemptionKind.CROSS_SHARE) for victim in victims),
        tuple(taken_over),
    )


def _plan_reclaim(state: QueueState, job: Job, trial: Ledger) -> tuple[list[Job], list[Job]] | None:
    """Return new victims and victims taken over that let an entitled job run, or None."""
    for_borrowers = _stopping_for_borrowers(state)
    trial = trial.copy() if for_borrowers or not trial.fits(job.share, job.demand) else trial
    for victim in for_borrowers:
        trial.take(victim.share, victim.demand)
    need = trial.shortage(job.share, job.demand)
    for victim in for_borrowers:
        trial.release(victim.share, victim.demand)
    taken_over = [victim for victim in for_borrowers if any(unit in need for unit, _ in victim.demand)]
    victims = borrowers_to_stop(state, job, trial)
    return None if victims is None else (victims, taken_over)


def _stopping_for_borrowers(state: QueueState) -> list[Job]:
    """Return the jobs that stop for a claim whose front job isn't entitled even once they have stopped."""
    if not state.stopping:
        return []
    ledger = _without_stopping(state)
    entitled = {
        lane
        for lane in state.claims()
        if (front := state.front(lane)) and ledger.within_limit(front.share, front.demand)
    }
    return [job for job, lane in state.stopping.items() if lane is not None and lane not in entitled]


def _without_stopping(state: QueueState) -> Ledger:
    ledger = state.ledger.copy()
    for job in state.stopping:
        ledger.release(job.share, job.demand)
    return ledger


def _would_borrow(state: QueueState, job: Job) -> bool:
    """Whether `job` is over its share's limit and its share borrows."""
    return state.shares[job.share].share.sharing.borrows and not state.ledger.within_limit(
        job.share, job.demand
    )


def _borrow(state: QueueState, job: Job, lane: Lane) -> bool:
    """Step 3: `job` would borrow, and I1, I3 and I4 hold now and once claims are served."""
    if not _would_borrow(state, job):
        return False
    return _can_borrow(state.ledger, job) and (
        not state.stopping or _can_borrow(outlook(state, lane, borrowing=True), job)
    )


def _can_borrow(ledger: Ledger, job: Job) -> bool:
    return ledger.within_borrow_limit(job.share, job.demand) and ledger.fits(job.share, job.demand)


def _preempt_in_share(state: QueueState, job: Job, lane: Lane) -> Action | None:
    """Step 4: stop lower-priority jobs of the share of `job` so that 1, 2 or 3 can serve it."""
    share = state.shares[job.share]
    if not share.share.in_share_preemption or share.has_claim():
        return None
    candidates = lower_priority_jobs(state, job)
    first = next(candidates, None)
    if first is None:
        return None
    trial = _InShareTrial(state, job, lane)
    if trial.serves():
        return None
    picks: list[Job] = []
    for candidate in (first, *candidates):
        if trial.needs(candidate):
            trial.take_off(candidate)
            picks.append(candidate)
            if trial.serves():
                break
    else:
        return None
    picks = without_needless(picks, trial.put_back, trial.take_off, trial.serves)
    others, taken_over = trial.reclaims()
    victims = [(victim, PreemptionKind.IN_SHARE) for victim in picks]
    victims += [(victim, PreemptionKind.CROSS_SHARE) for victim in others]
    return Action(Rule.IN_SHARE, job, lane, tuple(victims), tuple(taken_over))


class _InShareTrial:
    """Whether `job` could be served without some jobs of its own share.

    Two ledgers are kept side by side, since claims to borrow count only if `job` would borrow.
    """

    def __init__(self, state: QueueState, job: Job, lane: Lane) -> None:
        self._state = state
        self._job = job
        self._borrows = state.shares[job.share].share.sharing.borrows
        self._entitled = outlook(state, lane, borrowing=False).copy()
        self._borrowing = outlook(state, lane, borrowing=True).copy()

    def take_off(self, victim: Job) -> None:
        self._entitled.release(victim.share, victim.demand)
        self._borrowing.release(victim.share, victim.demand)

    def put_back(self, victim: Job) -> None:
        self._entitled.take(victim.share, victim.demand)
        self._borrowing.take(victim.share, victim.demand)

    def needs(self, victim: Job) -> bool:
        """Whether `victim` holds a unit of which `job` is beyond its share's limit, or short."""
        held = {unit for unit, _ in victim.demand}
        job = self._job
        return any(
            unit in held and not self._within_limit_and_fits(((unit, count),)) for unit, count in job.demand
        )

    def _within_limit_and_fits(self, demand: tuple[tuple[str, int], ...]) -> bool:
        share = self._job.share
        return self._entitled.within_limit(share, demand) and self._entitled.fits(share, demand)

    def serves(self) -> bool:
        """Whether 1, 2 or 3 of the pass could serve `job`."""
        job = self._job
        if self._entitled.within_limit(job.share, job.demand):
            return self._plan() is not None
        return self._borrows and _can_borrow(self._borrowing, job)

    def reclaims(self) -> tuple[list[Job], list[Job]]:
        """Return the victims in other shares that step 2 adds, and those it takes over."""
        job = self._job
        if not self._entitled.within_limit(job.share, job.demand):
            return [], []
        return self._plan() or ([], [])

    def _plan(self) -> tuple[list[Job], list[Job]] | None:
        return _plan_reclaim(self._state, self._job, self._entitled)


def _stop_jobs_beyond_limits(state: QueueState) -> Action | None:
    """Assumption A12 flipped: stop what a lowered limit left beyond what the share may use."""
    ledger = _without_stopping(state)
    for name, share in state.shares.items():
        for _, job in share.holding:
            units = ledger.over_ceiling(name)
            if job.stopping is None and any(unit in units for unit, _ in job.demand):
                return Action(Rule.LOWERED_LIMIT, None, None, ((job, PreemptionKind.CROSS_SHARE),))
    return None
