"""Rules of template checkers that a construct breaks for a reason, acknowledged with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

if TYPE_CHECKING:
    from constructs import IConstruct

__all__ = ["acknowledge"]


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Say why `construct` breaks a rule such as ``AwsSolutions-IAM5[Resource::*]``."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=rule, reason=reason))
