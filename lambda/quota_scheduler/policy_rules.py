"""Rules over a whole policy: QM004, QM005 and QM009 to QM012 of contract.md section 6."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from quota_scheduler.findings import Finding, Level
from quota_scheduler.policy import UNLIMITED, QuotaPolicy, QuotaShare

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_SHARES", "check_policy"]

MAX_SHARES = 20
"""Quota shares a job queue may have (facts.md, quota share)."""


def check_policy(policy: QuotaPolicy) -> list[Finding]:
    """Check a policy as a whole.

    Parameters
    ----------
    policy : QuotaPolicy
        Its single values were checked when they were made.

    Returns
    -------
    list of Finding
        Empty for a policy with nothing to say about; errors and warnings in order of their rule id.
    """
    rules = (
        _too_many_or_equal_names,
        _limit_beyond_environment,
        _limits_add_up_to_more,
        _capacity_out_of_reach,
        _nobody_to_borrow_from,
        _borrow_limit_without_effect,
    )
    return [finding for rule in rules for finding in rule(policy)]


def _too_many_or_equal_names(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM004."""
    if len(policy.shares) > MAX_SHARES:
        message = f"{len(policy.shares)} quota shares in one job queue: at most {MAX_SHARES} are allowed"
        yield Finding("QM004", Level.ERROR, message, "shares")
    for name, count in Counter(share.name for share in policy.shares).items():
        if count > 1:
            message = f"{count} quota shares are called {name}: names are unique in a job queue"
            yield Finding("QM004", Level.ERROR, message, f"shares.{name}")


def _limit_beyond_environment(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM005."""
    for share in policy.shares:
        for unit, limit in share.limits.items():
            path = f"shares.{share.name}.limits.{unit}"
            capacity = policy.environment.get(unit)
            if capacity is None:
                units = ", ".join(policy.environment)
                message = f"the service environment has no {unit}: use one of {units} or add it there"
                yield Finding("QM005", Level.ERROR, message, path)
            elif limit > capacity:
                message = (
                    f"capacity limit {limit} of {unit} is above the service environment's {capacity}: "
                    "lower it or raise the environment's"
                )
                yield Finding("QM005", Level.ERROR, message, path)


def _limits_add_up_to_more(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM009."""
    for unit, capacity in policy.environment.items():
        assigned = sum(share.limits.get(unit, 0) for share in policy.shares)
        if assigned > capacity:
            message = (
                f"capacity limits of {unit} add up to {assigned}, the service environment has {capacity}: "
                "a job within its share's limit may have to wait although nobody borrows"
            )
            yield Finding("QM009", Level.WARNING, message, f"environment.{unit}")


def _capacity_out_of_reach(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM010; capacity given to no share can't be borrowed either (assumption A2)."""
    for unit, capacity in policy.environment.items():
        assigned = sum(share.limits.get(unit, 0) for share in policy.shares)
        if policy.shares and assigned < capacity:
            message = (
                f"{capacity - assigned} of {capacity} {unit} are in no share's capacity limit: "
                "no job can use them; raise a share's limit or lower the environment's"
            )
            yield Finding("QM010", Level.WARNING, message, f"environment.{unit}")


def _nobody_to_borrow_from(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM011."""
    for share in policy.shares:
        if share.sharing.borrows and not any(_borrowable_from_others(policy, share).values()):
            units = ", ".join(share.limits)
            message = f"LEND_AND_BORROW, but no other share lends {units}: use LEND, or let another share lend"
            yield Finding("QM011", Level.WARNING, message, f"shares.{share.name}.sharing")


def _borrow_limit_without_effect(policy: QuotaPolicy) -> Iterator[Finding]:
    """QM012; only where it holds for every unit, since one percentage serves them all."""
    for share in policy.shares:
        percent = share.sharing.borrow_limit
        offered = _borrowable_from_others(policy, share)
        if percent is None or percent == UNLIMITED or not any(offered.values()):
            continue
        if all(share.borrowable(unit) > others for unit, others in offered.items()):
            most = ", ".join(f"{others} {unit}" for unit, others in offered.items())
            message = f"borrow limit {percent} % is more than the other shares could ever lend ({most})"
            yield Finding("QM012", Level.WARNING, message, f"shares.{share.name}.sharing")


def _borrowable_from_others(policy: QuotaPolicy, borrower: QuotaShare) -> dict[str, int]:
    """Return, for each unit of the borrower, the limits of all other shares that lend."""
    return {
        unit: sum(
            share.limits.get(unit, 0) for share in policy.shares if share.name != borrower.name and share.sharing.lends
        )
        for unit in borrower.limits
    }
