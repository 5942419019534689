"""How a stack gets from one template to another: in order of dependency, and back again after a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from moto.cloudformation.models import Event
from moto.cloudformation.parsing import (
    ResourceMap,
    clean_json,
    generate_resource_name,
)

from constructs_qm.local.cloudformation.registry import handler_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moto.cloudformation.models import Stack

    from constructs_qm.local.cloudformation.handlers import Context, Handler

__all__ = ["Deployed", "Deployment", "StackFailure", "delete_stack", "tell_of_stack"]

_SUBSTITUTION = re.compile(r"\$\{([^!}][^}.]*)")


class StackFailure(Exception):
    """A stack operation failed; what it had done is undone."""


@dataclass(frozen=True)
class Deployed:
    """A resource as it was last deployed.

    Attributes
    ----------
    type : str
    name : str
        The name it was given, or that was generated for it.
    properties : dict
        Resolved.
    instance : object
    retain : bool
        Whether it stays when it leaves the stack.
    """

    type: str
    name: str
    properties: dict[str, Any]
    instance: Any
    retain: bool


class Deployment:
    """One create or update of a stack.

    Parameters
    ----------
    stack : moto Stack
    template : dict
        The new template.
    parameters : dict of str to str
        Values given for its parameters.
    context : Context
    deployed : dict of str to Deployed
        What there is, by logical id; changed in place.
    """

    def __init__(
        self,
        stack: Stack,
        template: dict[str, Any],
        parameters: dict[str, Any],
        context: Context,
        deployed: dict[str, Deployed],
    ) -> None:
        self._stack = stack
        self._context = context
        self._deployed = deployed
        self._template = template
        self.resources = ResourceMap(
            stack.stack_id,
            stack.name,
            parameters,
            stack.tags,
            region_name=stack.region_name,
            account_id=stack.account_id,
            template=template,
            cross_stack_resources=stack.cross_stack_resources,
        )
        self.resources.load()
        self._undo: list[tuple[str, Deployed | None, Deployed]] = []
        """(logical id, before, after) of what was created, updated or replaced, in order."""
        self._replaced: list[tuple[str, Deployed]] = []

    def run(self, accept: Callable[[ResourceMap], None]) -> None:
        """Carry it out.

        Parameters
        ----------
        accept : callable
            Called when all is up and nothing is deleted yet; an exception fails the deployment.

        Raises
        ------
        StackFailure
            Everything is as it was before.
        """
        try:
            for logical_id in self._order():
                self._bring_up(logical_id)
            accept(self.resources)
        except Exception as error:  # whatever a resource says, the stack goes back
            self._roll_back()
            raise StackFailure(str(error)) from error
        self._clean_up()

    # -- forward ------------------------------------------------------------------

    def _order(self) -> list[str]:
        """Return the resources of the template whose condition holds, dependencies first."""
        documents = self._template["Resources"]
        wanted = [logical_id for logical_id in documents if self._condition_holds(documents[logical_id])]
        order: dict[str, None] = {}

        def visit(logical_id: str, path: tuple[str, ...]) -> None:
            if logical_id in path:
                raise StackFailure(f"Circular dependency between resources: {', '.join(path)}")
            if logical_id not in order:
                for other in dict.fromkeys(_references(documents[logical_id])):
                    if other in wanted and other != logical_id:
                        visit(other, (*path, logical_id))
                order[logical_id] = None

        for logical_id in wanted:
            visit(logical_id, ())
        return list(order)

    def _condition_holds(self, document: dict[str, Any]) -> bool:
        condition = document.get("Condition")
        return condition is None or bool(self.resources.lazy_condition_map[condition])

    def _bring_up(self, logical_id: str) -> None:
        document = self._template["Resources"][logical_id]
        properties = clean_json(document.get("Properties", {}), self.resources)
        kind = document["Type"]
        handler = handler_for(kind, properties)
        before = self._deployed.get(logical_id)
        retain = document.get("DeletionPolicy") in ("Retain", "RetainExceptOnCreate")
        if before is not None and before.type == kind and before.properties == properties:
            after = replace(before, retain=retain)
        else:
            after = self._change(logical_id, kind, handler, before, properties, retain)
            self._undo.append((logical_id, before, after))
        self._deployed[logical_id] = after
        self.resources._parsed_resources[logical_id] = after.instance

    def _change(
        self,
        logical_id: str,
        kind: str,
        handler: Handler,
        before: Deployed | None,
        properties: dict[str, Any],
        retain: bool,
    ) -> Deployed:
        in_place = before is not None and before.type == kind and not handler.replaces(before.properties, properties)
        verb = "UPDATE" if before is not None else "CREATE"
        name = self._name(logical_id, kind, handler, properties, before if in_place else None)
        self._tell(logical_id, kind, f"{verb}_IN_PROGRESS", name)
        try:
            if in_place and before is not None:
                instance = handler.update(self._context, before.instance, name, before.properties, properties)
            else:
                instance = handler.create(self._context, logical_id, name, properties)
                if before is not None:
                    self._replaced.append((logical_id, before))
        except Exception as error:
            self._tell(logical_id, kind, f"{verb}_FAILED", name, str(error))
            raise
        instance.logical_resource_id = logical_id
        instance.cf_resource_type = kind
        self._tell(logical_id, kind, f"{verb}_COMPLETE", instance.physical_resource_id)
        return Deployed(kind, name, properties, instance, retain)

    def _name(
        self,
        logical_id: str,
        kind: str,
        handler: Handler,
        properties: dict[str, Any],
        before: Deployed | None,
    ) -> str:
        given = properties.get(handler.name_property() or "")
        if isinstance(given, str):
            return given
        if before is not None:
            return before.name
        return generate_resource_name(kind, self._stack.name, logical_id)

    def _clean_up(self) -> None:
        """Delete what the new template no longer has, and what was replaced; the stack has succeeded already."""
        kept = set(self.resources._parsed_resources)
        gone = [(key, value) for key, value in self._deployed.items() if key not in kept]
        for logical_id, _ in gone:
            del self._deployed[logical_id]
        for logical_id, resource in [*reversed(self._replaced), *reversed(gone)]:
            if not resource.retain:
                self._delete(logical_id, resource)

    # -- back ---------------------------------------------------------------------

    def _roll_back(self) -> None:
        for logical_id, before, after in reversed(self._undo):
            if before is None or before.instance is not after.instance:
                self._delete(logical_id, after)
            if before is None:
                del self._deployed[logical_id]
            elif before.instance is after.instance:
                self._deployed[logical_id] = self._restore(logical_id, before, after)
            else:
                self._deployed[logical_id] = before

    def _restore(self, logical_id: str, before: Deployed, after: Deployed) -> Deployed:
        self._tell(logical_id, before.type, "UPDATE_IN_PROGRESS", before.name)
        instance = handler_for(before.type, before.properties).update(
            self._context, after.instance, before.name, after.properties, before.properties
        )
        self._tell(logical_id, before.type, "UPDATE_COMPLETE", before.name)
        return replace(before, instance=instance)

    def _delete(self, logical_id: str, resource: Deployed) -> None:
        _delete(self._stack, self._context, logical_id, resource)

    def _tell(self, logical_id: str, kind: str, status: str, physical_id: str, why: str | None = None) -> None:
        tell(self._stack, logical_id, kind, status, physical_id, why)


def delete_stack(stack: Stack, context: Context, deployed: dict[str, Deployed]) -> None:
    """Delete every resource of a stack, the latest first; raises StackFailure where one can't be deleted."""
    for logical_id, resource in reversed(list(deployed.items())):
        if resource.retain:
            tell(stack, logical_id, resource.type, "DELETE_SKIPPED", resource.instance.physical_resource_id)
        elif not _delete(stack, context, logical_id, resource):
            raise StackFailure(f"The following resource(s) failed to delete: [{logical_id}].")
        del deployed[logical_id]


