"""Builds a timeline from who takes, gives up and waits for capacity."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from quota_scheduler.time_sums import TimeSums
from quota_scheduler.timeline import CapacityCurves, ShareCurves, Timeline

if TYPE_CHECKING:
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy
    from quota_scheduler.timeline import PreemptionLink

__all__ = ["TimelineBuilder"]

_MAX_LINKS = 500


class _Account:
    """One share's part of one unit, as it is since the last change."""

    __slots__ = ("curves", "lends", "limit", "since", "use")

    def __init__(self, sums: TimeSums) -> None:
        self.curves = CapacityCurves(sums.curve(), sums.curve(), sums.curve(), sums.curve())
        self.limit = 0
        self.lends = False
        self.use = 0
        self.since = sums.start

    def advance(self, sums: TimeSums, now: float) -> None:
        own, idle = min(self.use, self.limit), max(0, self.limit - self.use)
        sums.add(self.curves.own, own, self.since, now)
        sums.add(self.curves.borrowed, self.use - own, self.since, now)
        sums.add(self.curves.lendable_idle if self.lends else self.curves.reserved_idle, idle, self.since, now)
        self.since = now


class _Line:
    """The waiting jobs of one share since the last change."""

    __slots__ = ("curves", "since", "waiting")

    def __init__(self, sums: TimeSums) -> None:
        self.curves = ShareCurves(sums.curve(), sums.curve(), sums.curve())
        self.waiting = 0
        self.since = sums.start

    def advance(self, sums: TimeSums, now: float) -> None:
        sums.add(self.curves.waiting, self.waiting, self.since, now)
        self.since = now


class TimelineBuilder:
    """Adds up a timeline; memory is bounded by shares and units, not by jobs or time.

    Every call takes ``now`` in seconds, which must not go back.

    Parameters
    ----------
    policy : QuotaPolicy
    now : float
    """

    def __init__(self, policy: QuotaPolicy, now: float) -> None:
        self._sums = TimeSums(now)
        self._environment = self._sums.curve()
        self._capacity, self._capacity_since = 0, now
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._lines: dict[str, _Line] = {}
        self._links: list[tuple[float, int, PreemptionLink]] = []
        self._link_count = 0
        self.adopt(policy, now)

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Count by `policy` from `now` on; shares that are gone have limits of 0."""
        self._advance_environment(now)
        self._capacity = sum(policy.environment.values())
        for account in self._accounts.values():
            account.advance(self._sums, now)
            account.limit = 0
        for share in policy.shares:
            self._line(share.name)
            for unit, limit in share.limits.items():
                account = self._account(share.name, unit, now)
                account.limit, account.lends = limit, share.sharing.lends

    def waits(self, share: str, change: int, now: float) -> None:
        """Let `change` more jobs of `share` wait from `now` on."""
        line = self._line(share)
        line.advance(self._sums, now)
        line.waiting += change

    def holds(self, share: str, demand: Demand, sign: int, now: float) -> None:
        """Let `share` hold `demand` from `now` on; with a `sign` of -1, give it up."""
        for unit, count in demand:
            account = self._account(share, unit, now)
            account.advance(self._sums, now)
            account.use += sign * count

    def dispatched(self, share: str, now: float) -> None:
        """Count a dispatch."""
        self._sums.count(self._line(share).curves.dispatches, now)

    def preempting(self, share: str, now: float) -> None:
        """Count a preemption that starts."""
        self._sums.count(self._line(share).curves.preempted, now)

    def link(self, link: PreemptionLink) -> None:
        """Keep a preemption, if it is among those that stopped the most work."""
        self._link_count += 1
        entry = link.instance_s, -self._link_count, link
        if len(self._links) < _MAX_LINKS:
            heapq.heappush(self._links, entry)
        else:
            heapq.heappushpop(self._links, entry)

    def build(self, now: float) -> Timeline:
        """Return the timeline from the start to `now`."""
        self._advance_environment(now)
        for account in self._accounts.values():
            account.advance(self._sums, now)
        for line in self._lines.values():
            line.advance(self._sums, now)

        def cut(curve: list[float]) -> list[float]:
            return self._sums.until(curve, now)

        links = tuple(sorted((link for _, _, link in self._links), key=lambda link: link.decided))
        return Timeline(
            start=self._sums.start,
            end=now,
            width=self._sums.width,
            capacity={key: CapacityCurves(*map(cut, account.curves)) for key, account in self._accounts.items()},
            shares={name: ShareCurves(*map(cut, line.curves)) for name, line in self._lines.items()},
            environment=cut(self._environment),
            links=links,
            links_left_out=self._link_count - len(links),
        )

    def _advance_environment(self, now: float) -> None:
        self._sums.add(self._environment, self._capacity, self._capacity_since, now)
        self._capacity_since = now

    def _account(self, share: str, unit: str, now: float) -> _Account:
        account = self._accounts.get((share, unit))
        if account is None:
            account = self._accounts[share, unit] = _Account(self._sums)
            account.since = now
        return account

    def _line(self, share: str) -> _Line:
        line = self._lines.get(share)
        if line is None:
            line = self._lines[share] = _Line(self._sums)
        return line
