"""IAM statements of CloudFormation templates, gathered by the principal that they are attached to."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import Field, Keys, Principal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.validation.declared import Source
    from constructs_qm.validation.intrinsics import Resolver, Stack

__all__ = ["read_principals"]

_ATTACHED = ("Roles", "Users", "Groups")
_IDENTITIES = {"AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group"}
_POLICIES = {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}
_INLINE = {
    "AWS::IAM::RolePolicy": "RoleName",
    "AWS::IAM::UserPolicy": "UserName",
    "AWS::IAM::GroupPolicy": "GroupName",
}
_KINDS = {*_IDENTITIES, *_POLICIES, *_INLINE, "AWS::SSO::PermissionSet"}


def read_principals(stacks: list[Stack], resolver: Resolver) -> list[Principal]:
    """Return every principal with its statements; a policy that is attached to nobody here stands for one.

    Parameters
    ----------
    stacks : list of Stack
    resolver : Resolver
        Of the same stacks.
    """
    statements: dict[str, list[tuple[Source, Field]]] = defaultdict(list)
    attached: list[tuple[str, str]] = []
    for stack in stacks:
        for logical_id, resource in stack.resources.items():
            kind = str(resource.get("Type"))
            if kind not in _KINDS:
                continue
            given = resolver.resolve(stack, resource.get("Properties"))
            properties: dict[str, Any] = given if isinstance(given, dict) else {}
            own = str(resolver.resolve(stack, {"Ref": logical_id}))
            source = stack.source(logical_id)
            for principal in _principals(kind, properties, own):
                statements[principal] += [(source, statement) for statement in _statements(kind, properties)]
            attached += [(own, str(policy)) for policy in _list(properties.get("ManagedPolicyArns"))]
    policies = {policy: statements[policy] for _, policy in attached if policy in statements}
    for principal, policy in attached:
        statements[principal] += policies.get(policy, [])
    return [Principal(found) for principal, found in statements.items() if principal not in policies]


def _principals(kind: str, properties: dict[str, Any], own: str) -> list[str]:
    """Return whom the statements of a resource are for."""
    if kind in _POLICIES:
        attached = [str(name) for key in _ATTACHED for name in _list(properties.get(key))]
        return attached or [own]
    return [str(properties.get(_INLINE[kind]))] if kind in _INLINE else [own]


def _statements(kind: str, properties: dict[str, Any]) -> Iterator[Field]:
    if kind in _IDENTITIES:
        for index, policy in enumerate(_list(properties.get("Policies"))):
            document = policy.get("PolicyDocument") if isinstance(policy, dict) else None
            yield from _of_document(document, ("Policies", index, "PolicyDocument"))
    elif kind == "AWS::SSO::PermissionSet":
        yield from _of_document(properties.get("InlinePolicy"), ("InlinePolicy",))
    else:
        yield from _of_document(properties.get("PolicyDocument"), ("PolicyDocument",))


def _of_document(document: Any, keys: Keys) -> Iterator[Field]:
    """Yield the statements of a policy document, which may be given as JSON text."""
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except (ValueError, RecursionError):
            return
        given = document.get("Statement") if isinstance(document, dict) else None
        yield from (Field(statement, keys) for statement in _list(given) if isinstance(statement, dict))
        return
    given = document.get("Statement") if isinstance(document, dict) else None
    for index, statement in enumerate(_list(given)):
        if isinstance(statement, dict):
            where: Keys = ("Statement", index) if isinstance(given, list) else ("Statement",)
            yield Field(statement, keys + where)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
