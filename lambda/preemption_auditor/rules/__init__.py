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
)

if TYPE_CHECKING:
    from preemption_auditor.verdicts import Rule

__all__ = ["RULES"]

RULES: tuple[Rule[Any], ...] = (
    qm_a01_transitions.RULE,
    qm_a02_environment.RULE,
    qm_a03_capacity_limit.RULE,
    qm_a04_borrow_limit.RULE,
    qm_a05_reserved_lent.RULE,
    qm_a06_protected_victim.RULE,
    qm_a07_nobody_entitled.RULE,
    qm_a08_in_share_disabled.RULE,
    qm_a09_no_higher_priority.RULE,
    qm_a10_retries.RULE,
)
"""In order of their ids."""
