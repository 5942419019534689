"""What is wrong with the form of a deployment file, in the words of its keys and with the rule each belongs to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from constructs_qm.deployment.models import WORDS_OF_PATTERNS
from constructs_qm.deployment.schema import deployment_schema
from quota_scheduler.policy_form import FormFault, is_guess, unknown_key
from quota_scheduler.time_limits import check_time_limit
from quota_scheduler.value_rules import check_limits, check_name, check_sharing, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic_core import ErrorDetails

    from constructs_qm.validation.declared import Keys
    from quota_scheduler import Finding

__all__ = ["faults_of", "name_place"]

_RULE_OF_MISSING = {"name": "QM001", "limits": "QM002", "environment": "QM002"}

_WORDS_OF_TYPES = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text, in quotation marks",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a map",
}


def faults_of(data: Any, errors: Sequence[ErrorDetails]) -> list[FormFault]:
    """Return pydantic's errors as faults: each mistake once, with keys as the file has them.

    Parameters
    ----------
    data : object
        The document.
    errors : sequence of pydantic_core.ErrorDetails
        At least one.
    """
    faults: list[FormFault] = []
    for error in sorted(errors, key=lambda error: error["type"] != "extra_forbidden"):
        keys = _keys_in(data, error["loc"])
        if error["type"] == "missing":
            said = any(fault.keys[:-1] == keys and is_guess(fault.message, error["loc"][-1]) for fault in faults)
        else:  # of a value's alternatives, the first says most
            said = any(fault.keys[: len(keys)] == keys for fault in faults)
        if not said:
            faults += _faults(data, keys, error)
    return faults


def _faults(data: Any, keys: Keys, error: ErrorDetails) -> Iterator[FormFault]:
    where, value = name_place(data, keys), error["input"]
    match error["type"]:
        case "missing":
            key = str(error["loc"][-1])
            required = ", ".join(_schema_at(keys)["required"])
            rule = _RULE_OF_MISSING.get(key, "QM-F05")
            yield FormFault(rule, f"{key!r} is missing: give {required}", where, keys)
        case "extra_forbidden":
            known = [*_schema_at(keys[:-1])["properties"]]
            yield FormFault("QM-F04", unknown_key(keys[-1], known), name_place(data, keys[:-1]), keys)
        case _:
            findings = [*_by_rule(keys, value)]
            yield from (FormFault(finding.rule, finding.message, where, keys) for finding in findings)
            if not findings:
                yield FormFault("QM-F06", f"{short(value)} is not allowed: use {_allowed(keys, error)}", where, keys)


def _by_rule(keys: Keys, value: object) -> Iterable[Finding]:
    """Ask the policy rule that a value belongs to, if there is one."""
    match keys:
        case (*_, int(), "name"):
            return check_name(value)
        case (*_, int(), "environment" | "limits"):
            return check_limits(value)
        case (*_, int(), "environment" | "limits", unit):
            return check_limits([(unit, value)])
        case (*_, int() | "share", "strategy"):
            return check_sharing(value, None)
        case (*_, int() | "share", "borrowLimit"):
            return check_sharing("LEND_AND_BORROW", value)
        case (*_, int() | "queue", "timeLimits", reason):
            return check_time_limit(reason, value, "TERMINATE", "RUNNABLE")
    return ()


def _allowed(keys: Keys, error: ErrorDetails) -> str:
    """Return what a place takes, in words that go on after "use"."""
    schema, kind = _schema_at(keys), error["type"]
    match kind:
        case "string_pattern_mismatch":
            return WORDS_OF_PATTERNS[error["ctx"]["pattern"]]
        case "literal_error":
            return str(error["ctx"]["expected"])
        case "model_type":
            return f"a map with {', '.join(schema['properties'])}{', or false' if _is_switch(keys) else ''}"
        case "greater_than_equal" | "less_than_equal":
            return f"{schema['minimum']} " + (f"to {schema['maximum']}" if "maximum" in schema else "or more")
        case "greater_than":
            return f"more than {schema['exclusiveMinimum']}"
    return _WORDS_OF_TYPES.get(kind, error["msg"].removeprefix("Input should be "))


def _keys_in(data: Any, location: Iterable[str | int]) -> Keys:
    """Return a location without what pydantic adds: ``[key]``, and names of alternatives."""
    keys: list[str | int] = []
    for part in location:
        own: Iterable[Any] = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        for key in [key for key in own if str(key) == str(part)][:1]:  # pydantic makes text of null
            keys.append(key)
            data = data[key]
    return tuple(keys)


def name_place(data: Any, keys: Keys) -> str:
    """Return keys in words: queues as ``TEAM/REGION/QUEUE``, and shares by their names."""
    words = []
    for key in keys:
        data = data[key]
        name = data.get("name") if isinstance(key, int) and isinstance(data, dict) else None
        words.append(name if isinstance(name, str) else str(key))
    if keys[:5:2] == ("teams", "regions", "queues") and len(keys) > 5:
        words = ["/".join(words[1:6:2]), *words[6:]]
    return ".".join(words)


def _schema_at(keys: Keys) -> dict[str, Any]:
    """Return the part of the JSON Schema for a place in the file."""
    schema = _resolved(_schema())
    for key in keys:
        schema = _resolved(_below(schema, key))
    return schema


def _is_switch(keys: Keys) -> bool:
    """Tell whether a place takes false instead of a map."""
    *above, last = keys
    return {"const": False, "type": "boolean"} in _below(_schema_at(tuple(above)), last).get("anyOf", ())


def _below(schema: dict[str, Any], key: str | int) -> dict[str, Any]:
    of_any_key = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    found: Any = schema.get("properties", {}).get(key, schema.get("items", of_any_key))
    return found if isinstance(found, dict) else {}


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, or the first alternative."""
    schema = schema["anyOf"][0] if "anyOf" in schema else schema
    reference = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = _schema()["$defs"][reference] if reference else schema
    return found


@cache
def _schema() -> dict[str, Any]:
    return deployment_schema()
