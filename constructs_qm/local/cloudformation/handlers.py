"""What CloudFormation does with one type of resource: create, update, delete."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Context", "Handler", "Instance", "Properties"]

Properties = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """Where a resource belongs.

    Attributes
    ----------
    account, region, partition : str
    stack_id, stack_name : str
    tags : mapping of str to str
        The stack's.
    """

    account: str
    region: str
    partition: str
    stack_id: str
    stack_name: str
    tags: Mapping[str, str]


@dataclass(eq=False)
class Instance:
    """A deployed resource of a type that moto doesn't model.

    Attributes
    ----------
    physical_resource_id : str
        What ``Ref`` gives.
    attributes : dict of str to str
        What ``Fn::GetAtt`` gives.
    """

    physical_resource_id: str
    attributes: dict[str, Any] = field(default_factory=dict)
    logical_resource_id: str = ""
    cf_resource_type: str = ""

    def get_cfn_attribute(self, name: str) -> Any:
        """Return an attribute; moto turns this error into CloudFormation's."""
        if name not in self.attributes:
            raise UnformattedGetAttTemplateException
        return self.attributes[name]

    def is_created(self) -> bool:
        """Whether creation is complete: always, since it happens at once."""
        return True


class Handler(Protocol):
    """One type of resource.

    `instance` is whatever ``create`` or ``update`` returned: it has ``physical_resource_id`` and
    ``get_cfn_attribute``. Properties are resolved: no intrinsic functions are left in them.
    """

    def name_property(self) -> str | None:
        """Return the property that names a resource, if the type has one."""

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether an update from `old` to `new` makes a new resource and then deletes the old one."""

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Any:
        """Make a resource; `name` is what the name property says, or a generated one."""

    def update(self, context: Context, instance: Any, name: str, old: Properties, new: Properties) -> Any:
        """Change a resource; return it."""

    def delete(self, context: Context, instance: Any, properties: Properties) -> None:
        """Delete a resource; one that is gone already is no error."""
