"""Keeps an eye on the job at the front of each share, and on how long it waits for what it could have.

Nothing is concluded while a job is being stopped, while the policy is in doubt, or while the
environment or the queue is disabled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from preemption_auditor.instants import Span
from preemption_auditor.moments import Blocked, Need, Waited
from quota_scheduler import Assumptions
from quota_scheduler.blocked import blocked_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from preemption_auditor.jobs import Wait
    from preemption_auditor.queue_history import QueueHistory
    from quota_scheduler import Demand, QuotaPolicy, QuotaShare

__all__ = ["Watch"]

_FOREVER = 10**18


@dataclass(slots=True)
class _Stretch:
    """A time in which one job at the front waited with one need; `alike` if all behind it had it, too."""

    wait: Wait
    need: Need
    since: int
    alike: bool
    told: bool = False


class Watch:
    """Follows the fronts of all shares of a queue.

    Parameters
    ----------
    tolerance : int
        Milliseconds a need may stay unserved.

    Attributes
    ----------
    deadline : int
        When the first of the needs will have lasted as long as is tolerated, in milliseconds.
    """

    def __init__(self, tolerance: int) -> None:
        self.tolerance = tolerance
        self._stretches: dict[str, _Stretch] = {}
        self._looked_at: tuple[object, ...] = ()
        self.deadline = _FOREVER

    def review(self, queue: QueueHistory) -> Iterator[Waited | Blocked]:
        """Look at the fronts as they are now that everything of this moment has happened.

        Yields
        ------
        Waited or Blocked
            For each stretch that ended, and for each that has become longer than is tolerated.
        """
        policies, paused = queue.policy.within(queue.now, queue.now), queue.pauses.at(queue.now)
        known = all(other == policies[0] for other in policies[1:])
        clear = known and not queue.stopping and queue.doubt(queue.now - queue.memory) is None
        stamp = queue.policy.stamp(queue.now)
        state = (queue.capacity.version, queue.waiting.version, stamp, clear, paused)
        if state != self._looked_at:
            self._looked_at = state
            yield from self._follow(queue, _needs(queue, policies[0]) if clear and not paused else {})
        if queue.now > self.deadline:
            for stretch in self._stretches.values():
                if not stretch.told and queue.now - stretch.since > self.tolerance:
                    stretch.told = True
                    yield self._waited(queue, stretch)
            self._set_deadline()

    def _follow(self, queue: QueueHistory, needs: dict[str, tuple[Wait, Need, bool]]) -> Iterator[Waited | Blocked]:
        before = self._stretches
        self._stretches = {}
        for share, (wait, need, alike) in needs.items():
            stretch = before.get(share)
            goes_on = stretch is not None and stretch.wait.job == wait.job and _alike(stretch.need, need)
            if stretch is not None and goes_on:
                stretch.wait, stretch.need, stretch.alike = wait, need, stretch.alike and alike
                self._stretches[share] = before.pop(share)
            else:
                self._stretches[share] = _Stretch(wait, need, queue.now, alike)
        for stretch in before.values():
            lasted = queue.now - stretch.since
            if not stretch.told and lasted > (self.tolerance if stretch.need is Need.REASON else 0):
                yield self._waited(queue, stretch)
        self._set_deadline()

    def _waited(self, queue: QueueHistory, stretch: _Stretch) -> Waited | Blocked:
        at = Span(stretch.since, queue.now)
        if stretch.need is Need.REASON:
            return Blocked(queue, at, queue.jobs[stretch.wait.job], None)
        return Waited(queue, at, stretch.wait, stretch.need, self.tolerance, stretch.alike)

    def _set_deadline(self) -> None:
        untold = (stretch.since + self.tolerance for stretch in self._stretches.values() if not stretch.told)
        self.deadline = min(untold, default=_FOREVER)


def _alike(one: Need, other: Need) -> bool:
    """Whether two needs are one to the job that waits: its own capacity, free or lent."""
    own = (Need.FREE, Need.LENT)
    return one is other or (one in own and other in own)


def _needs(queue: QueueHistory, policy: QuotaPolicy) -> dict[str, tuple[Wait, Need, bool]]:
    """Return the fronts that wait for what they could have, by share; and whether all behind them do."""
    figures = _Figures(queue, policy)
    found = {}
    for share in policy.shares:
        first = queue.waiting.front(share.name)
        if len(first) == 1 and first[0].demand is not None and share.enabled:
            need = figures.need(share, first[0], first[0].demand)
            if need is not None:
                groups = queue.waiting.groups(share.name, queue.now + 1, first[0].job)
                alike = all(other is not None and figures.need(share, wait, other) is need for _, other, wait in groups)
                found[share.name] = first[0], need, alike
    return found


class _Figures:
    """What is used, borrowed and lendable of each unit under a policy (contract.md section 1)."""

    def __init__(self, queue: QueueHistory, policy: QuotaPolicy) -> None:
        self._policy = policy
        self._book = queue.capacity
        self._borrowed: dict[str, int] = {}
        self._lendable: dict[str, int] = {}
        self._assigned: dict[str, int] = {}
        for unit in policy.environment:
            uses = [(share, share.limits.get(unit, 0), queue.capacity.use(share.name, unit)) for share in policy.shares]
            self._borrowed[unit] = sum(max(0, use - limit) for _, limit, use in uses)
            self._lendable[unit] = sum(max(0, limit - use) for share, limit, use in uses if share.sharing.lends)
            self._assigned[unit] = sum(limit for _, limit, _ in uses)

    def need(self, share: QuotaShare, wait: Wait, demand: Demand) -> Need | None:
        """Return what a front waits for although it could have it, or None."""
        if wait.blocked or wait.after_attempt:
            return None
        if blocked_reason(self._policy, Assumptions(), share, demand) is not None:
            return Need.REASON
        entitled = all(self._book.use(share.name, u) + n <= share.limits.get(u, 0) for u, n in demand)
        short = [unit for unit, count in demand if self._short(share, unit, count)]
        if entitled and not short:
            return Need.FREE
        if entitled:
            reclaimable = all(self._assigned[unit] <= self._policy.environment.get(unit, 0) for unit in short)
            return Need.LENT if reclaimable else None
        may = share.sharing.borrows and all(
            unit in share.limits
            and self._book.use(share.name, unit) + count <= share.limits[unit] + share.borrowable(unit)
            for unit, count in demand
        )
        return Need.IDLE if may and not short else None

    def _short(self, share: QuotaShare, unit: str, count: int) -> bool:
        """Whether I1 or I4 would not hold with `count` more for `share`."""
        spare = max(0, share.limits.get(unit, 0) - self._book.use(share.name, unit))
        over = max(0, count - spare)
        lost = count - over if share.sharing.lends else 0
        borrowed = self._borrowed.get(unit, 0) + over
        return borrowed > self._lendable.get(unit, 0) - lost or self._book.total(
            unit
        ) + count > self._policy.environment.get(unit, 0)
