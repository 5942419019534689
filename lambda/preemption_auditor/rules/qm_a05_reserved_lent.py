"""QM-A05: only idle capacity of shares that lend is borrowed (I4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Dispatch
from preemption_auditor.rules.dispatches import Excess, demanded, judge_units
from preemption_auditor.verdicts import Kind, Rule

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy

__all__ = ["RULE"]


def _excess(dispatch: Dispatch, share: str, unit: str) -> Excess | None:
    excesses = [_under(dispatch, policy, share, unit) for policy in dispatch.queue.policies(dispatch.at)]
    mildest = min(excesses, key=lambda excess: (excess is not None, excess is not None and not excess.assumed))
    return mildest


def _under(dispatch: Dispatch, policy: QuotaPolicy, share: str, unit: str) -> Excess | None:
    """Return what is borrowed beyond what is lendable under one version of the policy."""
    book = dispatch.holding
    borrowed = lendable = assigned = 0
    for other in policy.shares:
        limit, use = other.limits.get(unit, 0), book.use(other.name, unit)
        assigned += limit
        borrowed += max(0, use - limit)
        if other.sharing.lends:
            lendable += max(0, limit - use)
    if borrowed <= lendable or not _worsened(dispatch, policy, share, unit):
        return None
    unassigned = max(0, policy.environment.get(unit, 0) - assigned)
    assumed = borrowed <= lendable + unassigned
    return Excess(
        expected=f"at most {lendable} {unit} borrowed, what lending shares leave idle"
        + (" (capacity that no share was given isn't lent: assumption A2)" if assumed else ""),
        seen=f"{borrowed} {unit} borrowed",
        limit=book.total(unit) - 1,
        by_share=False,
        assumed=assumed,
    )


def _worsened(dispatch: Dispatch, policy: QuotaPolicy, share: str, unit: str) -> bool:
    """Whether what `share` got now is borrowed, or was lendable before; else a lowered limit is the cause."""
    own = next((other for other in policy.shares if other.name == share), None)
    if own is None:
        return False
    before = dispatch.holding.use(share, unit) - demanded(dispatch, share, unit)
    return own.sharing.lends or before + demanded(dispatch, share, unit) > own.limits.get(unit, 0)


RULE = Rule(
    id="QM-A05",
    kind=Kind.VIOLATION,
    judges=Dispatch,
    proves="after a dispatch more was borrowed than lending shares left idle: reserved capacity was lent",
    evidence="the jobs that surely held in every share; all limits and strategies then. Where capacity that no "
    "share was given would have sufficed, a divergence from assumption A2",
    source="quota-shares (RESERVE never lends); contract I4",
    judge=lambda dispatch: judge_units(dispatch, _excess),
)
