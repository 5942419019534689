"""moto's stacks and change sets, taught to use our engine, and what the cdk CLI stumbles over mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from moto.cloudformation import models, parsing, responses, utils
from moto.cloudformation.exceptions import AlreadyExistsException, CloudFormationError, ValidationError
from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Stack
from moto.cloudformation.parsing import OutputMap
from moto.core.common_models import CloudFormationModel
from moto.utilities.utils import get_partition

from constructs_qm.local.cloudformation.engine import Deployment, StackFailure, delete_stack, tell_of_stack
from constructs_qm.local.cloudformation.handlers import Context
from constructs_qm.local.cloudformation.registry import is_ours
from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable

    from moto.cloudformation.parsing import Export, ResourceMap

__all__ = ["PATCHES"]


class ChangeSetNotFound(CloudFormationError):
    """As AWS says it."""

    code = "ChangeSetNotFound"

    def __init__(self, name: str) -> None:
        super().__init__(f"ChangeSet [{name}] does not exist")


# -- stacks -------------------------------------------------------------------------


def _context(stack: Stack) -> Context:
    return Context(
        stack.account_id,
        stack.region_name,
        get_partition(stack.region_name),
        stack.stack_id,
        stack.name,
        stack.tags,
    )


def _deployed(stack: Stack) -> dict[str, Any]:
    """Return what the engine deployed for a stack; moto's object keeps it."""
    found: dict[str, Any] = stack.__dict__.setdefault("quota_deployed", {})
    return found


def _deploy(stack: Stack, template: str, parameters: dict[str, Any], verb: str) -> None:
    """Create or update a stack; it ends COMPLETE, or rolled back."""
    tell_of_stack(stack, f"{verb}_IN_PROGRESS", "User Initiated")
    backend = models.cloudformation_backends[stack.account_id][stack.region_name]
    stack.cross_stack_resources = backend.exports
    exports: list[Export] = []

    def accept(resources: ResourceMap) -> None:
        exports.extend(OutputMap(resources, document, stack.stack_id).exports)
        for export in exports:
            other = backend.exports.get(export.name)
            if other is not None and other.exporting_stack_id != stack.stack_id:
                raise StackFailure(f"Export with name {export.name} is already exported by another stack")

    try:
        document = Stack.parse_template(template)
        deployment = Deployment(stack, document, parameters, _context(stack), _deployed(stack))
        deployment.run(accept)
    except Exception as error:  # a template that can't be read fails the stack, too
        rollback = "UPDATE_ROLLBACK" if verb == "UPDATE" else "ROLLBACK"
        tell_of_stack(stack, f"{rollback}_IN_PROGRESS", str(error))
        tell_of_stack(stack, f"{rollback}_COMPLETE")
        return
    stack.resource_map = deployment.resources
    stack.template, stack.template_dict, stack.parameters = template, document, parameters
    stack.description = document.get("Description")
    stack.output_map = stack._create_output_map()
    _withdraw_exports(backend, stack)
    backend.exports.update({export.name: export for export in exports})
    tell_of_stack(stack, f"{verb}_COMPLETE")


def _withdraw_exports(backend: CloudFormationBackend, stack: Stack) -> None:
    names = [name for name, export in backend.exports.items() if export.exporting_stack_id == stack.stack_id]
    for name in names:
        del backend.exports[name]


def _create_stack(_: object) -> Callable[..., Stack]:
    def create_stack(
        self: CloudFormationBackend, name: str, template: str, parameters: dict[str, Any], **options: Any
    ) -> Stack:
        if any(stack.name == name for stack in self.stacks.values()):
            raise AlreadyExistsException(f"Stack [{name}] already exists")
        stack = Stack(  # type: ignore[abstract]
            stack_id=utils.generate_stack_id(name, self.region_name, self.account_id),
            name=name,
            template={},
            parameters=parameters,
            account_id=self.account_id,
            region_name=self.region_name,
            **options,
        )
        self.stacks[stack.stack_id] = stack
        _deploy(stack, template, parameters, "CREATE")
        return stack

    return create_stack


