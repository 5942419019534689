"""QM-A03: a share that doesn't borrow never uses more than its capacity limit (I2)."""

from __future__ import annotations

from preemption_auditor.moments import Dispatch
from preemption_auditor.rules.dispatches import Excess, ceiling, judge_units, share_in
from preemption_auditor.verdicts import Kind, Rule

__all__ = ["RULE"]


def _excess(dispatch: Dispatch, share: str, unit: str) -> Excess | None:
    policies = dispatch.queue.policies(dispatch.at)
    latest = share_in(policies[-1], share)
    use = dispatch.holding.use(share, unit)
    if latest is None or latest.sharing.borrows or use <= max(ceiling(policy, share, unit) for policy in policies):
        return None
    limit = latest.limits.get(unit, 0)
    return Excess(
        expected=f"at most {limit} {unit} in use by {share}, its capacity limit ({latest.sharing.strategy.value})",
        seen=f"{share} uses {use} {unit}",
        limit=limit,
    )


RULE = Rule(
    id="QM-A03",
    kind=Kind.VIOLATION,
    judges=Dispatch,
    proves="a job of a RESERVE or LEND share was dispatched beyond the share's capacity limit",
    evidence="the share's jobs that surely held at that moment; its limit and strategy then. Jobs that were there "
    "before the limit was lowered don't count as a breach, a dispatch on top of them does",
    source="quota-shares; contract I2",
    judge=lambda dispatch: judge_units(dispatch, _excess),
)
