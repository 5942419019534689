"""Findings as reports show them: flat rows with file and line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.document import Document, read
from quota_scheduler import Level
from quota_scheduler.rule_catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from constructs_qm.validation.form_error import FormError
    from constructs_qm.validation.located import Located

__all__ = ["Row", "rows_of", "rows_of_form"]


@dataclass(frozen=True)
class Row:
    """One finding.

    Attributes
    ----------
    rule : str
    level : Level
    message : str
        What was given, what is allowed and how to mend it.
    path : str
        Construct and property, or place in a document.
    file : str, optional
        Relative to the working directory where it is below it.
    line, column : int, optional
        From 1.
    mend : str
        What to do about a finding of this rule.
    """

    rule: str
    level: Level
    message: str
    path: str
    file: str | None
    line: int | None
    column: int | None
    mend: str

    def to_document(self) -> dict[str, Any]:
        """Return it as an entry of ``findings`` in ``batch-quota validate --json``."""
        return {**vars(self), "level": self.level.value}


def rows_of(found: Iterable[Located]) -> list[Row]:
    """Look up where each finding stands: the program's line if it is known, else that of the document."""
    documents: dict[Path, Document] = {}
    return [_row(item, documents) for item in found]


def rows_of_form(error: FormError) -> list[Row]:
    """Return what is wrong with the form of a file."""
    file = _relative(error.file)
    return [
        Row(rule, Level.ERROR, message, where, file, line, column, RULES[rule].mend)
        for rule, message, where, line, column in error.faults
    ]


def _row(item: Located, documents: dict[Path, Document]) -> Row:
    finding, source = item.finding, item.source
    file, line, column = source.file, None, None
    if source.program:
        program, _, number = source.program.rpartition(":")
        file, line = Path(program), int(number)
    elif file is not None:
        if file not in documents:
            documents[file] = read(file)
        line, column = documents[file].place((*source.keys, *item.keys)) or (None, None)
    text = RULES.get(finding.rule)
    return Row(
        finding.rule,
        finding.level,
        finding.message,
        item.path,
        _relative(file) if file is not None else None,
        line,
        column,
        text.mend if text is not None else "",
    )


def _relative(file: Path) -> str:
    path = os.path.relpath(file)
    return Path(path if not path.startswith("..") else file).as_posix()
