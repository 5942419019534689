"""Intrinsic functions of CloudFormation, evaluated as far as that is possible before deployment.

What isn't known becomes text in ``⟦`` and ``⟧``. A resource is known by its ARN, in which a name that
CloudFormation will make up stands as ``⟦STACK.LOGICAL_ID⟧``, so that references to it compare equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["Resolver", "Stack", "unknown"]

_ARN_KINDS = {
    "AWS::Batch::JobQueue": ("job-queue", "JobQueueName"),
    "AWS::Batch::ServiceEnvironment": ("service-environment", "ServiceEnvironmentName"),
    "AWS::Batch::SchedulingPolicy": ("scheduling-policy", "Name"),
}
_SHARE = "AWS::Batch::QuotaShare"
_FUNCTIONS = {
    "Ref": "_ref",
    "Fn::GetAtt": "_get_att",
    "Fn::Join": "_join",
    "Fn::Sub": "_sub",
    "Fn::Select": "_select",
    "Fn::Split": "_split",
    "Fn::If": "_if",
    "Fn::FindInMap": "_find_in_map",
    "Fn::ImportValue": "_import_value",
}
_PLACEHOLDER = re.compile(r"\$\{(!?)([^}]*)\}")
_NAMED = {"AWS::IAM::Role": "RoleName", "AWS::IAM::User": "UserName", "AWS::IAM::Group": "GroupName"}
_MAX_DEPTH, _MAX_STEPS = 64, 50_000
"""Bounds for templates that refer to themselves, or to the same thing over and over."""

_NO_VALUE = "⟦AWS.NoValue⟧"


def unknown(what: str) -> str:
    """Return the text that stands for something known only at deployment; it can be part of an ARN."""
    return f"⟦{re.sub('[:/]+', '.', what)}⟧"


@dataclass
class Stack:
    """A template and where it is deployed.

    Attributes
    ----------
    id : str
        Tells it from the other stacks.
    template : dict
    file : Path, optional
    account, region : str, optional
        None where unknown.
    construct_paths : mapping of str to str
        Construct path of each logical id, as far as known.
    programs : mapping of str to str
        ``FILE:LINE`` of the program that made each, as far as known.
    arguments : mapping of str to object
        Values of parameters that the parent stack gives a nested one.
    nested : dict of str to Stack
        Nested stacks by the logical id of their resource.
    """

    id: str
    template: dict[str, Any]
    file: Path | None = None
    account: str | None = None
    region: str | None = None
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    nested: dict[str, Stack] = field(default_factory=dict)

    @cached_property
    def resources(self) -> dict[str, dict[str, Any]]:
        """Resources by logical id; what isn't a resource is left out."""
        return {key: value for key, value in _map(self.template.get("Resources")).items() if isinstance(value, dict)}

    def source(self, logical_id: str) -> Source:
        """Return where the properties of a resource are declared."""
        path = self.construct_paths.get(logical_id, f"{self.id}/{logical_id}" if self.id else logical_id)
        keys = ("Resources", logical_id, "Properties")
        return Source(path, self.file, keys, logical_id, self.programs.get(logical_id, ""))


