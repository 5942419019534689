"""Requests checked against botocore's own model of AWS Batch.

Field names, types, enumerations and required members are never written down in this
package: they are read from the model that ships with botocore.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session

from constructs_qm.local.errors import ClientException

if TYPE_CHECKING:
    from botocore.model import OperationModel, ServiceModel, Shape

__all__ = ["batch_model", "operation_for_path", "read_request"]

_RANGES = {"integer": 2**31, "long": 2**63}
_CASELESS_ENUMS = {"ServiceJobRetryAction"}
"""AWS's own integration tests send ``Retry``."""


@cache
def batch_model() -> ServiceModel:
    """Return botocore's model of AWS Batch."""
    return botocore.session.get_session().get_service_model("batch")


@cache
def _operations() -> dict[tuple[str, str], OperationModel]:
    model = batch_model()
    operations = (model.operation_model(name) for name in model.operation_names)
    return {(operation.http["method"], operation.http["requestUri"]): operation for operation in operations}


_TAGS = re.compile(r"/v1/tags/(.+)")


def operation_for_path(method: str, path: str) -> tuple[OperationModel | None, str | None]:
    """Find the operation a request is for.

    Parameters
    ----------
    method : str
        HTTP method.
    path : str
        Decoded path, without the query string.

    Returns
    -------
    (OperationModel or None, str or None)
        The operation, None where there is none, and for the tag operations the ARN in the path.
        The ARN of a quota share has two slashes, so it is all that follows.
    """
    tags = _TAGS.fullmatch(path)
    if tags:
        return _operations().get((method, "/v1/tags/{resourceArn}")), tags[1]
    return _operations().get((method, path.rstrip("/"))), None


def read_request(operation: OperationModel, body: object) -> dict[str, Any]:
    """Check a request body against the operation's input shape.

    Parameters
    ----------
    operation : botocore.model.OperationModel
    body : object
        What ``json.loads`` made of it.

    Returns
    -------
    dict
        Known members only, without those that are null, as AWS's own servers read them.

    Raises
    ------
    ClientException
        A member is missing, has the wrong type or a value that isn't allowed.
    """
    request: dict[str, Any] = _read(operation.input_shape, body, "")
    return request


def _read(shape: Shape, value: object, path: str) -> Any:
    kind = shape.type_name
    if kind == "structure":
        return _read_structure(shape, value, path)
    if kind == "list":
        if not isinstance(value, list):
            raise _wrong(path, value, "a list")
        _check_size(shape, len(value), path, "entries")
        return [_read(shape.member, entry, f"{path}[{index}]") for index, entry in enumerate(value)]
    if kind == "map":
        if not isinstance(value, Mapping):
            raise _wrong(path, value, "an object")
        _check_size(shape, len(value), path, "entries")
        return {
            _read(shape.key, key, f"{path} key"): _read(shape.value, entry, f"{path}.{key}")
            for key, entry in value.items()
        }
    return _read_scalar(shape, value, path)


def _read_structure(shape: Shape, value: object, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(path, value, "an object")
    given = {name: entry for name, entry in value.items() if entry is not None and name in shape.members}
    for name in shape.required_members:
        if name not in given:
            raise ClientException(f"{_under(path, name)} is required")
    return {name: _read(shape.members[name], entry, _under(path, name)) for name, entry in given.items()}


def _read_scalar(shape: Shape, value: object, path: str) -> object:
    kind = shape.type_name
    if kind == "string":
        return _read_string(shape, value, path)
    if kind == "boolean":
        if not isinstance(value, bool):
            raise _wrong(path, value, "true or false")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(path, value, "a number")
    bound = _RANGES.get(kind)
    if bound is not None and (not isinstance(value, int) or not -bound <= value < bound):
        raise _wrong(path, value, f"a whole number of {bound.bit_length()} bits")
    return value


def _read_string(shape: Shape, value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(path, value, "a string")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise ClientException(f"{path} has half a surrogate pair: use valid Unicode")
    _check_size(shape, len(value), path, "characters")
    allowed = getattr(shape, "enum", None)
    if not allowed:
        return value
    known = value.upper() if shape.name in _CASELESS_ENUMS else value
    if known not in allowed:
        raise _wrong(path, value, f"one of {', '.join(allowed)}")
    return known


def _check_size(shape: Shape, size: int, path: str, what: str) -> None:
    low, high = shape.metadata.get("min", 0), shape.metadata.get("max")
    if size < low or (high is not None and size > high):
        most = f" to {high}" if high is not None else " or more"
        raise ClientException(f"{path} has {size} {what}: use {low}{most}")


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _wrong(path: str, value: object, allowed: str) -> ClientException:
    text = repr(value)
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    return ClientException(f"{path or 'the request'} {shown} is not allowed: use {allowed}")
