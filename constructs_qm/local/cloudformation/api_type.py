"""The base of resource types that are made with AWS's own operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from constructs_qm.local.cloudformation.handlers import Instance
from constructs_qm.local.internal_client import internal_client

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Properties

__all__ = ["ApiType"]


class ApiType:
    """Base of the types made with AWS's own operations; a type says what differs.

    Attributes
    ----------
    service : str
        As botocore names it.
    name : str or None
        The property that names a resource.
    create_only : tuple of str
        Properties whose change makes another resource; the name is always one.
    """

    service = ""
    name: str | None = None
    create_only: tuple[str, ...] = ()

    def name_property(self) -> str | None:
        """Return the property that names a resource."""
        return self.name

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether a create-only property changed."""
        return any(old.get(key) != new.get(key) for key in (self.name or "", *self.create_only))

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Make the resource: by default as an update does it."""
        instance = self.identify(context, name, properties)
        self.put(context, instance, name, properties)
        return instance

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        """Change the resource: by default by saying anew what it should be."""
        self.put(context, instance, name, new)
        return instance

    def delete(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Delete the resource, if it is still there."""
        try:
            self.remove(context, instance, properties)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500 or not _is_gone(error):
                raise

    def client(self, context: Context, service: str | None = None) -> Any:
        """Return a client of the stack's account and Region."""
        return internal_client(service or self.service, context.account, context.region)

    def arn(self, context: Context, resource: str) -> str:
        """Return an ARN of the type's service."""
        return f"arn:{context.partition}:{self.service}:{context.region}:{context.account}:{resource}"

    # -- what a type says about itself --------------------------------------------

    def identify(self, context: Context, name: str, properties: Properties) -> Instance:
        """Return what ``Ref`` and ``Fn::GetAtt`` give."""
        return Instance(name)

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        """Let the resource be as `properties` say, whether it is there or not."""
        raise NotImplementedError

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Delete the resource; may raise ClientError where it is gone."""
        raise NotImplementedError


def _is_gone(error: ClientError) -> bool:
    code = error.response["Error"]["Code"]
    return any(word in code for word in ("NotFound", "NonExistent", "NoSuch", "DoesNotExist"))
