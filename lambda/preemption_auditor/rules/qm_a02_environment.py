"""QM-A02: jobs together never hold more than the service environment has (I1)."""

from __future__ import annotations

from preemption_auditor.moments import Dispatch
from preemption_auditor.rules.dispatches import Excess, judge_units
from preemption_auditor.verdicts import Kind, Rule

__all__ = ["RULE"]


def _excess(dispatch: Dispatch, share: str, unit: str) -> Excess | None:
    use = dispatch.holding.total(unit)
    capacity = max(policy.environment.get(unit, 0) for policy in dispatch.queue.policies(dispatch.at))
    if use <= capacity:
        return None
    return Excess(
        expected=f"at most {capacity} {unit} in use, the service environment's capacity",
        seen=f"{use} {unit} in use",
        limit=capacity,
        by_share=False,
    )


RULE = Rule(
    id="QM-A02",
    kind=Kind.VIOLATION,
    judges=Dispatch,
    proves="a job was dispatched although the service environment's capacity was taken",
    evidence="the jobs that surely held at that moment, with their demands; the environment's capacity then",
    source="create-quota-management-resources; contract I1",
    judge=lambda dispatch: judge_units(dispatch, _excess),
)
