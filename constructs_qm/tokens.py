"""CDK tokens: names and numbers that are known only at deployment, so that no rule can read them (QM015)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

if TYPE_CHECKING:
    from constructs import IConstruct

__all__ = ["has_token", "is_token", "note_tokens", "note_unchecked", "with_placeholders"]


def is_token(value: object) -> bool:
    """Tell a token from a value that is known now, whatever `value` is."""
    if isinstance(value, str) or (isinstance(value, float) and math.isfinite(value)):
        return cdk.Token.is_unresolved(value)
    return hasattr(value, "resolve") and hasattr(value, "creation_stack")


def with_placeholders(capacity: Any) -> Any:
    """Return `capacity` with a legal value in place of each token, so that the rest can be checked."""
    if not isinstance(capacity, Mapping):
        return capacity
    return [
        (f"ml.token.unit-{index}" if is_token(unit) else unit, 1 if is_token(count) else count)
        for index, (unit, count) in enumerate(capacity.items())
    ]


def has_token(capacity: Mapping[str, object]) -> bool:
    """Tell whether an instance type or a count is a token."""
    return any(is_token(unit) or is_token(count) for unit, count in capacity.items())


def note_tokens(construct: IConstruct, prop: str, *values: object) -> None:
    """Say that `prop` can't be checked if one of its values is a token."""
    if any(is_token(value) and value != cdk.PhysicalName.GENERATE_IF_NEEDED for value in values):
        note_unchecked(construct, f"{prop} is known only at deployment")


def note_unchecked(construct: IConstruct, why: str) -> None:
    """Say openly, as an information message of `construct`, that rules were skipped (QM015)."""
    message = f"{why}: rules that need it are not checked [QM015]"
    cdk.Annotations.of(construct).add_info_v2("constructs-qm:QM015", message)
