"""The order of a job's events where their times leave it open.

Equal seconds are ordered by what the transition graph allows. Where several orders remain
possible, the first in the order of the graph is taken.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from preemption_auditor.observations import EventKind
from quota_scheduler import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from preemption_auditor.jobs import JobRecord
    from preemption_auditor.observations import Observation

__all__ = ["Order", "direct", "in_order", "rank"]

_ORDER = (
    JobState.SUBMITTED,
    JobState.RUNNABLE,
    JobState.SCHEDULED,
    JobState.STARTING,
    JobState.RUNNING,
    JobState.SUCCEEDED,
    JobState.FAILED,
)
_KINDS = (
    EventKind.STARTED,
    EventKind.COMPLETED,
    EventKind.BLOCKED,
    EventKind.STATE,
    EventKind.LOOKED_UP,
    EventKind.IMPLIED,
)
_SEEN = (EventKind.BLOCKED, EventKind.LOOKED_UP)
"""Kinds that show a state and no step into it."""
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


class Order(NamedTuple):
    """An order of observations.

    Attributes
    ----------
    observations : list of Observation
    clear : bool
        False where another order is as likely and leaves the job in another state.
    """

    observations: list[Observation]
    clear: bool


def in_order(job: JobRecord, group: Sequence[Observation], ahead: Observation | None) -> Order:
    """Return the order of simultaneous observations with the fewest steps the graph doesn't have.

    Parameters
    ----------
    job : JobRecord
        As it was before.
    group : sequence of Observation
        With overlapping times, by time and rank.
    ahead : Observation or None
        What follows all of them: it tells orders apart, too.
    """
    if len(group) < 2:
        return Order(list(group), True)
    following = [ahead] if ahead is not None else []
    weighed = []
    for order in islice(_orders(list(group)), _TRIED):
        state = _Replay(job)
        state.run(order)
        end = state.state, state.dispatched
        state.run(following)
        weighed.append((state.cost, end, order))
    if not weighed:  # the counts contradict each other
        return Order(list(group), False)
    least, _, best = min(weighed, key=lambda item: item[0])
    return Order(best, len({end for cost, end, _ in weighed if cost == least}) == 1)


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


class _Replay:
    """Weighs the steps an order needs: none for an edge of the graph, most for a way out of a final state."""

    def __init__(self, job: JobRecord) -> None:
        self.state = job.state
        self.dispatched = job.attempt.dispatched if job.attempt is not None else None
        self.stopping = job.stopping
        self.implied = job.implied
        self.shown: dict[JobState, int] = {}
        self.cost = 0

    def run(self, order: list[Observation]) -> None:
        for observation in order:
            self._see(observation)

    def _see(self, observation: Observation) -> None:
        status, kind, state = observation.status, observation.kind, self.state
        if kind is EventKind.STARTED:
            self.cost += 0 if state is not None and state.holds and not self.stopping else _ODD
            self.stopping = True
            return
        if kind is EventKind.COMPLETED:
            self.cost += 0 if self.stopping else _ODD
            self.stopping = False
        if status is None:
            return
        if status.holds and state is not None and state.holds and self.dispatched != observation.dispatched:
            self.cost += _ODD
        if kind is EventKind.IMPLIED:  # it tells when a state began, and what shows the state comes after it
            self.cost += observation.at.lo <= self.shown.get(status, -1)
        else:
            self.shown[status] = observation.at.lo
        if kind is EventKind.STATE:
            self.stopping = self.stopping and not status.holds
            # once a job was dispatched, its events go on telling when
            self.cost += self.dispatched is not None and observation.dispatched is None
        if state is status:
            self.cost += kind is EventKind.STATE and not self.implied
        elif kind in _SEEN or not direct(state, status):
            self.cost += 5 * _ODD if state is not None and state.final else _ODD
        self.state, self.implied = status, kind is EventKind.IMPLIED
        self.dispatched = observation.dispatched if status.holds else None
