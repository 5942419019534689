"""Checks of props before jsii sees them, so that every message names the construct and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from constructs_qm.exceptions import PropError
from constructs_qm.tokens import is_token, with_placeholders
from quota_scheduler import PolicyError
from quota_scheduler.value_rules import check_limits, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from constructs import Construct

    from quota_scheduler import Finding

__all__ = ["Props", "state"]


class Props:
    """Props of one construct that is about to be made.

    Parameters
    ----------
    scope : Construct
        Parent of the construct.
    id : str
        Its id in `scope`.
    """

    def __init__(self, scope: Construct, id: str) -> None:
        self.path = f"{scope.node.path}/{id}".lstrip("/")

    def refuse(self, findings: Iterable[Finding], prop: str = "") -> None:
        """Raise PolicyError, with the construct's path, if there is any finding."""
        where = f"{self.path}.{prop}" if prop else self.path
        located = [finding.under(where) for finding in findings]
        if located:
            raise PolicyError(located)

    def require(self, prop: str, value: object, kind: type, hint: str) -> None:
        """Raise PropError unless `value` is a `kind`; `hint` says what to give."""
        if not isinstance(value, kind):
            raise PropError(f"{self.path}.{prop}: {value!r} is a {type(value).__name__}: give {hint}")

    def flag(self, prop: str, value: object) -> None:
        """Raise PropError unless `value` is True or False."""
        self.require(prop, value, bool, "True or False")

    def removal_policy(self, value: object) -> None:
        """Raise PropError unless `value` is a RemovalPolicy or None."""
        if value is not None:
            self.require("removal_policy", value, cdk.RemovalPolicy, "an aws_cdk.RemovalPolicy or None")

    def name(self, prop: str, value: object) -> None:
        """Raise QM001 for a name that isn't allowed."""
        if not is_token(value):
            self.refuse(check_name(value, prop.replace("_", " ")), prop)

    def optional_name(self, prop: str, value: object) -> None:
        """Raise QM001 for a name that is given and isn't allowed."""
        if value is not None:
            self.name(prop, value)

    def capacity(self, value: Any) -> dict[str, float]:
        """Return capacity limits; raises QM002 or QM003."""
        self.refuse(check_limits(with_placeholders(value)), "capacity")
        return {unit: cdk.Token.as_number(count) if is_token(count) else count for unit, count in dict(value).items()}


def state(enabled: bool) -> str:
    """Return how CloudFormation spells that something is on or off."""
    return "ENABLED" if enabled else "DISABLED"
