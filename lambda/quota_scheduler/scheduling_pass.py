"""The scheduling pass: contract.md section 3 as a function from state to the next action.

Nothing here changes jobs or capacity. ``scheduler.py`` carries an action out and asks again
until there is none, so every clause of the contract can be tested, explained and tried
out on its own. What a pass costs depends on the shares and units, not on the jobs waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from quota_scheduler.action import Action, Rule
from quota_scheduler.job_state import PreemptionKind
from quota_scheduler.outlook import Outlook, Trial
from quota_scheduler.victims import borrowers_to_stop, lower_priority_jobs, without_needless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quota_scheduler.attention import Attention
    from quota_scheduler.job import Job
    from quota_scheduler.job_class import JobClass
    from quota_scheduler.queue_state import Lane, QueueState

__all__ = ["action_for_claimant", "action_for_front", "next_action"]


# before Python 3.12, naming an enum's member costs as much as a call
_OWN_QUOTA: Final = Rule.OWN_QUOTA
_BORROW: Final = Rule.BORROW


def next_action(state: QueueState) -> Action | None:
    """Return the first action that applies, or None where nothing can be done.

    Parameters
    ----------
    state : QueueState
        With the blocked reasons of front jobs up to date.
    """
    assumptions, attention = state.assumptions, state.attention
    if assumptions.lowered_limits_preempt:
        action = _stop_jobs_beyond_limits(state)
        if action is not None:
            return action
    fronts = state.fronts_to_look_at()
    entitled, others = [], []
    for job in fronts:
        job_class = job.job_class
        if not job_class.within_limit():
            others.append(job)
        elif job_class.fits() and (not state.stopping or _fits_later(state, job)):
            return Action(_OWN_QUOTA, job, job_class.lane)
        else:
            entitled.append(job)
    for job in entitled:
        action = _reclaim(state, job)
        if action is not None:
            return action
    if attention.fulfil_wishes():
        return next_action(state)
    for job in others:
        if job.job_class.share.borrows:
            if _borrow(state, job):
                return Action(_BORROW, job, job.job_class.lane)
            if not assumptions.skip_unfit_fronts:
                break
    for job in fronts:
        share = job.job_class.share
        if share.preempts and share.holding.lowest < job.rank:
            action = _preempt_in_share(state, job)
            if action is not None:
                return action
    attention.rest()
    for job in entitled:
        attention.watch(job.job_class.lane)
    for job in others:
        _leave(state, job)
    return None


def _leave(state: QueueState, job: Job) -> None:
    """Say what, beside a change of its own share, may help a front job that isn't entitled."""
    job_class = job.job_class
    share = job_class.share
    if not state.assumptions.skip_unfit_fronts:
        state.attention.watch(job_class.lane)
    elif share.preempts and share.holding.lowest < job.rank:
        _leave_preemptor(state, job)
    elif share.borrows:
        _leave_borrower(state.attention, job_class)


def _leave_preemptor(state: QueueState, job: Job) -> None:
    """Leave a job that stopping all lower-priority jobs of its share doesn't serve."""
    attention, job_class = state.attention, job.job_class
    attention.eye(job_class.lane)
    if state.stopping:
        attention.watch(job_class.lane)
        return
    before = [account.use for account, _ in job_class.parts]
    with Trial(state) as trial:
        for holder in lower_priority_jobs(job):
            trial.release(holder)
        if job_class.within_limit():
            attention.watch(job_class.lane)
        elif job_class.share.borrows:
            freed = [use - account.use for use, (account, _) in zip(before, job_class.parts, strict=True)]
            _leave_borrower(attention, job_class, freed)


def _leave_borrower(attention: Attention, job_class: JobClass, freed: Sequence[int] = ()) -> None:
    """Leave a job that can only borrow until enough is idle, unless its share's own ceiling is in the way.

    `freed` is what it could free of each unit by itself, and has in the ledger as it is.
    """
    for account, count in job_class.parts:
        if account.use + count > account.ceiling:
            return
    for index, (account, count) in enumerate(job_class.parts):
        if account.need(count) > 0 and account.lends:
            attention.wish(job_class.lane, account.pool, count - freed[index] if freed else count)
            return
    attention.watch(job_class.lane)


def action_for_front(state: QueueState, job: Job) -> Action | None:
    """Return what a pass would do for one front job if it came to it, or None."""
    job_class = job.job_class
    if not job_class.within_limit():
        if _borrow(state, job):
            return Action(_BORROW, job, job_class.lane)
    elif job_class.fits() and _fits_later(state, job):
        return Action(_OWN_QUOTA, job, job_class.lane)
    else:
        action = _reclaim(state, job)
        if action is not None:
            return action
    return _preempt_in_share(state, job)


