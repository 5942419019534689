"""What moto does anew with every request although it never changes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from moto import backends
from moto.core import responses as core_responses

from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["PATCHES"]


def _modules_once(original: Callable[[], Iterable[str]]) -> Callable[[], tuple[str, ...]]:
    """List moto's folder once: it looks at some 170 directories to route a request."""

    @cache
    def list_of_moto_modules() -> tuple[str, ...]:
        return tuple(original())

    return list_of_moto_modules


def _method_names_once(original: Callable[[type], list[str]]) -> Callable[[type], list[str]]:
    """List the methods of a response class once."""

    @cache
    def method_names_from_class(clazz: type) -> list[str]:
        return original(clazz)

    return method_names_from_class


PATCHES = [
    Patch(backends, "list_of_moto_modules", "", _modules_once),
    Patch(core_responses, "method_names_from_class", "clazz", _method_names_once),
]
