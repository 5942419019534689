"""Repairs of moto, one :class:`Patch` each: checked before they are applied, and undone afterwards."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Patch", "SeamError", "apply", "undo"]

_ABSENT = object()


class SeamError(RuntimeError):
    """moto isn't built the way this package takes it apart: use the version it pins."""


@dataclass(frozen=True)
class Patch:
    """A function of moto, replaced.

    Parameters
    ----------
    owner : class or module
    name : str
        Of the function in `owner`.
    parameters : str or None
        The names of its parameters, separated by spaces, as we know it; None where moto has no such function.
    make : callable
        Given the function as it is (None where there is none), returns the one to use instead.
    """

    owner: Any
    name: str
    parameters: str | None
    make: Callable[[Any], Any]

    def check(self) -> None:
        """Raise SeamError where moto's function isn't the one we know."""
        found = self.current()
        where = f"{self.owner.__module__ if isinstance(self.owner, type) else ''}.{self.owner.__name__}"
        what = f"{where.lstrip('.')}.{self.name}"
        if self.parameters is None:
            if found is not _ABSENT:
                raise SeamError(f"moto has changed: it has {what} now; use moto>=5.2,<5.3")
            return
        if found is _ABSENT:
            raise SeamError(f"moto has changed: {what} is gone; use moto>=5.2,<5.3")
        plain = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        function: Any = inspect.unwrap(plain) if callable(plain) else plain
        parameters = " ".join(inspect.signature(function).parameters)
        if parameters != self.parameters:
            raise SeamError(f"moto has changed: {what} takes {parameters}; use moto>=5.2,<5.3")

    def current(self) -> Any:
        """Return what `owner` itself has under the name, static and class methods as they are."""
        return vars(self.owner).get(self.name, _ABSENT)


def apply(patches: Iterable[Patch]) -> list[tuple[Patch, Any]]:
    """Apply patches; return what :func:`undo` needs.

    Raises
    ------
    SeamError
        One doesn't fit; none is applied then.
    """
    patches = list(patches)
    for patch in patches:
        patch.check()
    applied = []
    for patch in patches:
        original = patch.current()
        setattr(patch.owner, patch.name, patch.make(None if original is _ABSENT else original))
        applied.append((patch, original))
    return applied


def undo(applied: list[tuple[Patch, Any]]) -> None:
    """Put everything back as it was, last applied first."""
    for patch, original in reversed(applied):
        if original is _ABSENT:
            delattr(patch.owner, patch.name)
        else:
            setattr(patch.owner, patch.name, original)
    applied.clear()
