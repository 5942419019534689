"""Who is stopped when a job may preempt: contract.md section 3, *Victims*.

AWS documents what its heuristic looks at, not how it chooses; the order here is
assumption A10. The chosen set is always minimal.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from quota_scheduler.job import Job
    from quota_scheduler.ledger import Request
    from quota_scheduler.outlook import Outlook
    from quota_scheduler.queue_state import QueueState

__all__ = ["borrowers_to_stop", "lower_priority_jobs", "without_needless"]


def borrowers_to_stop(state: QueueState, job: Job, trial: Outlook) -> list[Job] | None:
    """Choose the borrowers to stop so that an entitled job fits.

    Parameters
    ----------
    state : QueueState
    job : Job
        Entitled to its demand.
    trial : Outlook
        As things will stand without new victims; left as it was.

    Returns
    -------
    list of Job or None
        A minimal set in order of choice, empty where `job` fits already; None where stopping every
        borrower wouldn't do.
    """
    request = trial.request(job)
    if request.fits():
        return []
    need = request.shortage()
    mark = trial.mark()
    picks: list[Job] = []
    for candidate in _holders_of_other_shares(state, job, trial, need):
        if _borrows_any(trial.request(candidate), need):
            trial.release(candidate)
            picks.append(candidate)
            need = request.shortage()
            if not need:
                break
    chosen = None if need else without_needless(picks, trial, request.fits)
    trial.undo(mark)
    return chosen


def _borrows_any(holder: Request, units: Iterable[str]) -> bool:
    """Whether a holder's demand has one of `units` of which its share is over its limit."""
    return any(account.use > account.limit and account.pool.unit in units for account, _ in holder.parts)


def lower_priority_jobs(job: Job) -> Iterator[Job]:
    """Iterate over the holding jobs of the share of `job` with strictly lower priority, next victim first."""
    holding = job.job_class.share.holding
    for rank in sorted(holding.ranks()):
        if rank >= job.rank:
            return
        for holder in holding.of_rank(rank):
            if holder.stopping is None:
                yield holder


def without_needless(picks: list[Job], trial: Outlook, suffices: Callable[[], bool]) -> list[Job]:
    """Drop every victim that isn't needed, last picked first.

    Parameters
    ----------
    picks : list of Job
        Victims in order of choice, released in `trial`.
    trial : Outlook
    suffices : callable
        Whether the trial, as it stands, serves the preempting job.
    """
    kept = []
    for victim in reversed(picks):
        trial.take(victim)
        if not suffices():
            trial.release(victim)
            kept.append(victim)
    return kept[::-1]


def _holders_of_other_shares(state: QueueState, job: Job, trial: Outlook, need: Iterable[str]) -> Iterator[Job]:
    """Iterate over jobs of shares over their limit in a needed unit, next victim first."""
    ledger = trial.ledger
    holding = [
        other.holding
        for name, other in state.shares.items()
        if other is not job.job_class.share and any(ledger.over(name, unit) for unit in need)
    ]
    for rank in sorted({rank for jobs in holding for rank in jobs.ranks()}):
        for holder in heapq.merge(*(jobs.of_rank(rank) for jobs in holding), key=state.victim_order):
            if holder.stopping is None:
                yield holder
