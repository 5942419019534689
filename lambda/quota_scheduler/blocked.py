"""Jobs that can never run: the reasons of contract.md section 4, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quota_scheduler.assumptions import Assumptions
    from quota_scheduler.demand import Demand
    from quota_scheduler.policy import QuotaPolicy, QuotaShare

__all__ = ["BlockedReason", "blocked_reason"]

_LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job "


class BlockedReason:
    """Texts AWS Batch shows as ``statusReason`` (sm_job_stuck_in_runnable_misconfiguration)."""

    ENVIRONMENT = (
        "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the "
        "job queue cannot meet the capacity requirement of the job."
    )
    LIMIT = _LIMIT_EXCEEDED + "requirements exceed quota share capacity limits."
    BORROW_LIMIT = _LIMIT_EXCEEDED + "requirements exceed quota share capacity limits and borrow limits."
    BORROWABLE = _LIMIT_EXCEEDED + "requires borrowing that exceeds all configured borrowable capacity."
    INSUFFICIENT_CAPACITY = (
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - SageMaker does not have the capacity the job asks for."
    )
    """Prefix documented; the text after it is ours."""


def blocked_reason(policy: QuotaPolicy, assumptions: Assumptions, share: QuotaShare, demand: Demand) -> str | None:
    """Return why a job with `demand` can never run in `share`, or None where it could.

    Parameters
    ----------
    policy : QuotaPolicy
    assumptions : Assumptions
        A2, A3 and A4 change what can be borrowed.
    share : QuotaShare
        One of the policy's.
    demand : Demand
        Instances per unit.
    """
    if any(count > policy.environment.get(unit, 0) for unit, count in demand):
        return BlockedReason.ENVIRONMENT
    beyond = {unit: count - share.limits.get(unit, 0) for unit, count in demand}
    if all(borrowed <= 0 for borrowed in beyond.values()):
        return None
    if not share.sharing.borrows:
        return BlockedReason.LIMIT
    for unit, borrowed in beyond.items():
        no_limit = unit not in share.limits and not assumptions.borrow_without_limit
        if borrowed > 0 and (no_limit or borrowed > share.borrowable(unit)):
            return BlockedReason.BORROW_LIMIT
    if any(borrowed > _ever_lent(policy, assumptions, share, unit) for unit, borrowed in beyond.items()):
        return BlockedReason.BORROWABLE
    return None


def _ever_lent(policy: QuotaPolicy, assumptions: Assumptions, borrower: QuotaShare, unit: str) -> int:
    lent = sum(
        share.limits.get(unit, 0)
        for share in policy.shares
        if share.name != borrower.name and share.sharing.lends and (share.enabled or assumptions.disabled_shares_lend)
    )
    if assumptions.unassigned_capacity_lent:
        assigned = sum(share.limits.get(unit, 0) for share in policy.shares)
        lent += max(0, policy.environment.get(unit, 0) - assigned)
    return lent
