"""Tables that compare what policies did to a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.cli.console import make_table
from constructs_qm.simulation_measures import CAPACITY_OF_SHARE, TOTALS, WAITS_OF_SHARE, policy_names, share_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

__all__ = ["share_tables", "totals_table"]


def totals_table(console: Console, results: list[dict[str, Any]]) -> Table:
    """Return a row for each measure and a column for each policy."""
    table = make_table(console, "", *policy_names(results))
    for column in table.columns[1:]:
        column.justify = "right"
    for title, measure in TOTALS:
        table.add_row(title, *(measure(result) for result in results))
    return table


def share_tables(console: Console, results: list[dict[str, Any]]) -> Iterator[Table]:
    """Yield tables with a row for each share and policy: what its jobs waited, and what it lent and lost."""
    for measures in (WAITS_OF_SHARE, CAPACITY_OF_SHARE):
        names = ["share", "policy"] if len(results) > 1 else ["share"]
        space = "\n" if console.is_terminal else " "  # eight columns fit if their headings have two lines
        table = make_table(console, *names, *(title.replace(" ", space) for title, _ in measures))
        for column in table.columns[len(names) :]:
            column.justify = "right"
            column.no_wrap = True
        for share, policy, cells in share_rows(results, measures):
            table.add_row(share, *([policy] if len(results) > 1 else []), *cells)
        yield table
