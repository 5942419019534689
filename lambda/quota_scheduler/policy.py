"""The quota policy as a value: an environment's capacity and the shares that divide it.

Everything here is frozen. A value that could never be legal raises
:class:`~quota_scheduler.exceptions.PolicyError` when it is made; whether a whole
policy makes sense is asked with :func:`quota_scheduler.policy_rules.check_policy`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from quota_scheduler.exceptions import PolicyError
from quota_scheduler.value_rules import check_limits, check_name, check_sharing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

__all__ = ["UNLIMITED", "QuotaPolicy", "QuotaShare", "ResourceSharing", "SharingStrategy"]

UNLIMITED = -1
"""Borrow limit of a share that may borrow all there is to borrow (AWS Batch's default)."""


class SharingStrategy(str, Enum):
    """What a quota share does with capacity it doesn't use (facts.md, quota share)."""

    RESERVE = "RESERVE"
    LEND = "LEND"
    LEND_AND_BORROW = "LEND_AND_BORROW"


@dataclass(frozen=True)
class ResourceSharing:
    """Sharing strategy of a quota share, with the borrow limit only one of them has.

    Prefer the three makers, with which an illegal combination can't be written.

    Parameters
    ----------
    strategy : SharingStrategy or str
        ``RESERVE``, ``LEND`` or ``LEND_AND_BORROW``.
    borrow_limit : int, optional
        Percent of each capacity limit, -1 for unlimited; only with
        ``LEND_AND_BORROW``, where it defaults to -1.

    Raises
    ------
    PolicyError
        QM006, for a borrow limit below -1 or one without ``LEND_AND_BORROW``.

    Examples
    --------
    >>> ResourceSharing.lend_and_borrow(limit_percent=200).borrow_limit
    200
    """

    strategy: SharingStrategy
    borrow_limit: int | None = None

    def __post_init__(self) -> None:
        findings = list(check_sharing(self.strategy, self.borrow_limit))
        if findings:
            raise PolicyError(findings)
        strategy = SharingStrategy(self.strategy)
        object.__setattr__(self, "strategy", strategy)
        if strategy is SharingStrategy.LEND_AND_BORROW and self.borrow_limit is None:
            object.__setattr__(self, "borrow_limit", UNLIMITED)

    @classmethod
    def reserve(cls) -> Self:
        """Keep idle capacity until the share's own jobs need it."""
        return cls(SharingStrategy.RESERVE)

    @classmethod
    def lend(cls) -> Self:
        """Lend idle capacity; never borrow."""
        return cls(SharingStrategy.LEND)

    @classmethod
    def lend_and_borrow(cls, *, limit_percent: int = UNLIMITED) -> Self:
        """Lend idle capacity and borrow that of others.

        Parameters
        ----------
        limit_percent : int
            How much may be borrowed, in percent of each capacity limit of the
            share; 200 allows three times the limit in use, -1 sets no limit.
        """
        return cls(SharingStrategy.LEND_AND_BORROW, limit_percent)

    @property
    def lends(self) -> bool:
        """Whether other shares may use this share's idle capacity."""
        return self.strategy is not SharingStrategy.RESERVE

    @property
    def borrows(self) -> bool:
        """Whether this share may use other shares' idle capacity."""
        return self.strategy is SharingStrategy.LEND_AND_BORROW


@dataclass(frozen=True)
class QuotaShare:
    """One quota share of a job queue.

    Parameters
    ----------
    name : str
        1 to 128 characters of ``A-Z a-z 0-9 - _``.
    limits : mapping of str to int
        Capacity limit in instances for each of 1 to 5 capacity units (instance types).
    sharing : ResourceSharing
        Sharing strategy and borrow limit.
    in_share_preemption : bool
        Whether a higher-priority job may preempt lower-priority jobs of this share.
    enabled : bool
        Whether the share takes new jobs (``state`` ENABLED).

    Raises
    ------
    PolicyError
        QM001, QM002 or QM003.
    """

    name: str
    limits: Mapping[str, int]
    sharing: ResourceSharing = field(default_factory=ResourceSharing.reserve)
    in_share_preemption: bool = False
    enabled: bool = True

    def __post_init__(self) -> None:
        findings = list(check_name(self.name, "quota share name"))
        findings += [f.under(f"shares.{self.name}.limits") for f in check_limits(self.limits)]
        if findings:
            raise PolicyError(findings)
        object.__setattr__(self, "limits", MappingProxyType(dict(self.limits)))

    def __deepcopy__(self, memo: object) -> QuotaShare:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return QuotaShare, (self.name, dict(self.limits), self.sharing, self.in_share_preemption, self.enabled)

    def borrowable(self, unit: str) -> float:
        """Return how many instances of `unit` the borrow limit allows beyond the capacity limit.

        ``inf`` where the borrow limit is unlimited, 0 for a share that doesn't borrow
        (contract.md section 1, I3: the percentage is rounded down).
        """
        if not self.sharing.borrows:
            return 0
        percent = self.sharing.borrow_limit
        if percent is None or percent == UNLIMITED:
            return float("inf")
        return self.limits.get(unit, 0) * percent // 100


@dataclass(frozen=True)
class QuotaPolicy:
    """Capacity of a service environment and the quota shares that divide it.

    Parameters
    ----------
    environment : mapping of str to int
        Capacity in instances for each of 1 to 5 capacity units.
    shares : tuple of QuotaShare
        In any order; the order has no meaning to the scheduler.

    Raises
    ------
    PolicyError
        QM002 or QM003 for the environment's capacity. Rules over the whole are not
        raised here: a deployed policy can break them for a while, and the scheduler
        must go on.
    """

    environment: Mapping[str, int]
    shares: tuple[QuotaShare, ...] = ()

    def __post_init__(self) -> None:
        findings = [f.under("environment") for f in check_limits(self.environment)]
        if findings:
            raise PolicyError(findings)
        object.__setattr__(self, "environment", MappingProxyType(dict(self.environment)))
        object.__setattr__(self, "shares", tuple(self.shares))

    def __deepcopy__(self, memo: object) -> QuotaPolicy:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return QuotaPolicy, (dict(self.environment), self.shares)

    def share(self, name: str) -> QuotaShare:
        """Return the share called `name`; raises KeyError where there is none."""
        for share in self.shares:
            if share.name == name:
                return share
        raise KeyError(name)

    def with_share(self, share: QuotaShare) -> QuotaPolicy:
        """Return this policy with `share` in place of the one of the same name, or added."""
        if any(old.name == share.name for old in self.shares):
            shares = tuple(share if old.name == share.name else old for old in self.shares)
        else:
            shares = (*self.shares, share)
        return QuotaPolicy(self.environment, shares)

    def without_share(self, name: str) -> QuotaPolicy:
        """Return this policy without the share called `name`."""
        return QuotaPolicy(self.environment, tuple(s for s in self.shares if s.name != name))
