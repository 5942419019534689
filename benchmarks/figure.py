"""One measured figure and the target it is held against."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Figure"]


class Figure(NamedTuple):
    """A row of the table; `met` is None for a figure without a target."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """Whether the target is met, in a word."""
        return "" if self.met is None else "yes" if self.met else "no"
