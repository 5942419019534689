"""The order of a job's events where their times leave it open.

Equal seconds are ordered by what the transition graph allows. Where several orders remain
possible, the first in the order of the graph is taken.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from preemption_auditor.observations import EventKind
from quota_scheduler import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from preemption_auditor.jobs import Attempt
    from preemption_auditor.observations import Observation

__all__ = ["direct", "in_order", "rank"]

_ORDER = (
    JobState.SUBMITTED,
    JobState.RUNNABLE,
    JobState.SCHEDULED,
    JobState.STARTING,
    JobState.RUNNING,
    JobState.SUCCEEDED,
    JobState.FAILED,
)
_KINDS = (EventKind.STARTED, EventKind.COMPLETED, EventKind.BLOCKED, EventKind.STATE)
_TRIED = 120
"""How many orders of one group are compared at most: all of those of five events."""
_ODD = 4
"""Weight of a step that only a gap explains, against 1 for a state that is seen twice."""


def rank(observation: Observation) -> tuple[int, int, int, int]:
    """Return the place of an observation among those of its job with the same time."""
    preempted, ended = observation.attempt
    status = _ORDER.index(observation.status) if observation.status is not None else -1
    return max(preempted, 0), max(ended, 0), status, _KINDS.index(observation.kind)


def direct(before: JobState | None, after: JobState) -> bool:
    """Whether the transition graph has an edge from `before` to `after` (contract.md, QM-A01)."""
    if before is None:
        return after in (JobState.SUBMITTED, JobState.RUNNABLE)
    if before.final:
        return False
    if after is JobState.FAILED:
        return True
    if after is JobState.RUNNABLE:
        return before is JobState.SUBMITTED or before.holds
    return _ORDER.index(after) == _ORDER.index(before) + 1


def in_order(
    before: JobState | None, attempt: Attempt | None, group: Sequence[Observation]
) -> list[Observation]:
    """Return the order of simultaneous observations with the fewest steps the graph doesn't have.

    Parameters
    ----------
    before : JobState or None
        State the job was in.
    attempt : Attempt or None
        What it held then.
    group : sequence of Observation
        With overlapping times, by time and rank; the last one may lie after all the others.
    """
    if len(group) < 2:
        return list(group)
    orders = islice(_orders(list(group)), _TRIED)
    return min(orders, key=lambda order: _cost(before, attempt, order), default=list(group))


def _orders(group: list[Observation]) -> Iterator[list[Observation]]:
    """Iterate over every order that agrees with the times and with what tells attempts apart, given order first."""
    if not group:
        yield []
    for index, first in enumerate(group):
        if any(_precedes(other, first) for other in group):
            continue
        for rest in _orders(group[:index] + group[index + 1 :]):
            yield [first, *rest]


def _precedes(one: Observation, other: Observation) -> bool:
    """Whether `one` surely came before `other`."""
    if one.at.hi < other.at.lo:
        return True
    if one.dispatched is not None and other.dispatched is not None:
        if one.dispatched < other.dispatched:
            return True
        same = one.dispatched == other.dispatched and one.resource == other.resource
        if same and one.status is JobState.SCHEDULED is not other.status:
            return True  # no event tells of a dispatch before it is shown
    return any(0 <= a < b for a, b in zip(one.attempt, other.attempt, strict=True))


def _cost(state: JobState | None, attempt: Attempt | None, order: list[Observation]) -> int:
    """Weigh the steps an order needs: none for an edge of the graph, most for a way out of a final state."""
    dispatched = attempt.dispatched if attempt is not None else None
    stopping = attempt is not None and attempt.stopping is not None
    cost = 0
    for observation in order:
        status, kind = observation.status, observation.kind
        if kind is EventKind.STARTED:
            cost += 0 if state is not None and state.holds and not stopping else _ODD
            stopping = True
            continue
        if kind is EventKind.COMPLETED:
            cost += 0 if stopping else _ODD
            stopping = False
        if status is None:
            continue
        if status.holds and state is not None and state.holds and dispatched != observation.dispatched:
            cost += _ODD
        if kind is EventKind.STATE:
            stopping = stopping and not status.holds
        if state is status:
            cost += kind is EventKind.STATE
        elif kind is EventKind.BLOCKED or not direct(state, status):
            cost += 5 * _ODD if state is not None and state.final else _ODD
        state, dispatched = status, observation.dispatched
    return cost
