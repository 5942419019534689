"""The audit rules, one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preemption_auditor.rules import (
    qm_a01_transitions,
    qm_a02_environment,
    qm_a03_capacity_limit,
    qm_a04_borrow_limit,
    qm_a05_reserved_lent,
    qm_a06_protected_victim,
    qm_a07_nobody_entitled,
    qm_a08_in_share_disabled,
    qm_a09_no_higher_priority,
    qm_a10_retries,
    qm_a11_lent_not_returned,
    qm_a12_free_not_used,
    qm_a13_priority_order,
    qm_a14_blocked_reason,
    qm_a15_drift,
    qm_d01_other_victims,
    qm_d02_more_than_needed,
    qm_d03_idle_not_lent,
    qm_d04_borrowers_order,
    qm_q01_duplicate,
    qm_q02_late,
    qm_q03_missing,
    qm_q04_unreadable,
    qm_q05_unknown_job,
    qm_q06_unknown_share,
    qm_q07_unlogged_edit,
)

if TYPE_CHECKING:
    from preemption_auditor.verdicts import Rule

__all__ = ["RULES", "TITLES"]

_MODULES = (
    qm_a01_transitions,
    qm_a02_environment,
    qm_a03_capacity_limit,
    qm_a04_borrow_limit,
    qm_a05_reserved_lent,
    qm_a06_protected_victim,
    qm_a07_nobody_entitled,
    qm_a08_in_share_disabled,
    qm_a09_no_higher_priority,
    qm_a10_retries,
    qm_a11_lent_not_returned,
    qm_a12_free_not_used,
    qm_a13_priority_order,
    qm_a14_blocked_reason,
    qm_a15_drift,
    qm_d01_other_victims,
    qm_d02_more_than_needed,
    qm_d03_idle_not_lent,
    qm_d04_borrowers_order,
    qm_q01_duplicate,
    qm_q02_late,
    qm_q03_missing,
    qm_q04_unreadable,
    qm_q05_unknown_job,
    qm_q06_unknown_share,
    qm_q07_unlogged_edit,
)

RULES: tuple[Rule[Any], ...] = tuple(module.RULE for module in _MODULES)
"""In order of their ids within each kind."""

TITLES: dict[str, str] = {
    module.RULE.id: (module.__doc__ or "").partition(": ")[2].partition("\n")[0] for module in _MODULES
}
"""What each rule is about, in one line."""
