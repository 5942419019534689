"""Cloud assemblies (``cdk.out``): their templates, and what the CDK wrote beside them.

Beside a template stand, for each construct, its logical id, the lines of the program that made it (where
``JSII_HOST_STACK_TRACES=1`` was set), the warnings it gave itself and the rules its owner acknowledged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from constructs_qm.documents import read_document
from constructs_qm.validation.intrinsics import Resolver, Stack
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["PLUGIN", "Acknowledged", "Assembly", "read_assembly", "read_stacks"]

PLUGIN = "constructs-qm"
"""Name of the plugin, and the namespace of its rules in acknowledgements."""

_STACK, _NESTED_ASSEMBLY = "aws:cloudformation:stack", "cdk:cloud-assembly"
_FRAME = re.compile(r".*\((?P<place>.+\.py:\d+)\)")
_RULE = re.compile(r"\[ack: constructs-qm:(QM\d+)\]|\[(QM015)\]")
_LIBRARIES = (str(Path(__file__).parents[1]), "site-packages", "dist-packages")
_MAX_NESTING = 32


class Acknowledged(NamedTuple):
    """That somebody accepts a finding.

    Attributes
    ----------
    reason : str
    of_plugin : bool
        Whether it names the plugin's rule (``constructs-qm::QM010``) and not a construct's own warning
        (``constructs-qm:QM010``).
    """

    reason: str
    of_plugin: bool


@dataclass
class Assembly:
    """What some stacks of an app say.

    Attributes
    ----------
    stacks : list of Stack
        Nested ones included.
    said : set of (str, str)
        Construct path and rule of what constructs say themselves, by annotations.
    acknowledged : dict of (str, str) to Acknowledged
        By construct path and rule.
    """

    stacks: list[Stack] = field(default_factory=list)
    said: set[tuple[str, str]] = field(default_factory=set)
    acknowledged: dict[tuple[str, str], Acknowledged] = field(default_factory=dict)

    def is_said(self, path: str, rule: str) -> bool:
        """Tell whether a construct at or above `path` gives the warning itself."""
        return any((above, rule) in self.said for above in _upwards(path))

    def acknowledgement(self, path: str, rule: str) -> Acknowledged | None:
        """Return the nearest acknowledgement of a rule at or above `path`."""
        return next(filter(None, (self.acknowledged.get((above, rule)) for above in _upwards(path))), None)


def read_assembly(folder: Path) -> Assembly:
    """Read every stack of a cloud assembly, stages included.

    Raises
    ------
    DocumentError
        Not a cloud assembly, or one of its files can't be read.
    """
    assembly = Assembly()
    _read_folder(folder, None, assembly, 0)
    _name_arguments(assembly)
    return assembly


def read_stacks(templates: Iterable[Path]) -> Assembly:
    """Read those stacks of cloud assemblies that have these templates.

    Raises
    ------
    DocumentError
        One of the files can't be read.
    """
    wanted = list(templates)
    assembly = Assembly()
    for folder in dict.fromkeys(template.parent for template in wanted):
        _read_folder(folder, {t.name for t in wanted if t.parent == folder}, assembly, 0)
    _name_arguments(assembly)
    return assembly


def _read_folder(folder: Path, wanted: set[str] | None, assembly: Assembly, depth: int) -> None:
    """Read the stacks of one manifest; `wanted` names templates, None stands for all and for stages below."""
    manifest = read_document(folder / "manifest.json")
    artifacts = manifest.get("artifacts") if isinstance(manifest, dict) else None
    if not isinstance(artifacts, dict) or depth > _MAX_NESTING:
        raise DocumentError(f"{folder / 'manifest.json'}: not the manifest of a cloud assembly")
    for artifact in artifacts.values():
        properties = artifact.get("properties", {})
        if artifact.get("type") == _NESTED_ASSEMBLY and wanted is None:
            _read_folder(folder / _inside(properties.get("directoryName")), None, assembly, depth + 1)
        elif artifact.get("type") == _STACK and (wanted is None or properties.get("templateFile") in wanted):
            _read_stack(folder, artifact, assembly)


def _read_stack(folder: Path, artifact: dict[str, Any], assembly: Assembly) -> None:
    metadata = dict(artifact.get("metadata") or {})
    if "additionalMetadataFile" in artifact:
        metadata.update(read_document(folder / _inside(artifact["additionalMetadataFile"])))
    paths: dict[str, list[str]] = {}
    programs: dict[str, str] = {}
    for key, entries in metadata.items():
        path = key.lstrip("/")
        for entry in entries:
            data = entry.get("data")
            match entry.get("type"):
                case "aws:cdk:logicalId":
                    paths.setdefault(data, []).append(path)
                case "aws:cdk:creationStack":
                    programs[path] = _program(data)
                case "aws:cdk:acknowledged-rules":
                    assembly.acknowledged.update(_acknowledged(path, data))
                case "aws:cdk:warning" | "aws:cdk:info":
                    assembly.said.update((path, found[1] or found[2]) for found in _RULE.finditer(str(data)))
    account, region = _environment(str(artifact.get("environment")))
    stack = Stack(
        id=str(artifact.get("displayName", "")).split(" ")[0],
        template=_template(folder / _inside(artifact["properties"]["templateFile"])),
        file=folder / artifact["properties"]["templateFile"],
        account=account,
        region=region,
    )
    _describe(stack, paths, programs)
    assembly.stacks += [stack, *_nested(stack, paths, programs, 0)]


def _nested(parent: Stack, paths: dict[str, list[str]], programs: dict[str, str], depth: int) -> Iterator[Stack]:
    """Yield the nested stacks of a stack, whose templates are assets in the same folder."""
    for logical_id, resource in parent.resources.items():
        asset = (resource.get("Metadata") or {}).get("aws:asset:path")
        if resource.get("Type") != "AWS::CloudFormation::Stack" or not asset or depth > _MAX_NESTING:
            continue
        assert parent.file is not None
        file = parent.file.parent / _inside(asset)
        stack = Stack(f"{parent.id}.{logical_id}", _template(file), file, parent.account, parent.region)
        parent.nested[logical_id] = stack
        _describe(stack, paths, programs)
        yield stack
        yield from _nested(stack, paths, programs, depth + 1)


def _describe(stack: Stack, paths: dict[str, list[str]], programs: dict[str, str]) -> None:
    """Find the construct path of each resource, and the program's line that made it."""
    found = {}
    for logical_id, resource in stack.resources.items():
        path = (resource.get("Metadata") or {}).get("aws:cdk:path") or next(iter(paths.get(logical_id, [])), None)
        if path is not None:
            found[logical_id] = path
    stack.construct_paths = found
    stack.programs = {
        logical_id: next(filter(None, (programs.get(above) for above in _upwards(path))), "")
        for logical_id, path in found.items()
    }


