"""Where the commands print for people.

At a terminal, tables fit it and lines are wrapped at words. In a pipe a row of a table is a line and nothing is
wrapped, cut off or drawn. Under NO_COLOR no escape code is written at all.
"""

from __future__ import annotations

import os
import textwrap
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["make_console", "make_table", "print_text", "show_progress"]

_NO_LIMIT = 100_000
_PATIENCE = 1.0
"""Seconds after which one wants to know how far it is."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the command line end as it does for every command; rich would end with 1."""
        raise BrokenPipeError


def make_console(*, stderr: bool = False) -> Console:
    """Return a console for standard output, or for standard error."""
    no_color = bool(os.environ.get("NO_COLOR"))
    console = _Console(stderr=stderr, highlight=False, emoji=False, color_system=None if no_color else "auto")
    if not console.is_terminal:
        console.width = _NO_LIMIT
    return console


def make_table(console: Console, *columns: str) -> Table:
    """Return a table in the form that the console is read in; what is too long for a column is never cut off."""
    if console.is_terminal:
        table = Table(*columns, box=SIMPLE_HEAD, padding=(0, 0, 0, 1))
    else:
        table = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns:
        column.overflow = "fold"
    return table


def print_text(console: Console, text: str, style: str | None = None) -> None:
    """Print text whose lines may be long; at a terminal they go on indented."""
    for line in text.splitlines():
        if console.is_terminal:
            indent = " " * (len(line) - len(line.lstrip()))
            line = textwrap.fill(  # noqa: PLW2901
                line,
                console.width,
                initial_indent=indent,
                subsequent_indent=f"{indent}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        console.print(line, style=style, markup=False, soft_wrap=True)


@contextmanager
def show_progress(description: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Show on standard error how far something is, if that is a terminal and it takes longer than a second.

    Parameters
    ----------
    description : str
    total : float, optional
        What there is to do, in any unit; without it only that something is being done can be shown.

    Yields
    ------
    callable
        Takes how much of the total is done. Nothing may be printed meanwhile.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = make_console(stderr=True)
    if not console.is_terminal or console.color_system is None:  # it can't be drawn without escape codes
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    task = bar.add_task(description, total=total)
    later = Timer(_PATIENCE, bar.start)
    later.daemon = True
    later.start()
    try:
        yield lambda done: bar.update(task, completed=done)
    finally:
        later.cancel()
        later.join()
        bar.stop()
