"""Policies as plain documents: the ``environment`` and ``shares`` of a case or policy file.

Documents are what ``json.load`` or a YAML loader returns; reading the file itself is
the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quota_scheduler.exceptions import DocumentError, PolicyError
from quota_scheduler.findings import Finding, errors_in
from quota_scheduler.policy import QuotaPolicy, QuotaShare, ResourceSharing
from quota_scheduler.policy_form import check_policy_form
from quota_scheduler.policy_rules import check_policy

__all__ = ["dump_policy", "load_policy"]


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
    fault = next(check_policy_form(document), None)
    if fault is not None:
        raise DocumentError(str(fault))
    assert isinstance(document, Mapping)
    shares = tuple(_load_share(share, index) for index, share in enumerate(document["shares"]))
    policy = QuotaPolicy(document["environment"], shares)
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


def _load_share(share: Mapping[str, Any], index: int) -> QuotaShare:
    try:
        sharing = ResourceSharing(share["strategy"], share.get("borrowLimit"))
        in_share, enabled = share.get("inSharePreemption", False), share.get("state") != "DISABLED"
        return QuotaShare(share["name"], share["limits"], sharing, in_share, enabled)
    except PolicyError as error:
        raise PolicyError([_located(finding, f"shares[{index}]") for finding in error.findings]) from None


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
