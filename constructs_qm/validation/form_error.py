"""Files of the wrong form: every fault with its place and rule id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["FormError", "PlacedFault", "RefusedError"]


class PlacedFault(NamedTuple):
    """A fault of form and where it stands.

    Attributes
    ----------
    rule : str
        ``QM-F01`` to ``QM-F08``, or the policy rule that the value belongs to.
    message : str
        What was given, what is allowed and how to mend it.
    where : str
        Part of the document, as a reader would call it; empty for the whole.
    line, column : int
        From 1.
    """

    rule: str
    message: str
    where: str = ""
    line: int = 1
    column: int = 1


class FormError(DocumentError):
    """A file that can't be taken for what it is meant to be.

    Parameters
    ----------
    file : Path
    faults : sequence of PlacedFault
        At least one; the message is the first one's, with a count of the others.
    """

    def __init__(self, file: Path, faults: Sequence[PlacedFault]) -> None:
        self.file = file
        self.faults = tuple(faults)
        first, *more = faults
        what = ": ".join(filter(None, (first.where, first.message)))
        count = f" (and {len(more)} more)" if more else ""
        super().__init__(f"{file}:{first.line}:{first.column}: {what} [{first.rule}]{count}")


class RefusedError(Exception):
    """A document refused while it is parsed, for what stands at one place."""

    def __init__(self, rule: str, message: str, line: int = 1, column: int = 1) -> None:
        self.fault = PlacedFault(rule, message, "", line, column)

    @classmethod
    def at(cls, mark: Any, rule: str, message: str) -> RefusedError:
        """Return the error at a mark of PyYAML's, which counts from 0."""
        return cls(rule, message, mark.line + 1, mark.column + 1)
