"""Whatever is public says what it is given: the API reference shows no parameter without a word about it."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from importlib import import_module
from types import GenericAlias

import pytest

PUBLIC = ("constructs_qm", "constructs_qm.local", "constructs_qm.validation", "quota_scheduler", "preemption_auditor")


def is_class(value: object) -> bool:
    return inspect.isclass(value) and not isinstance(value, GenericAlias)  # which passes for one in Python 3.10


def parameters_of(value: object) -> set[str]:
    """Return what a function, or the making of a value, is given; not what a dataclass keeps to itself."""
    parameters = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    named = {one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    return named - {field.name for field in getattr(value, "__dataclass_fields__", {}).values() if not field.repr}


@pytest.mark.parametrize("package", PUBLIC)
def test_every_parameter_of_a_public_name_is_documented(package: str) -> None:
    """Errors are left out: they are raised for the reader, who makes none."""
    module = import_module(package)
    undocumented = []
    for name in module.__all__:
        value = getattr(module, name)
        if is_class(value) and not issubclass(value, Enum | Exception):
            text = " ".join(base.__doc__ or "" for base in value.__mro__)
        elif inspect.isfunction(value):
            text = value.__doc__ or ""
        else:
            continue
        undocumented += [f"{name}({word})" for word in parameters_of(value) - set(re.findall(r"\w+", text))]
    assert undocumented == []
