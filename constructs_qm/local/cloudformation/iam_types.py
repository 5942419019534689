"""IAM roles and managed policies: moto's CloudFormation changes little of a role, and no managed policy."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from constructs_qm.local.cloudformation.api_type import ApiType
from constructs_qm.local.cloudformation.handlers import Instance

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Properties

__all__ = ["ManagedPolicy", "Role"]

DURATION = 3600
"""Seconds of a session, where a role doesn't say (API CreateRole)."""


class Role(ApiType):
    """AWS::IAM::Role."""

    service = "iam"
    name = "RoleName"
    create_only = ("Path",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Make the role and attach its policies."""
        name = name[-64:]
        optional = {
            key: properties[key]
            for key in ("Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "Tags")
            if key in properties
        }
        role = self.client(context).create_role(
            RoleName=name,
            AssumeRolePolicyDocument=json.dumps(properties["AssumeRolePolicyDocument"]),
            **optional,
        )["Role"]
        self._set_policies(context, name, {}, properties)
        return Instance(name, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        """Change trust, description and policies."""
        role, iam = instance.physical_resource_id, self.client(context)
        iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(new["AssumeRolePolicyDocument"]))
        iam.update_role(
            RoleName=role,
            Description=new.get("Description", ""),
            MaxSessionDuration=int(new.get("MaxSessionDuration", DURATION)),
        )
        self._set_policies(context, role, old, new)
        return instance

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Delete the role with whatever is attached to it."""
        role, iam = instance.physical_resource_id, self.client(context)
        for policy in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
            iam.detach_role_policy(RoleName=role, PolicyArn=policy["PolicyArn"])
        for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]:
            iam.delete_role_policy(RoleName=role, PolicyName=policy)
        iam.delete_role(RoleName=role)

    def _set_policies(self, context: Context, role: str, old: Properties, new: Properties) -> None:
        iam = self.client(context)
        before, after = set(old.get("ManagedPolicyArns", ())), set(new.get("ManagedPolicyArns", ()))
        for arn in before - after:
            with contextlib.suppress(ClientError):
                iam.detach_role_policy(RoleName=role, PolicyArn=arn)
        for arn in after - before:
            _attach(iam, role, arn)
        for name in _inline(old).keys() - _inline(new).keys():
            iam.delete_role_policy(RoleName=role, PolicyName=name)
        for name, document in _inline(new).items():
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))


class ManagedPolicy(ApiType):
    """AWS::IAM::ManagedPolicy."""

    service = "iam"
    name = "ManagedPolicyName"
    create_only = ("Description", "Path")

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Make the policy and attach it."""
        optional = {key: properties[key] for key in ("Description", "Path") if key in properties}
        policy = self.client(context).create_policy(
            PolicyName=name[-128:], PolicyDocument=json.dumps(properties["PolicyDocument"]), **optional
        )["Policy"]
        for role in properties.get("Roles", ()):
            self.client(context).attach_role_policy(RoleName=role, PolicyArn=policy["Arn"])
        return Instance(policy["Arn"], {"PolicyArn": policy["Arn"], "PolicyId": policy["PolicyId"]})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        """Make another version the default one, and delete the one before."""
        arn, iam = instance.physical_resource_id, self.client(context)
        versions = iam.list_policy_versions(PolicyArn=arn)["Versions"]
        iam.create_policy_version(
            PolicyArn=arn, PolicyDocument=json.dumps(properties["PolicyDocument"]), SetAsDefault=True
        )
        for version in versions:
            iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])
        for role in properties.get("Roles", ()):
            iam.attach_role_policy(RoleName=role, PolicyArn=arn)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Detach and delete the policy."""
        arn, iam = instance.physical_resource_id, self.client(context)
        for role in iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]:
            iam.detach_role_policy(RoleName=role["RoleName"], PolicyArn=arn)
        iam.delete_policy(PolicyArn=arn)


def _attach(iam: Any, role: str, arn: str) -> None:
    try:
        iam.attach_role_policy(RoleName=role, PolicyArn=arn)
    except ClientError:
        # moto has AWS's own policies only when told to load them, which takes seconds
        if ":iam::aws:policy/" not in arn:
            raise


def _inline(properties: Properties) -> dict[str, Any]:
    return {policy["PolicyName"]: policy["PolicyDocument"] for policy in properties.get("Policies", ())}
