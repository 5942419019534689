"""Policy files, ``environment`` and ``shares``, read into declared queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import (
    DeclaredEnvironment,
    DeclaredQueue,
    DeclaredShare,
    Field,
    Keys,
    Limits,
    Source,
)
from quota_scheduler.policy_form import check_policy_form

if TYPE_CHECKING:
    from pathlib import Path

    from constructs_qm.validation.document import Document

__all__ = ["declare_policy", "is_policy", "read_policies"]


def is_policy(data: Any) -> bool:
    """Tell whether a document is a policy, or a policy over time."""
    versions = data if isinstance(data, list) and data else [data]
    return all(isinstance(version, dict) and {"environment", "shares"} & version.keys() for version in versions)


def read_policies(document: Document) -> list[DeclaredQueue]:
    """Read a policy file; each version of a policy over time stands for a queue.

    Raises
    ------
    FormError
        It has the wrong form.
    """
    versions: list[tuple[Keys, str, Any]] = [((), "", document.data)]
    if isinstance(document.data, list):
        versions = [((index,), f"[{index}]", version) for index, version in enumerate(document.data)]
    faults = [
        fault._replace(where=".".join(filter(None, (path, fault.where))), keys=(*keys, *fault.keys))
        for keys, path, version in versions
        for fault in check_policy_form(version)
    ]
    if faults:
        raise document.error(faults)
    return [declare_policy(document.path, version, keys, path) for keys, path, version in versions]


def declare_policy(file: Path, data: dict[str, Any], keys: Keys, path: str) -> DeclaredQueue:
    """Return the queue of a policy document of the right form.

    Parameters
    ----------
    file : Path
    data : dict
        With ``environment`` and ``shares``.
    keys : tuple of str or int
        Where it stands in the file.
    path : str
        What the queue is called.
    """
    below = f"{path}." if path else ""
    units = data["environment"]
    environment = Source(f"{below}environment", file, (*keys, "environment"))
    return DeclaredQueue(
        Source(path, file, keys),
        Field(None, ()),
        time_limits=None,
        environment=DeclaredEnvironment(environment, Field(None, ()), _limits(units, ())),
        shares=[
            _share(share, Source(f"{below}shares.{share.get('name')}", file, (*keys, "shares", index)))
            for index, share in enumerate(data["shares"])
        ],
    )


def _share(share: dict[str, Any], source: Source) -> DeclaredShare:
    return DeclaredShare(
        source,
        Field(share.get("name"), ("name",)),
        limits=_limits(share.get("limits"), ("limits",)),
        strategy=Field(share.get("strategy"), ("strategy",)),
        borrow_limit=Field(share.get("borrowLimit"), ("borrowLimit",)),
        in_share_preemption=Field(share.get("inSharePreemption", False), ("inSharePreemption",)),
        state=Field(share.get("state", "ENABLED"), ("state",)),
    )


def _limits(given: Any, keys: Keys) -> Limits:
    if not isinstance(given, dict):
        return Limits(given, keys, {})
    return Limits(list(given.items()), keys, {str(unit): (*keys, unit) for unit in given})