def _name_arguments(assembly: Assembly) -> None:
    """Give each nested stack the values of its parameters, outermost first."""
    resolver = Resolver(assembly.stacks)
    for stack in assembly.stacks:
        for logical_id, child in stack.nested.items():
            properties = stack.resources[logical_id].get("Properties", {})
            child.arguments = resolver.resolve(stack, properties.get("Parameters") or {})


def _template(path: Path) -> dict[str, Any]:
    template = read_document(path)
    if not isinstance(template, dict):
        raise DocumentError(f"{path}: not a CloudFormation template")
    return template


def _inside(name: object) -> str:
    """Return a file name of a manifest; it can't lead out of its folder."""
    if not isinstance(name, str) or Path(name).is_absolute() or ".." in Path(name).parts:
        raise DocumentError(f"manifest names {name!r}: files of a cloud assembly are in its folder")
    return name


def _program(frames: object) -> str:
    """Return the innermost line of the user's own program, ``FILE:LINE``."""
    for frame in frames if isinstance(frames, list) else []:
        found = _FRAME.fullmatch(frame)
        if found and not any(part in found["place"] for part in _LIBRARIES):
            return found["place"]
    return ""


def _acknowledged(path: str, rules: dict[str, str]) -> Iterator[tuple[tuple[str, str], Acknowledged]]:
    for rule, reason in rules.items():
        of_plugin = rule.startswith(f"{PLUGIN}::")
        yield (path, rule.rsplit(":", 1)[-1]), Acknowledged(reason, of_plugin)


def _environment(environment: str) -> tuple[str | None, str | None]:
    """Return account and Region of ``aws://ACCOUNT/REGION``, None where unknown."""
    account, _, region = environment.removeprefix("aws://").partition("/")
    known = [None if part.startswith("unknown-") or not part else part for part in (account, region)]
    return known[0], known[1]


def _upwards(path: str) -> Iterator[str]:
    """Yield a construct path and those above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]
