"""Policies as plain documents: the ``environment`` and ``shares`` of a case or policy file.

Documents are what ``json.load`` or a YAML loader returns; reading the file itself is
the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quota_scheduler.exceptions import DocumentError, PolicyError
from quota_scheduler.findings import Finding, errors_in
from quota_scheduler.policy import QuotaPolicy, QuotaShare, ResourceSharing
from quota_scheduler.policy_rules import check_policy

__all__ = ["dump_policy", "load_policy"]

_SHARE_KEYS = {"name", "limits", "strategy", "borrowLimit", "inSharePreemption", "state"}


def load_policy(document: object, *, as_deployed: bool = False) -> QuotaPolicy:
    """Make a policy from a document.

    Parameters
    ----------
    document : object
        A mapping with ``environment`` (unit to instances) and ``shares``, a list of
        ``{name, limits, strategy, borrowLimit?, inSharePreemption?, state?}``; other
        keys are left to the caller.
    as_deployed : bool
        Take a policy whose parts don't go together, as a deployed one can be for a while.

    Returns
    -------
    QuotaPolicy

    Raises
    ------
    DocumentError
        The document has the wrong form.
    PolicyError
        The policy breaks a rule of level ``error``.
    """
    mapping = require_mapping(document, "policy")
    for key in ("environment", "shares"):
        if key not in mapping:
            raise DocumentError(f"policy has no {key!r}: give environment and shares")
    shares = mapping["shares"]
    if isinstance(shares, str) or not isinstance(shares, Sequence):
        raise DocumentError(f"shares is {type(shares).__name__}: give a list of quota shares")
    environment = require_mapping(mapping["environment"], "environment")
    policy = QuotaPolicy(environment, tuple(_load_share(share, i) for i, share in enumerate(shares)))
    errors = errors_in(check_policy(policy))
    if errors and not as_deployed:
        raise PolicyError(errors)
    return policy


def dump_policy(policy: QuotaPolicy) -> dict[str, Any]:
    """Return the document :func:`load_policy` makes `policy` from."""
    return {
        "environment": dict(policy.environment),
        "shares": [_dump_share(share) for share in policy.shares],
    }


def require_mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return `value` if it is a mapping with text keys, else raise DocumentError."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise DocumentError(f"{what} is {type(value).__name__}: give an object with text keys")
    return value


def _load_share(document: object, index: int) -> QuotaShare:
    where = f"shares[{index}]"
    share = require_mapping(document, where)
    unknown = sorted(set(share) - _SHARE_KEYS)
    if unknown:
        allowed = ", ".join(sorted(_SHARE_KEYS))
        raise DocumentError(f"{where} has unknown key {unknown[0]!r}: use {allowed}")
    for key in ("name", "limits", "strategy"):
        if key not in share:
            raise DocumentError(f"{where} has no {key!r}: give name, limits and strategy")
    in_share = share.get("inSharePreemption", False)
    if not isinstance(in_share, bool):
        raise DocumentError(f"{where}.inSharePreemption is {in_share!r}: use true or false")
    state = share.get("state", "ENABLED")
    if state not in ("ENABLED", "DISABLED"):
        raise DocumentError(f"{where}.state is {state!r}: use ENABLED or DISABLED")
    try:
        sharing = ResourceSharing(share["strategy"], share.get("borrowLimit"))
        limits = require_mapping(share["limits"], f"{where}.limits")
        return QuotaShare(share["name"], limits, sharing, in_share, state == "ENABLED")
    except PolicyError as error:
        raise PolicyError([_located(finding, where) for finding in error.findings]) from None


def _located(finding: Finding, where: str) -> Finding:
    return finding if finding.path else finding.under(where)


def _dump_share(share: QuotaShare) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": share.name,
        "limits": dict(share.limits),
        "strategy": share.sharing.strategy.value,
        "inSharePreemption": share.in_share_preemption,
    }
    if share.sharing.borrow_limit is not None:
        document["borrowLimit"] = share.sharing.borrow_limit
    if not share.enabled:
        document["state"] = "DISABLED"
    return document