def tell(stack: Stack, logical_id: str, kind: str, status: str, physical_id: str, why: str | None = None) -> None:
    """Add an event to a stack."""
    event = Event(
        stack_id=stack.stack_id,
        stack_name=stack.name,
        logical_resource_id=logical_id,
        physical_resource_id=physical_id,
        resource_type=kind,
        resource_status=status,
        resource_status_reason=why,
        resource_properties=None,
    )
    # clients sort by a time in milliseconds, so no two events may share one
    earliest = stack.events[-1].timestamp + timedelta(milliseconds=1) if stack.events else event.timestamp
    event.timestamp = max(event.timestamp, earliest)
    stack.events.append(event)


def tell_of_stack(stack: Stack, status: str, why: str | None = None) -> None:
    """Let a stack be in a status, and add the event that says so."""
    stack.status = status
    tell(stack, stack.name, "AWS::CloudFormation::Stack", status, stack.stack_id, why)


def _delete(stack: Stack, context: Context, logical_id: str, resource: Deployed) -> bool:
    physical_id = resource.instance.physical_resource_id
    tell(stack, logical_id, resource.type, "DELETE_IN_PROGRESS", physical_id)
    try:
        handler_for(resource.type, resource.properties).delete(context, resource.instance, resource.properties)
    except Exception as error:
        tell(stack, logical_id, resource.type, "DELETE_FAILED", physical_id, str(error))
        return False
    tell(stack, logical_id, resource.type, "DELETE_COMPLETE", physical_id)
    return True


def _references(document: Any) -> Iterator[str]:
    """Iterate over the logical ids (and parameters) a resource's document speaks of."""
    if isinstance(document, list):
        for entry in document:
            yield from _references(entry)
    elif isinstance(document, dict):
        for key, value in document.items():
            if key == "Ref" and isinstance(value, str):
                yield value
            elif key == "DependsOn":
                yield from [value] if isinstance(value, str) else value
            elif key == "Fn::GetAtt":
                yield value.partition(".")[0] if isinstance(value, str) else value[0]
            elif key == "Fn::Sub":
                text = value if isinstance(value, str) else value[0]
                yield from (name.strip() for name in _SUBSTITUTION.findall(text))
                if not isinstance(value, str):
                    yield from _references(value[1])
            else:
                yield from _references(value)