def _update(_: object) -> Callable[..., None]:
    def update(
        self: Stack,
        template: str,
        role_arn: str | None = None,
        parameters: dict[str, Any] | None = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        self.tags = self.tags if tags is None else tags
        _deploy(self, template, parameters or {}, "UPDATE")

    return update


def _delete(_: object) -> Callable[[Stack], None]:
    def delete(self: Stack) -> None:
        tell_of_stack(self, "DELETE_IN_PROGRESS", "User Initiated")
        try:
            delete_stack(self, _context(self), _deployed(self))
        except StackFailure as error:
            tell_of_stack(self, "DELETE_FAILED", str(error))
            raise
        tell_of_stack(self, "DELETE_COMPLETE")

    return delete


def _delete_stack(_: object) -> Callable[[CloudFormationBackend, str], None]:
    def delete_stack_(self: CloudFormationBackend, name_or_stack_id: str) -> None:
        stack = next(
            (stack for stack in self.stacks.values() if name_or_stack_id in (stack.name, stack.stack_id)), None
        )
        if stack is None:
            return
        if stack.enable_termination_protection:
            raise ValidationError(
                message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            )
        try:
            stack.delete()
        except StackFailure:
            return  # DELETE_FAILED, which is what one sees when one looks
        for name in [name for name, export in self.exports.items() if export.exporting_stack_id == stack.stack_id]:
            del self.exports[name]
        del self.stacks[stack.stack_id]
        self.deleted_stacks[stack.stack_id] = stack

    return delete_stack_


def _given_parameters(_: object) -> property:
    """Let a stack's parameters be what was given or defaulted, as an update uses them again.

    moto has what they resolved to, which for an SSM parameter isn't its name any more.
    """

    def stack_parameters(self: Stack) -> dict[str, Any]:
        slots = self.template_dict.get("Parameters", {})
        return {name: self.parameters.get(name, slot.get("Default")) for name, slot in slots.items()}

    return property(stack_parameters)


def _resolve_update_parameters(_: object) -> Callable[..., dict[str, str]]:
    def resolve(self: CloudFormationBackend, instance: Any, incoming_params: list[dict[str, Any]]) -> dict[str, str]:
        previous = instance.stack_parameters if isinstance(instance, Stack) else instance.parameters
        return {
            parameter["ParameterKey"]: (
                previous[parameter["ParameterKey"]]
                if parameter.get("UsePreviousValue")
                else parameter["ParameterValue"]
            )
            for parameter in incoming_params
        }

    return resolve


# -- change sets ----------------------------------------------------------------------


def _find(backend: CloudFormationBackend, name: str, stack: str | None) -> ChangeSet:
    for change_set in reversed(backend.change_sets.values()):
        if name == change_set.change_set_id:
            return change_set
        if name == change_set.change_set_name and stack in (None, change_set.stack_name, change_set.stack_id):
            return change_set
    raise ChangeSetNotFound(name)


def _execute_change_set(_: object) -> Callable[..., None]:
    def execute_change_set(self: CloudFormationBackend, change_set_name: str, stack_name: str | None = None) -> None:
        change_set = _find(self, change_set_name, stack_name)
        stack = self.stacks[change_set.stack_id]
        verb = change_set.change_set_type
        stack.tags = change_set.tags or stack.tags
        _deploy(stack, change_set.template, change_set.parameters, verb)
        change_set.execution_status = "EXECUTE_COMPLETE" if stack.status == f"{verb}_COMPLETE" else "EXECUTE_FAILED"

    return execute_change_set


def _describe_change_set(_: object) -> Callable[[CloudFormationBackend, str], ChangeSet]:
    def describe_change_set(self: CloudFormationBackend, change_set_name: str) -> ChangeSet:
        return _find(self, change_set_name, None)

    return describe_change_set


def _delete_change_set(_: object) -> Callable[[CloudFormationBackend, str], None]:
    def delete_change_set(self: CloudFormationBackend, change_set_name: str) -> None:
        try:
            del self.change_sets[_find(self, change_set_name, None).change_set_id]
        except ChangeSetNotFound:
            return  # as AWS does

    return delete_change_set


def _create_change_set(original: Callable[..., tuple[str, str]]) -> Callable[..., tuple[str, str]]:
    def create_change_set(self: CloudFormationBackend, **request: Any) -> tuple[str, str]:
        stacks = [stack for stack in self.stacks.values() if stack.name == request["stack_name"]]
        reviewed = [stack for stack in stacks if stack.status == "REVIEW_IN_PROGRESS"]
        if request["change_set_type"] == "CREATE" and stacks and not reviewed:
            raise AlreadyExistsException(f"Stack [{request['stack_name']}] already exists")
        for stack in reviewed:  # a stack whose first change set was never executed
            del self.stacks[stack.stack_id]
        return original(self, **request)

    return create_change_set


# -- the rest ---------------------------------------------------------------------------


class _AnyAttribute(CloudFormationModel):
    """Stands for a type of ours where moto only wants to know which attributes there are."""

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        return True


def _resource_class(original: Callable[[str], Any]) -> Callable[[str], Any]:
    def resource_class_from_type(resource_type: str) -> Any:
        return _AnyAttribute if is_ours(resource_type) else original(resource_type)

    return resource_class_from_type


def _template_from_url(original: Callable[..., str]) -> Callable[..., str]:
    def get_stack_from_s3_url(template_url: str, account_id: str, partition: str) -> str:
        parts = urlparse(template_url)
        if parts.hostname == "127.0.0.1":
            template_url = parts._replace(netloc="localhost").geturl()
        return original(template_url, account_id, partition)

    return get_stack_from_s3_url


PATCHES = [
    Patch(
        CloudFormationBackend,
        "create_stack",
        "self name template parameters notification_arns tags role_arn enable_termination_protection "
        "timeout_in_mins stack_policy_body",
        _create_stack,
    ),
    Patch(Stack, "stack_parameters", "self", _given_parameters),
    Patch(
        CloudFormationBackend,
        "_resolve_update_parameters",
        "self instance incoming_params",
        _resolve_update_parameters,
    ),
    Patch(Stack, "update", "self template role_arn parameters tags", _update),
    Patch(Stack, "delete", "self", _delete),
    Patch(CloudFormationBackend, "delete_stack", "self name_or_stack_id", _delete_stack),
    Patch(CloudFormationBackend, "execute_change_set", "self change_set_name stack_name", _execute_change_set),
    Patch(CloudFormationBackend, "describe_change_set", "self change_set_name", _describe_change_set),
    Patch(CloudFormationBackend, "delete_change_set", "self change_set_name", _delete_change_set),
    Patch(
        CloudFormationBackend,
        "create_change_set",
        "self stack_name change_set_name template parameters description change_set_type notification_arns tags "
        "role_arn",
        _create_change_set,
    ),
    Patch(parsing, "resource_class_from_type", "resource_type", _resource_class),
    *(
        Patch(module, "get_stack_from_s3_url", "template_url account_id partition", _template_from_url)
        for module in (utils, models, responses)
    ),
]
