"""Who is stopped when a job may preempt: contract.md section 3, *Victims*.

AWS documents what its heuristic looks at, not how it chooses; the order here is
assumption A10. The chosen set is always minimal.
"""

from __future__ import annotations

import heapq
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from quota_scheduler.job import Job
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
    need = trial.shortage(job)
    if not need:
        return []
    mark = trial.mark()
    picks: list[Job] = []
    for candidate in _holders_of_other_shares(state, job, need):
        if any(unit in need and trial.over(candidate, unit) for unit, _ in candidate.demand):
            trial.release(candidate)
            picks.append(candidate)
            need = trial.shortage(job)
            if not need:
                break
    chosen = None if need else without_needless(picks, trial, lambda: trial.fits(job))
    trial.undo(mark)
    return chosen


def lower_priority_jobs(state: QueueState, job: Job) -> Iterator[Job]:
    """Iterate over the holding jobs of the share of `job` with strictly lower priority, next victim first."""
    holding = (holder for _, holder in state.shares[job.share].holding)
    lower = takewhile(lambda holder: holder.rank < job.rank, holding)
    return (holder for holder in lower if holder.stopping is None)


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


def _holders_of_other_shares(state: QueueState, job: Job, need: Iterable[str]) -> Iterator[Job]:
    """Iterate over jobs of shares over their limit in a needed unit, next victim first."""
    over = (
        other.holding
        for name, other in state.shares.items()
        if name != job.share and any(state.ledger.over(name, unit) for unit in need)
    )
    return (holder for _, holder in heapq.merge(*over, key=_key) if holder.stopping is None)


def _key(entry: tuple[tuple[int, float, int], Job]) -> tuple[int, float, int]:
    return entry[0]
