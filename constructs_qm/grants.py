"""Grants made of several statements, each as narrow as its actions can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from aws_cdk import aws_iam as iam

__all__ = ["Conditions", "Permission", "grant"]

Conditions = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Permission:
    """Actions on resources, under conditions."""

    actions: list[str]
    resources: list[str]
    conditions: Conditions = field(default_factory=dict)


def grant(grantee: iam.IGrantable, *permissions: Permission) -> iam.Grant:
    """Add a statement for each permission to the policy of `grantee`."""
    grants = [
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=permission.actions,
            resource_arns=permission.resources,
            conditions=permission.conditions or None,
        )
        for permission in permissions
    ]
    return reduce(lambda done, more: done.combine(more), grants)
