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
    from quota_scheduler.ledger import Ledger
    from quota_scheduler.queue_state import QueueState

__all__ = ["borrowers_to_stop", "lower_priority_jobs", "without_needless"]


def borrowers_to_stop(state: QueueState, job: Job, trial: Ledger) -> list[Job] | None:
    """Choose the borrowers to stop so that an entitled job fits.

    Parameters
    ----------
    state : QueueState
    job : Job
        Entitled to its demand.
    trial : Ledger
        As things will stand without new victims; left with the victims released.

    Returns
    -------
    list of Job or None
        A minimal set in order of choice, empty where `job` fits already; None where stopping every
        borrower wouldn't do.
    """
    picks: list[Job] = []
    need = trial.shortage(job.share, job.demand)
    for candidate in _holders_of_other_shares(state, job, need):
        if not need:
            break
        if any(unit in need and trial.over(candidate.share, unit) for unit, _ in candidate.demand):
            trial.release(candidate.share, candidate.demand)
            picks.append(candidate)
            need = trial.shortage(job.share, job.demand)
    if need:
        return None

    def put_back(victim: Job) -> None:
        trial.take(victim.share, victim.demand)

    def take_off(victim: Job) -> None:
        trial.release(victim.share, victim.demand)

    return without_needless(picks, put_back, take_off, lambda: trial.fits(job.share, job.demand))


def lower_priority_jobs(state: QueueState, job: Job) -> Iterator[Job]:
    """Iterate over the holding jobs of the share of `job` with strictly lower priority, next victim first."""
    holding = (holder for _, holder in state.shares[job.share].holding)
    lower = takewhile(lambda holder: holder.rank < job.rank, holding)
    return (holder for holder in lower if holder.stopping is None)


def without_needless(
    picks: list[Job],
    put_back: Callable[[Job], None],
    take_off: Callable[[Job], None],
    suffices: Callable[[], bool],
) -> list[Job]:
    """Drop every victim that isn't needed, last picked first.

    Parameters
    ----------
    picks : list of Job
        Victims in order of choice, taken off the trial that `suffices` looks at.
    put_back, take_off : callable
        Change the trial by one victim.
    suffices : callable
        Whether the trial, as it stands, serves the preempting job.
    """
    kept = []
    for victim in reversed(picks):
        put_back(victim)
        if not suffices():
            take_off(victim)
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
