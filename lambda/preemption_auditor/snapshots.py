"""Copies of an audit's state, to go back to when an event comes late."""

from __future__ import annotations

import copyreg
import io
import pickle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["restore", "take_snapshot"]


def take_snapshot(state: object) -> bytes:
    """Return a copy of a state that only :func:`restore` in this process is meant to read."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = copyreg.dispatch_table | {MappingProxyType: _reduced}
    pickler.dump(state)
    return buffer.getvalue()


def restore(snapshot: bytes) -> Any:
    """Return the state a snapshot was taken of."""
    return pickle.loads(snapshot)


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[dict[Any, Any]]]:
    return _proxy, (dict(mapping),)


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)
