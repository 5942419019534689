"""Copies of an audit's state: to go back to when an event comes late, and to be kept between two runs.

A kept copy is only read by the same version of these packages, and restores nothing but their own
classes and plain containers.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any

__all__ = ["FORMAT", "restore", "take_snapshot"]

FORMAT = 2
"""Grows whenever a state that was kept can't be read any more."""
_OWN = ("preemption_auditor.", "quota_scheduler.")
_PLAIN = {
    ("builtins", "set"),
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("collections", "deque"),
    ("builtins", "int"),
    ("functools", "partial"),
    ("copyreg", "_reconstructor"),
    ("builtins", "object"),
}


def take_snapshot(state: object) -> bytes:
    """Return a copy of a state."""
    return zlib.compress(pickle.dumps((FORMAT, state), pickle.HIGHEST_PROTOCOL), 1)


def restore(snapshot: bytes) -> Any:
    """Return the state a snapshot was taken of.

    Raises
    ------
    ValueError
        It is of another version, or no snapshot.
    """
    try:
        version, state = _Unpickler(io.BytesIO(zlib.decompress(snapshot))).load()
    except (zlib.error, pickle.UnpicklingError, AttributeError, ImportError, EOFError, TypeError, IndexError) as error:
        raise ValueError(f"snapshot can't be read: {error}") from error
    if version != FORMAT:
        raise ValueError(f"snapshot is of format {version}, not {FORMAT}")
    return state


class _Unpickler(pickle.Unpickler):
    """Finds only our own classes and plain containers."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):  # how a method of an object is written down
            return _method
        if module.startswith(_OWN) or (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a snapshot")


def _method(owner: object, name: str) -> Any:
    if not type(owner).__module__.startswith(_OWN):
        raise pickle.UnpicklingError(f"{type(owner).__name__}.{name} has no place in a snapshot")
    return getattr(owner, name)
