"""QM014: IAM statements that let a principal reach quota shares of other teams.

A quota share's ARN is nested under its queue's (``job-queue/Q/quota-share/S``), so a wildcard meant for queues,
such as ``job-queue/Q*``, opens every share of them. A principal's own shares are those that its statements name
without a wildcard; a share that only a wildcard reaches is taken for another team's, unless it is the only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quota_scheduler.findings import Finding, Level
from quota_scheduler.iam_matching import as_list, covers_action, covers_resource, matches_arn, resource_part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["check_isolation"]

SUBMIT = "batch:SubmitServiceJob"
"""What a team does with its share."""

CHANGE = ("batch:CreateQuotaShare", "batch:UpdateQuotaShare", "batch:DeleteQuotaShare")
"""What an operator does with every share; said of ``Q/quota-share/*``, it is meant."""

_SHARES = "/quota-share/"
_QUEUES = "job-queue/"


def check_isolation(statements: Sequence[Mapping[str, Any]], shares: Collection[str]) -> Iterator[tuple[int, Finding]]:
    """Yield QM014 for each statement that opens other teams' shares.

    Parameters
    ----------
    statements : sequence of mapping
        All statements of one principal, as in a policy document. A condition on ``aws:ResourceTag`` narrows a
        statement; other conditions don't say which share.
    shares : collection of str
        ARNs of all quota shares that are known.

    Yields
    ------
    tuple of int and Finding
        Index of the statement, and what it opens.
    """
    denied = [s for s in statements if s.get("Effect") == "Deny" and not s.get("Condition")]
    own = {
        share
        for statement in statements
        if _allows(statement) and covers_action(statement, SUBMIT)
        for pattern in _patterns(statement)
        if not _is_wild(pattern)
        for share in shares
        if matches_arn(pattern, share)
    }
    for index, statement in enumerate(statements):
        actions = [a for a in (SUBMIT, *CHANGE) if _allows(statement) and covers_action(statement, a)]
        for action in actions:
            if opened := _opened(statement, action, denied, own, shares):
                yield index, _finding(statement, action, opened)
                break


def _allows(statement: Mapping[str, Any]) -> bool:
    return statement.get("Effect") == "Allow" and not _is_narrowed_by_tags(statement)


def _opened(
    statement: Mapping[str, Any],
    action: str,
    denied: Sequence[Mapping[str, Any]],
    own: Collection[str],
    shares: Collection[str],
) -> list[str]:
    """Return the other teams' shares a statement opens, as a reader would call them."""
    wild = [pattern for pattern in _patterns(statement) if _is_wild(pattern)]
    if action != SUBMIT:
        wild = [pattern for pattern in wild if _SHARES not in resource_part(pattern)]
    if "NotResource" not in statement and not wild:
        return []
    refusing = [s for s in denied if covers_action(s, action)]
    reached = [share for share in shares if _reaches(statement, wild, share)]
    if not reached:
        told = _names_action(statement) and not any("NotResource" in s for s in refusing)
        return ["every quota share"] if told and _opens_any(statement, wild) else []
    allowed = [share for share in reached if not any(covers_resource(s, share) for s in refusing)]
    others = [share for share in allowed if share not in own]
    if len(others) == 1 and not own:
        return []
    return sorted(share.rsplit("/", 1)[1] for share in others)


def _reaches(statement: Mapping[str, Any], wild: Sequence[str], share: str) -> bool:
    if "NotResource" in statement:
        return covers_resource(statement, share)
    return any(matches_arn(pattern, share) for pattern in wild)


def _opens_any(statement: Mapping[str, Any], wild: Sequence[str]) -> bool:
    """Tell, without knowing any share, whether a wildcard stands for shares of any name."""
    return "NotResource" in statement or any(_opens_any_share(resource_part(pattern)) for pattern in wild)


def _opens_any_share(resource: str) -> bool:
    queues, names_shares, share = resource.partition(_SHARES)
    if names_shares:
        return share == "*"
    before = queues.split("*", 1)[0]
    return resource.endswith("*") and (before.startswith(_QUEUES) or _QUEUES.startswith(before))


def _names_action(statement: Mapping[str, Any]) -> bool:
    """Tell whether the statement itself speaks of service jobs or quota shares, not of all of Batch or AWS."""
    return any(str(action).lower() not in ("*", "batch:*") for action in as_list(statement.get("Action", "*")))


def _is_narrowed_by_tags(statement: Mapping[str, Any]) -> bool:
    return any(
        key.lower().startswith("aws:resourcetag/") and not operator.endswith("IfExists") and operator != "Null"
        for operator, keys in (statement.get("Condition") or {}).items()
        for key in keys
    )


def _patterns(statement: Mapping[str, Any]) -> list[str]:
    return [str(pattern) for pattern in as_list(statement.get("Resource", []))]


def _is_wild(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _finding(statement: Mapping[str, Any], action: str, opened: Sequence[str]) -> Finding:
    if "NotResource" in statement:
        what = "NotResource leaves"
    else:
        patterns = [p for p in _patterns(statement) if _is_wild(p)]
        what = f"{', '.join(patterns)} opens"
    names = ", ".join(opened[:5]) + (f" and {len(opened) - 5} more" if len(opened) > 5 else "")
    message = (
        f"{what} {names} to {action}: quota share ARNs are nested under the job queue's, "
        "so name the job queue and each quota share without a wildcard"
    )
    return Finding("QM014", Level.ERROR, message)
