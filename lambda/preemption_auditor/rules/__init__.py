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
)

if TYPE_CHECKING:
    from preemption_auditor.verdicts import Rule

__all__ = ["RULES"]

RULES: tuple[Rule[Any], ...] = tuple(
    module.RULE
    for module in (
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
    )
)
"""In order of their ids."""
