"""Findings of the policy rules as wire errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.local.errors import ClientException
from quota_scheduler.value_rules import check_limits, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quota_scheduler import Finding

__all__ = ["read_limits", "refuse", "require_name"]


def refuse(findings: Iterable[Finding]) -> None:
    """Raise a ClientException that says all `findings`; do nothing where there are none."""
    message = "; ".join(str(finding) for finding in findings)
    if message:
        raise ClientException(message)


def require_name(name: str, what: str) -> str:
    """Return `name` if it is one (QM001)."""
    refuse(check_name(name, what))
    return name


def read_limits(limits: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return ``capacityLimits`` as a map of unit to instances (QM002, QM003)."""
    refuse(check_limits([(limit.get("capacityUnit"), limit.get("maxCapacity")) for limit in limits]))
    return {limit["capacityUnit"]: limit["maxCapacity"] for limit in limits}
