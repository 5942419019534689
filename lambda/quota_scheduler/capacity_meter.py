"""What shares use, borrow and lend in the course of a simulation, added up over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy

__all__ = ["CapacityMeter"]


class _Pool:
    """Of one unit: what is borrowed and lendable now, and the integral of their ratio."""

    __slots__ = ("borrowed", "held", "integral", "lendable", "since", "total")

    def __init__(self, now: float) -> None:
        self.lendable = 0
        self.borrowed = 0
        self.total = 0
        self.held = 0.0
        self.integral = 0.0
        self.since = now


class _ShareMeter:
    """Running integrals of one share and unit."""

    __slots__ = ("borrowed", "lends", "lent", "limit", "pool", "pool_integral", "since", "use")

    def __init__(self, pool: _Pool) -> None:
        self.pool = pool
        self.limit = 0
        self.lends = False
        self.use = 0
        self.borrowed = 0.0
        self.lent = 0.0
        self.since = pool.since
        self.pool_integral = pool.integral

    def advance(self, now: float) -> None:
        """Add up since the last change; of what is lent, the share's part is its part of all that is lendable."""
        pool = self.pool
        if pool.since != now:
            elapsed = now - pool.since
            pool.since = now
            pool.held += pool.total * elapsed
            if pool.borrowed and pool.lendable:
                pool.integral += pool.borrowed / pool.lendable * elapsed
        over = self.use - self.limit
        if over > 0:
            self.borrowed += over * (now - self.since)
        elif over < 0 and self.lends:
            self.lent -= over * (pool.integral - self.pool_integral)
        self.since = now
        self.pool_integral = pool.integral

    def set_terms(self, limit: int, lends: bool) -> None:
        """Count what the share has over or idle to the pool's by a new limit."""
        self.limit, self.lends = limit, lends
        self.pool.borrowed += max(0, self.use - limit)
        if lends:
            self.pool.lendable += max(0, limit - self.use)


class CapacityMeter:
    """Instance-seconds held in all, and borrowed and lent by each share.

    Every change costs the same, however many shares and jobs there are.

    Parameters
    ----------
    now : float
        When to start, in seconds.

    Attributes
    ----------
    capacity_s : float
        Instance-seconds the environment had.
    """

    def __init__(self, now: float) -> None:
        self.capacity_s = 0.0
        self._capacity = 0
        self._since = now
        self._meters: dict[str, dict[str, _ShareMeter]] = {}
        self._pools: dict[str, _Pool] = {}

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Count by `policy` from `now` on, in seconds; shares that are gone have limits of 0."""
        self.add_up(now)
        self._capacity = sum(policy.environment.values())
        for unit in policy.environment:
            self._pools.setdefault(unit, _Pool(now))
        shares = {share.name: share for share in policy.shares}
        for pool in self._pools.values():
            pool.borrowed = pool.lendable = 0
        for name in dict.fromkeys([*self._meters, *shares]):
            share, meters = shares.get(name), self._meters.setdefault(name, {})
            for unit, pool in self._pools.items():
                meter = meters.setdefault(unit, _ShareMeter(pool))
                if share is None:
                    meter.set_terms(0, lends=False)
                else:
                    meter.set_terms(share.limits.get(unit, 0), lends=share.sharing.lends)

    def change(self, share: str, demand: Demand, sign: int, now: float) -> None:
        """Count `demand` as held by `share` from `now` on, in seconds; with a `sign` of -1, as given up."""
        meters = self._meters[share]
        for unit, count in demand:
            meter = meters[unit]
            if meter.since != now:
                meter.advance(now)
            change = sign * count
            pool = meter.pool
            pool.total += change
            if meter.lends:
                pool.lendable -= change
            over = meter.use - meter.limit
            meter.use += change
            if over > 0 or over + change > 0:
                borrowed = max(0, over + change) - max(0, over)
                pool.borrowed += borrowed
                if meter.lends:
                    pool.lendable += borrowed

    def add_up(self, now: float) -> None:
        """Bring every integral up to `now`."""
        self.capacity_s += self._capacity * (now - self._since)
        self._since = now
        for meters in self._meters.values():
            for meter in meters.values():
                meter.advance(now)

    def shares(self) -> list[str]:
        """Return the names of all shares there were."""
        return list(self._meters)

    def held_s(self) -> float:
        """Return the instance-seconds that jobs held."""
        return sum(pool.held for pool in self._pools.values())

    def borrowed_s(self, share: str) -> float:
        """Return the instance-seconds `share` used beyond its limits."""
        return sum(meter.borrowed for meter in self._meters.get(share, {}).values())

    def lent_s(self, share: str) -> float:
        """Return the instance-seconds of idle capacity of `share` that others used."""
        return sum(meter.lent for meter in self._meters.get(share, {}).values())
