"""Who holds how much of which capacity unit: the sums of contract.md section 1, kept up to date.

Taking or releasing a demand costs the same whatever the number of shares and jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy

__all__ = ["Figures", "Ledger"]


class Figures(NamedTuple):
    """What the ledger says of one share and unit, in instances."""

    unit: str
    use: int
    limit: int
    environment_use: int
    environment: int
    borrowed: int
    lendable: int


class _Pool:
    """One capacity unit over all shares."""

    __slots__ = ("borrowed", "capacity", "lendable", "total")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.total = 0
        self.borrowed = 0
        self.lendable = 0

    def copy(self) -> _Pool:
        other = _Pool(self.capacity)
        other.total = self.total
        other.borrowed = self.borrowed
        other.lendable = self.lendable
        return other


class _Account:
    """One share's part of one capacity unit."""

    __slots__ = ("ceiling", "lends", "limit", "pool", "use")

    def __init__(self, pool: _Pool, limit: int, ceiling: float, lends: bool, use: int = 0) -> None:
        self.pool = pool
        self.limit = limit
        self.ceiling = ceiling
        self.lends = lends
        self.use = use

    def change(self, count: int) -> None:
        """Let the share hold `count` instances more, or fewer."""
        pool, before, limit = self.pool, self.use, self.limit
        self.use = after = before + count
        pool.total += count
        over = (after - limit if after > limit else 0) - (before - limit if before > limit else 0)
        pool.borrowed += over
        if self.lends:
            pool.lendable += over - count

    def need(self, count: int) -> int:
        """Return ``max(B - L', Σ use + d - E)`` of contract.md section 3, step 2.

        What a share that lends takes either adds to what is borrowed or is no longer lendable, so
        that both count the same.
        """
        pool = self.pool
        over = count if self.lends else min(count, max(0, self.use + count - self.limit))
        beyond_lendable = pool.borrowed + over - pool.lendable
        beyond_environment = pool.total + count - pool.capacity
        return beyond_lendable if beyond_lendable > beyond_environment else beyond_environment


class _Accounts(dict[str, _Account]):
    """A share's accounts by unit; a unit the policy doesn't name has no limit and no capacity."""

    __slots__ = ("_pools", "lends")

    def __init__(self, pools: dict[str, _Pool], lends: bool) -> None:
        super().__init__()
        self._pools = pools
        self.lends = lends

    def __missing__(self, unit: str) -> _Account:
        self[unit] = account = _Account(self._pools.setdefault(unit, _Pool(0)), 0, 0, self.lends)
        return account

    def copy_into(self, pools: dict[str, _Pool]) -> _Accounts:
        other = _Accounts(pools, self.lends)
        for unit, account in self.items():
            other[unit] = _Account(pools[unit], account.limit, account.ceiling, self.lends, account.use)
        return other


class Ledger:
    """Use of every share, and what is borrowed and lendable of every unit.

    Parameters
    ----------
    policy : QuotaPolicy
        Limits and strategies.
    assumptions : Assumptions
        A2, A3 and A4 are applied here.
    """

    def __init__(self, policy: QuotaPolicy, assumptions: Assumptions) -> None:
        self._pools = {unit: _Pool(capacity) for unit, capacity in policy.environment.items()}
        self._accounts: dict[str, _Accounts] = {}
        for share in policy.shares:
            lends = share.sharing.lends and (share.enabled or assumptions.disabled_shares_lend)
            self._accounts[share.name] = accounts = _Accounts(self._pools, lends)
            units = {**policy.environment, **share.limits} if assumptions.borrow_without_limit else share.limits
            for unit in units:
                account = accounts[unit]
                account.limit = share.limits.get(unit, 0)
                account.ceiling = account.limit + share.borrowable(unit)
                if lends:
                    account.pool.lendable += account.limit
        if assumptions.unassigned_capacity_lent:
            for unit, pool in self._pools.items():
                assigned = sum(share.limits.get(unit, 0) for share in policy.shares)
                pool.lendable += max(0, pool.capacity - assigned)

    def copy(self) -> Ledger:
        """Return a ledger to try things on; costs as many steps as there are shares and units."""
        other = Ledger.__new__(Ledger)
        other._pools = pools = {unit: pool.copy() for unit, pool in self._pools.items()}
        other._accounts = {name: accounts.copy_into(pools) for name, accounts in self._accounts.items()}
        return other

    def take(self, share: str, demand: Demand) -> None:
        """Let `share` hold `demand` more."""
        accounts = self._accounts[share]
        for unit, count in demand:
            accounts[unit].change(count)

    def release(self, share: str, demand: Demand) -> None:
        """Let `share` hold `demand` less."""
        accounts = self._accounts[share]
        for unit, count in demand:
            accounts[unit].change(-count)

    def within_limit(self, share: str, demand: Demand) -> bool:
        """Whether `share` stays within its capacity limits with `demand` more: it is entitled to it."""
        accounts = self._accounts[share]
        for unit, count in demand:
            account = accounts[unit]
            if account.use + count > account.limit:
                return False
        return True

    def can_borrow(self, share: str, demand: Demand) -> bool:
        """Whether I1, I2, I3 and I4 hold in every unit of `demand` once `share` holds it beyond its limits."""
        accounts = self._accounts[share]
        for unit, count in demand:
            account = accounts[unit]
            if account.use + count > account.ceiling or account.need(count) > 0:
                return False
        return True

    def fits(self, share: str, demand: Demand) -> bool:
        """Whether I1 and I4 hold in every unit of `demand` once `share` holds it too."""
        accounts = self._accounts[share]
        return all(accounts[unit].need(count) <= 0 for unit, count in demand)

    def shortage(self, share: str, demand: Demand) -> dict[str, int]:
        """Return what must be freed of each unit before `demand` :meth:`fits`, in instances."""
        accounts = self._accounts[share]
        needs = ((unit, accounts[unit].need(count)) for unit, count in demand)
        return {unit: need for unit, need in needs if need > 0}

    def over(self, share: str, unit: str) -> int:
        """Return what `share` uses of `unit` beyond its capacity limit, in instances."""
        account = self._accounts[share][unit]
        return max(0, account.use - account.limit)

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        return [unit for unit, account in self._accounts[share].items() if account.use > account.ceiling]

    def use(self, share: str, unit: str) -> int:
        """Return what the holding jobs of `share` demand of `unit`, in instances."""
        return self._accounts[share][unit].use

    def borrowed(self, unit: str) -> int:
        """Return B of `unit`: what all shares use beyond their limits, in instances."""
        return self._pools[unit].borrowed

    def lendable(self, unit: str) -> int:
        """Return L of `unit`: what lending shares leave idle, in instances."""
        return self._pools[unit].lendable

    def total(self, unit: str) -> int:
        """Return what all shares use of `unit`, in instances."""
        return self._pools[unit].total

    def figures(self, share: str, demand: Demand) -> tuple[Figures, ...]:
        """Return the figures of `share` for each unit of a demand."""
        accounts = self._accounts[share]
        figures = []
        for unit, _ in demand:
            account = accounts[unit]
            pool = account.pool
            figures.append(
                Figures(
                    unit,
                    account.use,
                    account.limit,
                    pool.total,
                    pool.capacity,
                    pool.borrowed,
                    pool.lendable,
                )
            )
        return tuple(figures)