class Resolver:
    """Evaluates values of some stacks that may import each other's exports.

    Parameters
    ----------
    stacks : list of Stack
    """

    def __init__(self, stacks: list[Stack]) -> None:
        self._steps = 0
        self._exports: dict[str, tuple[Stack, Any]] = {}
        for stack in stacks:
            for output in _map(stack.template.get("Outputs")).values():
                name = _map(_map(output).get("Export")).get("Name")
                if isinstance(name, str):
                    self._exports[name] = (stack, output.get("Value"))

    def resolve(self, stack: Stack, value: Any) -> Any:
        """Return `value` without intrinsic functions."""
        self._steps = 0
        return self._resolve(stack, value, 0)

    def arn(self, stack: Stack, logical_id: str) -> str:
        """Return the ARN of a resource; of one that isn't Batch's, text that stands for it."""
        self._steps = 0
        return self._arn(stack, logical_id, 0)

    def _resolve(self, stack: Stack, value: Any, depth: int) -> Any:
        self._steps += 1
        if depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            return unknown("too much to evaluate")
        if isinstance(value, list):
            items = [self._resolve(stack, item, depth + 1) for item in value]
            return [item for item in items if item != _NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if (name == "Ref" and isinstance(argument, str)) or str(name).startswith("Fn::"):
                return self._function(stack, name, argument, depth + 1)
        resolved = {key: self._resolve(stack, item, depth + 1) for key, item in value.items()}
        return {key: item for key, item in resolved.items() if item != _NO_VALUE}

    def _arn(self, stack: Stack, logical_id: str, depth: int) -> str:
        resource = stack.resources[logical_id]
        properties = _map(resource.get("Properties"))
        if resource.get("Type") == _SHARE:
            queue = str(self._resolve(stack, properties.get("JobQueue"), depth))
            queue_arn = queue if queue.startswith("arn:") else self._batch_arn(stack, "job-queue", queue)
            return f"{queue_arn}/quota-share/{self._resolve(stack, properties.get('QuotaShareName'), depth)}"
        kind, name_property = _ARN_KINDS.get(str(resource.get("Type")), ("", ""))
        if not kind:
            return unknown(f"{stack.id}.{logical_id}")
        name = self._resolve(stack, properties.get(name_property), depth)
        return self._batch_arn(stack, kind, str(name or unknown(f"{stack.id}.{logical_id}")))

    def _batch_arn(self, stack: Stack, kind: str, name: str) -> str:
        place = [self._pseudo(stack, f"AWS::{part}") for part in ("Partition", "Region", "AccountId")]
        return f"arn:{place[0]}:batch:{place[1]}:{place[2]}:{kind}/{name}"

    def _function(self, stack: Stack, name: str, argument: Any, depth: int) -> Any:
        function: Callable[[Stack, Any, int], Any] | None = getattr(self, _FUNCTIONS.get(name, ""), None)
        try:
            return unknown(name) if function is None else function(stack, argument, depth)
        except (ValueError, TypeError, IndexError, KeyError):
            return unknown(f"{name} {argument}")

    def _ref(self, stack: Stack, name: str, depth: int) -> Any:
        if name in stack.resources:
            resource = stack.resources[name]
            given = _map(resource.get("Properties")).get(_NAMED.get(str(resource.get("Type")), ""))
            return self._resolve(stack, given, depth) if given else self._arn(stack, name, depth)
        return stack.arguments[name] if name in stack.arguments else self._pseudo(stack, name)

    def _pseudo(self, stack: Stack, name: str) -> str:
        region = stack.region or ""
        known = {"AWS::AccountId": stack.account, "AWS::Region": stack.region}
        if name == "AWS::Partition" and region:
            partitions = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
            return next((partitions[prefix] for prefix in partitions if region.startswith(prefix)), "aws")
        return known.get(name) or unknown(name)

    def _get_att(self, stack: Stack, argument: Any, depth: int) -> Any:
        logical_id, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
        kind, _, output = str(attribute).partition(".")
        if kind == "Outputs" and logical_id in stack.nested:
            child = stack.nested[logical_id]
            return self._resolve(child, _map(child.template.get("Outputs"))[output]["Value"], depth)
        if logical_id in stack.resources and str(attribute).endswith("Arn"):
            return self._arn(stack, logical_id, depth)
        return unknown(f"{stack.id}.{logical_id}.{attribute}")

    def _join(self, stack: Stack, argument: Any, depth: int) -> Any:
        separator, parts = argument
        return str(separator).join(str(part) for part in self._resolve(stack, parts, depth))

    def _sub(self, stack: Stack, argument: Any, depth: int) -> Any:
        text, variables = (argument, {}) if isinstance(argument, str) else argument

        def value(found: re.Match[str]) -> str:
            escaped, name = found.groups()
            if escaped:
                return f"${{{name}}}"
            if name in variables:
                return str(self._resolve(stack, variables[name], depth))
            return str(self._get_att(stack, name, depth) if "." in name else self._ref(stack, name, depth))

        return _PLACEHOLDER.sub(value, text)

    def _select(self, stack: Stack, argument: Any, depth: int) -> Any:
        index, items = argument
        return self._resolve(stack, items, depth)[int(index)]

    def _split(self, stack: Stack, argument: Any, depth: int) -> Any:
        separator, text = argument
        return str(self._resolve(stack, text, depth)).split(separator)

    def _if(self, stack: Stack, argument: Any, depth: int) -> Any:
        name, yes, no = argument
        first, second = self._resolve(stack, yes, depth), self._resolve(stack, no, depth)
        return first if first == second else unknown(f"Fn::If {name}")

    def _find_in_map(self, stack: Stack, argument: Any, depth: int) -> Any:
        found: Any = _map(stack.template.get("Mappings"))
        for key in self._resolve(stack, argument[:3], depth):
            found = found[key]
        return found

    def _import_value(self, stack: Stack, argument: Any, depth: int) -> Any:
        name = self._resolve(stack, argument, depth)
        if name not in self._exports:
            return unknown(f"Fn::ImportValue {name}")
        exporter, value = self._exports[name]
        return self._resolve(exporter, value, depth)


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
