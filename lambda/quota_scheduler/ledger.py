"""Who holds how much of which capacity unit: the sums of contract.md section 1, kept up to date.

Taking or releasing a demand costs the same whatever the number of shares and jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

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


class _Account:
    """One share's part of the ledger."""

    __slots__ = ("ceiling", "lends", "limit", "use")

    def __init__(
        self, limit: dict[str, int], ceiling: dict[str, float], lends: bool, use: dict[str, int]
    ) -> None:
        self.limit = limit
        self.ceiling = ceiling
        self.lends = lends
        self.use = use


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
        self._environment = dict(policy.environment)
        self._accounts = {share.name: _open_account(share, policy, assumptions) for share in policy.shares}
        units = self._environment
        self._total = dict.fromkeys(units, 0)
        self._borrowed = dict.fromkeys(units, 0)
        self._lendable = {unit: self._idle_lent(unit) for unit in units}
        if assumptions.unassigned_capacity_lent:
            for unit, capacity in units.items():
                assigned = sum(account.limit.get(unit, 0) for account in self._accounts.values())
                self._lendable[unit] += max(0, capacity - assigned)

    def _idle_lent(self, unit: str) -> int:
        return sum(account.limit.get(unit, 0) for account in self._accounts.values() if account.lends)

    def copy(self) -> Ledger:
        """Return a ledger to try things on; costs as many steps as there are shares and units."""
        other = Ledger.__new__(Ledger)
        other._environment = self._environment
        other._accounts = {
            name: _Account(account.limit, account.ceiling, account.lends, account.use.copy())
            for name, account in self._accounts.items()
        }
        other._total = self._total.copy()
        other._borrowed = self._borrowed.copy()
        other._lendable = self._lendable.copy()
        return other

    def take(self, share: str, demand: Demand) -> None:
        """Let `share` hold `demand` more."""
        for unit, count in demand:
            self._move(share, unit, count)

    def release(self, share: str, demand: Demand) -> None:
        """Let `share` hold `demand` less."""
        for unit, count in demand:
            self._move(share, unit, -count)

    def _move(self, share: str, unit: str, count: int) -> None:
        account = self._accounts[share]
        before = account.use.get(unit, 0)
        after = before + count
        account.use[unit] = after
        self._total[unit] = self._total.get(unit, 0) + count
        limit = account.limit.get(unit, 0)
        over = max(0, after - limit) - max(0, before - limit)
        self._borrowed[unit] = self._borrowed.get(unit, 0) + over
        if account.lends:
            self._lendable[unit] = self._lendable.get(unit, 0) - (count - over)

    def within_limit(self, share: str, demand: Demand) -> bool:
        """Whether `share` stays within its capacity limits with `demand` more: it is entitled to it."""
        account = self._accounts[share]
        use, limit = account.use, account.limit
        return all(use.get(unit, 0) + count <= limit.get(unit, 0) for unit, count in demand)

    def within_borrow_limit(self, share: str, demand: Demand) -> bool:
        """Whether invariants I2 and I3 hold for `share` with `demand` more."""
        account = self._accounts[share]
        use, ceiling = account.use, account.ceiling
        return all(use.get(unit, 0) + count <= ceiling.get(unit, 0) for unit, count in demand)

    def fits(self, share: str, demand: Demand) -> bool:
        """Whether I1 and I4 hold in every unit of `demand` once `share` holds it too."""
        return all(self._need(share, unit, count) <= 0 for unit, count in demand)

    def shortage(self, share: str, demand: Demand) -> dict[str, int]:
        """Return what must be freed of each unit before `demand` :meth:`fits`, in instances."""
        needs = ((unit, self._need(share, unit, count)) for unit, count in demand)
        return {unit: need for unit, need in needs if need > 0}

    def _need(self, share: str, unit: str, count: int) -> int:
        """``max(B - L', Σ use + d - E)`` of contract.md section 3, step 2."""
        account = self._accounts[share]
        spare = max(0, account.limit.get(unit, 0) - account.use.get(unit, 0))
        over = max(0, count - spare)
        lost = count - over if account.lends else 0
        beyond_lendable = self._borrowed.get(unit, 0) + over - (self._lendable.get(unit, 0) - lost)
        beyond_environment = self._total.get(unit, 0) + count - self._environment.get(unit, 0)
        return max(beyond_lendable, beyond_environment)

    def use(self, share: str, unit: str) -> int:
        """Return what the holding jobs of `share` demand of `unit`, in instances."""
        return self._accounts[share].use.get(unit, 0)

    def over(self, share: str, unit: str) -> int:
        """Return what `share` uses of `unit` beyond its capacity limit, in instances."""
        account = self._accounts[share]
        return max(0, account.use.get(unit, 0) - account.limit.get(unit, 0))

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        account = self._accounts[share]
        return [unit for unit, use in account.use.items() if use > account.ceiling.get(unit, 0)]

    def borrowed(self, unit: str) -> int:
        """Return B of `unit`: what all shares use beyond their limits, in instances."""
        return self._borrowed.get(unit, 0)

    def lendable(self, unit: str) -> int:
        """Return L of `unit`: what lending shares leave idle, in instances."""
        return self._lendable.get(unit, 0)

    def total(self, unit: str) -> int:
        """Return what all shares use of `unit`, in instances."""
        return self._total.get(unit, 0)

    def figures(self, share: str, units: Demand) -> tuple[Figures, ...]:
        """Return the figures of `share` for each unit of a demand."""
        account = self._accounts[share]
        return tuple(
            Figures(
                unit,
                account.use.get(unit, 0),
                account.limit.get(unit, 0),
                self.total(unit),
                self._environment.get(unit, 0),
                self.borrowed(unit),
                self.lendable(unit),
            )
            for unit, _ in units
        )


def _open_account(share: QuotaShare, policy: QuotaPolicy, assumptions: Assumptions) -> _Account:
    limit = dict(share.limits)
    units = policy.environment if assumptions.borrow_without_limit else limit
    ceiling = {unit: limit.get(unit, 0) + share.borrowable(unit) for unit in units}
    lends = share.sharing.lends and (share.enabled or assumptions.disabled_shares_lend)
    return _Account(limit, ceiling, lends, {})
