"""QM-A04: a share never borrows more than its borrow limit (I3)."""

from __future__ import annotations

from preemption_auditor.moments import Dispatch
from preemption_auditor.rules.dispatches import Excess, ceiling, judge_units, share_in
from preemption_auditor.verdicts import Kind, Rule
from quota_scheduler import UNLIMITED

__all__ = ["RULE"]


def _excess(dispatch: Dispatch, share: str, unit: str) -> Excess | None:
    policies = dispatch.queue.policies(dispatch.at)
    latest = share_in(policies[-1], share)
    use = dispatch.holding.use(share, unit)
    if latest is None or not latest.sharing.borrows or use <= max(ceiling(policy, share, unit) for policy in policies):
        return None
    limit = latest.limits.get(unit, 0)
    most = int(ceiling(policies[-1], share, unit))
    if unit not in latest.limits and latest.sharing.borrow_limit == UNLIMITED:
        return Excess(
            expected=f"no {unit} in use by {share}, which has no limit for it (assumption A3)",
            seen=f"{share} uses {use} {unit}",
            limit=0,
            assumed=True,
        )
    return Excess(
        expected=f"at most {most} {unit} in use by {share}: capacity limit {limit} and "
        f"{latest.sharing.borrow_limit} % of it",
        seen=f"{share} uses {use} {unit}",
        limit=most,
    )


RULE = Rule(
    id="QM-A04",
    kind=Kind.VIOLATION,
    judges=Dispatch,
    proves="a job of a LEND_AND_BORROW share was dispatched beyond capacity limit and borrow limit",
    evidence="the share's jobs that surely held at that moment; its limits then. Where the share has no limit for "
    "the unit and borrows without limit, a divergence from assumption A3",
    source="quota-shares, API CreateQuotaShare; contract I3",
    judge=lambda dispatch: judge_units(dispatch, _excess),
)
