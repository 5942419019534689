"""Walks botocore's shapes: which members a document has, and whether it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.validate import ParamValidator

if TYPE_CHECKING:
    from botocore.model import Shape


def members(shape: Shape | None, path: str = "") -> set[str]:
    """Return the paths of all members of a shape, e.g. ``capacityLimits.maxCapacity``."""
    if shape is None:
        return set()
    if shape.type_name == "list":
        return members(shape.member, path)
    if shape.type_name == "map":
        return members(shape.value, path)
    if shape.type_name != "structure":
        return set()
    found = set()
    for name, member in shape.members.items():
        inner = f"{path}.{name}" if path else name
        found |= {inner} | members(member, inner)
    return found


def used(shape: Shape | None, document: Any, path: str = "") -> set[str]:
    """Return the paths of a shape's members that `document` has."""
    if shape is None:
        return set()
    if shape.type_name == "list":
        return set().union(*(used(shape.member, entry, path) for entry in document))
    if shape.type_name == "map":
        return set().union(*(used(shape.value, entry, path) for entry in document.values()))
    if shape.type_name != "structure":
        return set()
    found = set()
    for name, value in document.items():
        inner = f"{path}.{name}" if path else name
        found |= {inner} | used(shape.members[name], value, inner)
    return found


def problems(shape: Shape | None, document: Any) -> str:
    """Return what in `document` doesn't fit a shape: missing, unknown or of the wrong type; "" if all fits."""
    if shape is None:
        return "" if not document else f"unexpected {document}"
    report = ParamValidator().validate(document, shape)
    return str(report.generate_report()) if report.has_errors() else _wrong_enums(shape, document, "")


def _wrong_enums(shape: Shape, document: Any, path: str) -> str:
    if shape.type_name == "structure":
        found = (_wrong_enums(shape.members[key], value, f"{path}.{key}") for key, value in document.items())
    elif shape.type_name == "list":
        found = (_wrong_enums(shape.member, entry, path) for entry in document)
    elif shape.type_name == "map":
        found = (_wrong_enums(shape.value, entry, path) for entry in document.values())
    else:
        allowed = getattr(shape, "enum", None)
        return "" if not allowed or document in allowed else f"{path} is {document!r}"
    return "".join(found)
