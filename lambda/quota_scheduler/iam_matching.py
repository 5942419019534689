"""Which actions and resources a plain IAM statement is about.

Statements are the maps of a policy document. Text inside ``⟦`` and ``⟧`` stands for something that is known
only at deployment: as partition, Region or account it may be any, elsewhere it equals only itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNKNOWN", "as_list", "covers_action", "covers_resource", "matches_arn", "resource_part"]

UNKNOWN = "⟦"
"""Begins text that is known only at deployment."""

_ARN_PARTS = 6


def as_list(value: Any) -> list[Any]:
    """Return the values of an element that IAM lets be one value or a list of them."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def covers_action(statement: Mapping[str, Any], action: str) -> bool:
    """Tell whether a statement is about `action`, e.g. ``batch:SubmitServiceJob``; case has no meaning."""
    element, negated = ("Action", False) if "Action" in statement else ("NotAction", True)
    patterns = as_list(statement.get(element, []))
    return negated != any(_glob(str(pattern).lower()).fullmatch(action.lower()) is not None for pattern in patterns)


def covers_resource(statement: Mapping[str, Any], arn: str) -> bool:
    """Tell whether a statement is about the resource `arn`."""
    element, negated = ("Resource", False) if "Resource" in statement else ("NotResource", True)
    return negated != any(matches_arn(str(pattern), arn) for pattern in as_list(statement.get(element, [])))


def matches_arn(pattern: str, arn: str) -> bool:
    """Tell whether an ARN pattern matches `arn`, part by part as IAM does.

    A pattern that ends early, such as ``*`` or ``arn:aws:batch:*``, matches whatever follows.
    """
    given, wanted = _parts(arn), _parts(pattern)
    return all(
        (index in (1, 3, 4) and (UNKNOWN in part or UNKNOWN in want)) or _glob(want).fullmatch(part) is not None
        for index, (part, want) in enumerate(zip(given, wanted, strict=True))
    )


def resource_part(pattern: str) -> str:
    """Return the part of an ARN pattern after the account, e.g. ``job-queue/Q*``."""
    return _parts(pattern)[-1]


def _parts(arn: str) -> list[str]:
    """Split an ARN; what a pattern leaves out is any."""
    parts = arn.split(":", _ARN_PARTS - 1)
    missing = "*" if parts[-1].endswith("*") else ""
    return parts + [missing] * (_ARN_PARTS - len(parts))


@lru_cache(maxsize=4096)
def _glob(pattern: str) -> re.Pattern[str]:
    """Return the expression for ``*`` (any run of characters) and ``?`` (one character)."""
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)
