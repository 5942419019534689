"""Who holds how much of which capacity unit: the sums of contract.md section 1, kept up to date.

Taking or releasing a demand costs the same whatever the number of shares and jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

__all__ = ["Account", "Figures", "Ledger", "Pool", "Request", "Standing"]


class Figures(NamedTuple):
    """What the ledger says of one share and unit, in instances."""

    unit: str
    use: int
    limit: int
    environment_use: int
    environment: int
    borrowed: int
    lendable: int


class Standing(NamedTuple):
    """How a share stands in one capacity unit, in instances.

    Attributes
    ----------
    unit : str
    use, limit : int
    ceiling : float
        The most it may use, borrowing included; infinite without a borrow limit.
    borrowed : int
        What it uses beyond its limit.
    idle : int
        What it leaves of its limit.
    lends : bool
        Whether others may use what it leaves idle.
    lent : float
        What others use of it: of all that is borrowed, its part of all that is lendable.
    """

    unit: str
    use: int
    limit: int
    ceiling: float
    borrowed: int
    idle: int
    lends: bool
    lent: float


class Pool:
    """One capacity unit over all shares.

    Attributes
    ----------
    unit : str
    accounts : list of Account
        The shares' parts of it.
    capacity : int
        E of the unit, in instances.
    free : int
        ``E - Σ use``, which I1 keeps from falling below 0.
    spare : int
        ``L - B``, which I4 keeps from falling below 0.
    wished : float
        The least that has to be both free and spare for a job that waits for it (``attention.py``).
    """

    __slots__ = ("accounts", "capacity", "free", "spare", "unit", "wished")

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.accounts: list[Account] = []
        self.capacity = 0
        self.free = 0
        self.spare = 0
        self.wished: float = float("inf")

    @property
    def borrowed(self) -> int:
        """B: what all shares use beyond their limits; seldom asked for, so it is counted anew."""
        return sum([account.use - account.limit for account in self.accounts if account.use > account.limit])


class Account:
    """One share's part of one capacity unit, all in instances.

    Attributes
    ----------
    pool : Pool
    use : int
        What the share's holding jobs demand.
    limit : int
        The share's capacity limit.
    ceiling : float
        The most the share may use, borrowing included (I2 and I3).
    lends : bool
        Whether others may use what the share leaves idle.
    """

    __slots__ = ("ceiling", "lends", "limit", "pool", "use")

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.use = 0
        self.limit = 0
        self.ceiling = 0.0
        self.lends = False

    @property
    def over(self) -> int:
        """What the share uses beyond its limit."""
        return max(0, self.use - self.limit)

    @property
    def idle(self) -> int:
        """What the share leaves of its limit."""
        return max(0, self.limit - self.use)

    def need(self, count: int) -> int:
        """Return ``max(B - L', Σ use + d - E)`` of contract.md section 3, step 2."""
        pool = self.pool
        borrowed = count if self.lends else min(count, max(0, self.use + count - self.limit))
        beyond_lendable = borrowed - pool.spare
        beyond_environment = count - pool.free
        return beyond_lendable if beyond_lendable > beyond_environment else beyond_environment


class Request:
    """A demand of a share, as the ledger counts it.

    Parameters
    ----------
    parts : tuple of (Account, int)
        The share's account of each unit, and how many instances of it are asked for.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[tuple[Account, int], ...]) -> None:
        self.parts = parts

    def hold(self, times: int) -> None:
        """Let the share hold the demand `times` more: 1 takes it, -1 gives it up."""
        for account, count in self.parts:
            change = times * count
            pool = account.pool
            pool.free -= change
            if account.lends:
                # what a lender takes either adds to what is borrowed or is no longer lendable
                pool.spare -= change
                account.use += change
            else:
                over = account.over
                account.use += change
                pool.spare -= account.over - over

    def within_limit(self) -> bool:
        """Whether the share is entitled to the demand: it stays within its capacity limits with it."""
        for account, count in self.parts:  # noqa: SIM110 - asked at every look, where a generator costs more
            if account.use + count > account.limit:
                return False
        return True

    def can_borrow(self) -> bool:
        """Whether I1, I2, I3 and I4 hold in every unit of the demand once the share holds it beyond its limits."""
        for account, count in self.parts:
            if account.use + count > account.ceiling or account.need(count) > 0:
                return False
        return True

    def fits(self) -> bool:
        """Whether I1 and I4 hold in every unit of the demand once the share holds it too."""
        for account, count in self.parts:
            pool = account.pool
            if count > pool.free:
                return False
            if account.lends:
                if count > pool.spare:
                    return False
            elif account.need(count) > 0:
                return False
        return True

    def shortage(self) -> dict[str, int]:
        """Return what must be freed of each unit before the demand :meth:`fits`, in instances."""
        return {account.pool.unit: need for account, count in self.parts if (need := account.need(count)) > 0}


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
        self._assumptions = assumptions
        self._pools: dict[str, Pool] = {}
        self._accounts: dict[str, dict[str, Account]] = {}
        self.adopt(policy)

    def adopt(self, policy: QuotaPolicy) -> None:
        """Put `policy` in force: every share goes on using what it uses, and the rest is counted anew."""
        self._accounts = {share.name: self._accounts.get(share.name, {}) for share in policy.shares}
        for unit in policy.environment:  # also those that no share has a part of
            self._pool(unit)
        for share in policy.shares:
            for unit in {**policy.environment, **share.limits, **self._accounts[share.name]}:
                self._set_terms(share, unit)
        for unit, pool in self._pools.items():
            pool.accounts = [accounts[unit] for accounts in self._accounts.values() if unit in accounts]
            pool.capacity = policy.environment.get(unit, 0)
            pool.free = pool.capacity - sum(account.use for account in pool.accounts)
            pool.spare = sum(a.limit - a.use if a.lends else -a.over for a in pool.accounts)
            if self._assumptions.unassigned_capacity_lent:
                pool.spare += max(0, pool.capacity - sum(account.limit for account in pool.accounts))

    def copy(self, other: Ledger) -> None:
        """Count what `other`, a ledger under the same policy, counts."""
        for share, accounts in other._accounts.items():
            for unit, account in accounts.items():
                own = self._account(share, unit)
                own.use = account.use
                own.pool.free, own.pool.spare = account.pool.free, account.pool.spare

    def _set_terms(self, share: QuotaShare, unit: str) -> None:
        account = self._account(share.name, unit)
        account.lends = share.sharing.lends and (share.enabled or self._assumptions.disabled_shares_lend)
        account.limit = share.limits.get(unit, 0)
        account.ceiling = float(account.limit)
        if unit in share.limits or self._assumptions.borrow_without_limit:
            account.ceiling += share.borrowable(unit)

    def _account(self, share: str, unit: str) -> Account:
        """Return an account; a unit the policy doesn't name has no limit and no capacity."""
        accounts = self._accounts[share]
        account = accounts.get(unit)
        if account is None:
            pool = self._pool(unit)
            account = accounts[unit] = Account(pool)
            pool.accounts.append(account)
        return account

    def _pool(self, unit: str) -> Pool:
        pool = self._pools.get(unit)
        if pool is None:
            pool = self._pools[unit] = Pool(unit)
        return pool

    def request(self, share: str, demand: Demand) -> Request:
        """Return `demand` of `share`, to ask about, take and release; it stays valid under other policies."""
        return Request(tuple((self._account(share, unit), count) for unit, count in demand))

    def take(self, share: str, demand: Demand) -> None:
        """Let `share` hold `demand` more."""
        self.request(share, demand).hold(1)

    def within_limit(self, share: str, demand: Demand) -> bool:
        """Whether `share` stays within its capacity limits with `demand` more: it is entitled to it."""
        return self.request(share, demand).within_limit()

    def fits(self, share: str, demand: Demand) -> bool:
        """Whether I1 and I4 hold in every unit of `demand` once `share` holds it too."""
        return self.request(share, demand).fits()

    def shortage(self, share: str, demand: Demand) -> dict[str, int]:
        """Return what must be freed of each unit before I1 and I4 hold with `demand` too, in instances."""
        return self.request(share, demand).shortage()

    def over(self, share: str, unit: str) -> int:
        """Return what `share` uses of `unit` beyond its capacity limit, in instances."""
        account = self._accounts[share].get(unit)
        return account.over if account is not None else 0

    def over_ceiling(self, share: str) -> list[str]:
        """Return the units of which `share` uses more than I2 or I3 allow."""
        return [unit for unit, account in self._accounts[share].items() if account.use > account.ceiling]

    def use(self, share: str, unit: str) -> int:
        """Return what the holding jobs of `share` demand of `unit`, in instances."""
        account = self._accounts[share].get(unit)
        return account.use if account is not None else 0

    def standings(self, share: str) -> list[Standing]:
        """Return how `share` stands in every unit that it has a limit for or uses."""
        return [
            Standing(
                unit,
                account.use,
                account.limit,
                account.ceiling,
                account.over,
                account.idle,
                account.lends,
                self._lent(account),
            )
            for unit, account in self._accounts[share].items()
            if account.limit or account.use
        ]

    def _lent(self, account: Account) -> float:
        """Return its part of what is lent: all of it where more is borrowed than lendable, as after a lowered limit."""
        if not account.lends or not account.idle:
            return 0.0
        lendable = self.lendable(account.pool.unit)
        return account.idle * min(account.pool.borrowed, lendable) / lendable

    def borrowed(self, unit: str) -> int:
        """Return B of `unit`: what all shares use beyond their limits, in instances."""
        return self._pools[unit].borrowed

    def lendable(self, unit: str) -> int:
        """Return L of `unit`: what lending shares leave idle, in instances."""
        pool = self._pools[unit]
        return pool.borrowed + pool.spare

    def total(self, unit: str) -> int:
        """Return what all shares use of `unit`, in instances."""
        pool = self._pools[unit]
        return pool.capacity - pool.free

    def figures(self, request: Request) -> tuple[Figures, ...]:
        """Return the figures of the share for each unit of its demand."""
        figures = []
        for account, _ in request.parts:
            pool = account.pool
            use, borrowed = pool.capacity - pool.free, pool.borrowed
            lendable = borrowed + pool.spare
            figures.append(Figures(pool.unit, account.use, account.limit, use, pool.capacity, borrowed, lendable))
        return tuple(figures)
