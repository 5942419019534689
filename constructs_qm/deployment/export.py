"""A deployed queue taken over into a deployment document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constructs_qm.validation.declared import DeclaredQueue, DeclaredShare

__all__ = ["export_queue"]


def export_queue(queue: DeclaredQueue, *, team: str, region: str, account: str | None = None) -> dict[str, Any]:
    """Return the deployment document of one queue.

    Parameters
    ----------
    queue : DeclaredQueue
        As :mod:`constructs_qm.validation.deployed_reader` reads it.
    team, region : str
    account : str, optional
    """
    limits = {limit.value["Reason"]: limit.value["MaxTimeSeconds"] for limit in queue.time_limits or ()}
    document = {
        "name": queue.name.value,
        "priority": queue.priority.value,
        "environment": dict(queue.environment.limits.pairs) if queue.environment is not None else {},
        "timeLimits": limits,
        "shares": [_share(share) for share in queue.shares],
    }
    place = {} if account is None else {"account": account}
    return {"version": 1, "teams": {team: {**place, "regions": {region: {"queues": [document]}}}}}


def _share(share: DeclaredShare) -> dict[str, Any]:
    document = {
        "name": share.name.value,
        "limits": dict(share.limits.pairs),
        "strategy": share.strategy.value,
        "inSharePreemption": share.in_share_preemption.value == "ENABLED",
    }
    if share.borrow_limit.value is not None:
        document["borrowLimit"] = share.borrow_limit.value
    if share.state.value == "DISABLED":
        document["state"] = "DISABLED"
    return document