def action_for_claimant(state: QueueState, lane: Lane) -> Action | None:
    """Return how to dispatch the front job of a lane whose victims have all stopped, or None."""
    job = state.front(lane)
    if job is None:
        return None
    if not job.job_class.within_limit():
        return Action(_BORROW, job, lane) if _borrow(state, job) else None
    return Action(_OWN_QUOTA, job, lane) if job.job_class.fits() and _fits_later(state, job) else None


def _fits_later(state: QueueState, job: Job) -> bool:
    """Step 1, for an entitled job that fits: I1 and I4 hold with it once claims are served, too."""
    with Outlook(state, job.job_class.lane) as outlook:
        return outlook.request(job).fits()


def _reclaim(state: QueueState, job: Job) -> Action | None:
    """Step 2: take back what borrowers hold for an entitled job."""
    lane = job.job_class.lane
    with Outlook(state, lane) as trial:
        plan = _plan_reclaim(state, job, trial)
    if plan is None or not any(plan):
        return None
    victims, taken_over = plan
    return Action(Rule.RECLAIM, job, lane, _each(victims, PreemptionKind.CROSS_SHARE), tuple(taken_over))


def _plan_reclaim(state: QueueState, job: Job, trial: Outlook) -> tuple[list[Job], list[Job]] | None:
    """Return new victims and victims taken over that let an entitled job run, or None."""
    victims = borrowers_to_stop(state, job, trial)
    if victims is None:
        return None
    for_borrowers = trial.stopping_for_borrowers()
    if not for_borrowers:
        return victims, []
    mark = trial.mark()
    for victim in for_borrowers:
        trial.take(victim)
    need = trial.request(job).shortage()
    trial.undo(mark)
    return victims, [victim for victim in for_borrowers if any(unit in need for unit, _ in victim.demand)]


def _borrow(state: QueueState, job: Job) -> bool:
    """Step 3, for a job that isn't entitled: its share borrows, and I1, I3 and I4 hold now and later."""
    job_class = job.job_class
    if not job_class.share.borrows or not job_class.can_borrow():
        return False
    if not state.stopping:
        return True
    with Outlook(state, job_class.lane) as outlook:
        return outlook.can_borrow(job)


def _preempt_in_share(state: QueueState, job: Job) -> Action | None:
    """Step 4: stop lower-priority jobs of the share of `job` so that 1, 2 or 3 can serve it."""
    share = job.job_class.share
    if not share.preempts or share.holding.lowest >= job.rank or share.has_claim():
        return None
    with Outlook(state, job.job_class.lane) as trial:
        return _plan_in_share(state, job, trial)


def _plan_in_share(state: QueueState, job: Job, trial: Outlook) -> Action | None:
    share, request = job.job_class.share, trial.request(job)

    def serves() -> bool:
        if request.within_limit():
            return borrowers_to_stop(state, job, trial) is not None
        return share.borrows and trial.can_borrow(job)

    if serves():
        return None  # what is stopping already will do
    picks: list[Job] = []
    for candidate in lower_priority_jobs(job):
        if trial.needs(job, candidate):
            trial.release(candidate)
            picks.append(candidate)
            if serves():
                break
    else:
        return None
    picks = without_needless(picks, trial, serves)
    plan = _plan_reclaim(state, job, trial) if request.within_limit() else None
    others, taken_over = plan or ([], [])
    victims = _each(picks, PreemptionKind.IN_SHARE) + _each(others, PreemptionKind.CROSS_SHARE)
    return Action(Rule.IN_SHARE, job, job.job_class.lane, victims, tuple(taken_over))


def _each(victims: Iterable[Job], kind: PreemptionKind) -> tuple[tuple[Job, PreemptionKind], ...]:
    return tuple((victim, kind) for victim in victims)


def _stop_jobs_beyond_limits(state: QueueState) -> Action | None:
    """Assumption A12 flipped: stop what a lowered limit left beyond what the share may use."""
    with Outlook(state, None) as outlook:
        for name, share in state.shares.items():
            units = outlook.over_ceiling(name)
            for job in share.holding if units else ():
                if job.stopping is None and any(unit in units for unit, _ in job.demand):
                    return Action(Rule.LOWERED_LIMIT, None, None, _each([job], PreemptionKind.CROSS_SHARE))
    return None
