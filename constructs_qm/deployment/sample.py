"""The YAML of AWS's published sample for quota management, taken over into a deployment.

Its form: ``queues: [{name, type, priority, service_environment: {name, capacity_limits}, scheduling_policy,
quota_shares: [{name, capacity_limits, sharing_strategy, borrow_limit, in_share_preemption}]}]``.
"""

from __future__ import annotations

from typing import Any

from quota_scheduler import DocumentError
from quota_scheduler.policy_document import require_mapping

__all__ = ["import_sample"]

QUOTA_MANAGEMENT = "quota-management"


def import_sample(data: Any, *, team: str, region: str, account: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return a deployment document, and what wasn't taken over.

    Parameters
    ----------
    data : object
        The sample's YAML, loaded.
    team, region : str
        Where its queues go.
    account : str, optional

    Raises
    ------
    DocumentError
        It has another form, or no quota-management queue.
    """
    queues = require_mapping(data, "sample").get("queues")
    if not isinstance(queues, list):
        raise DocumentError("sample has no list of queues: give queues: [{name, type, …}]")
    taken, left = [], []
    for index, entry in enumerate(queues):
        queue = require_mapping(entry, f"queues[{index}]")
        if queue.get("type") == QUOTA_MANAGEMENT:
            taken.append(_queue(queue, f"queues[{index}]"))
        else:
            left.append(f"queue {queue.get('name', index)!r} of type {queue.get('type')!r}")
    if not taken:
        raise DocumentError(f"no queue of type {QUOTA_MANAGEMENT} ({', '.join(left) or 'no queue'})")
    place = {} if account is None else {"account": account}
    return {"version": 1, "teams": {team: {**place, "regions": {region: {"queues": taken}}}}}, left


def _queue(queue: Any, where: str) -> dict[str, Any]:
    environment = require_mapping(_given(queue, "service_environment", where), f"{where}.service_environment")
    shares = queue.get("quota_shares") or []
    if not isinstance(shares, list):
        raise DocumentError(f"{where}.quota_shares is {type(shares).__name__}: give a list")
    priority = {"priority": queue["priority"]} if "priority" in queue else {}
    return {
        "name": _given(queue, "name", where),
        **priority,
        "environment": _limits(environment, f"{where}.service_environment"),
        "shares": [_share(share, f"{where}.quota_shares[{index}]") for index, share in enumerate(shares)],
    }


def _share(entry: Any, where: str) -> dict[str, Any]:
    share = require_mapping(entry, where)
    document: dict[str, Any] = {
        "name": _given(share, "name", where),
        "limits": _limits(share, where),
        "strategy": _given(share, "sharing_strategy", where),
    }
    if share.get("borrow_limit") is not None:
        document["borrowLimit"] = share["borrow_limit"]
    if "in_share_preemption" in share:
        document["inSharePreemption"] = share["in_share_preemption"] in (True, "ENABLED")
    return document


def _limits(owner: Any, where: str) -> dict[str, Any]:
    limits = _given(owner, "capacity_limits", where)
    if not isinstance(limits, list):
        raise DocumentError(f"{where}.capacity_limits is {type(limits).__name__}: give a list")
    entries = [require_mapping(limit, f"{where}.capacity_limits[{index}]") for index, limit in enumerate(limits)]
    return {str(_given(entry, "capacity_unit", where)): _given(entry, "max_capacity", where) for entry in entries}


def _given(mapping: Any, key: str, where: str) -> Any:
    if key not in mapping:
        raise DocumentError(f"{where} has no {key!r}")
    return mapping[key]
