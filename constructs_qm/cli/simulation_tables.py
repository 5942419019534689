"""Tables that compare what policies did to a workload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from constructs_qm.cli.console import make_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

__all__ = ["rows_lines", "share_tables", "totals_table"]

_Measure: TypeAlias = "tuple[str, Callable[[dict[str, Any]], str]]"

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def totals_table(console: Console, results: list[dict[str, Any]]) -> Table:
    """Return a row for each measure and a column for each policy."""
    table = make_table(console, "", *_names(results))
    for column in table.columns[1:]:
        column.justify = "right"
    for title, measure in _TOTALS:
        table.add_row(title, *(measure(result) for result in results))
    return table


def share_tables(console: Console, results: list[dict[str, Any]]) -> Iterator[Table]:
    """Yield tables with a row for each share and policy: what its jobs waited, and what it lent and lost."""
    named = list(zip(_names(results), results, strict=True))
    for measures in (_WAITS_OF_SHARE, _CAPACITY_OF_SHARE):
        names = ["share", "policy"] if len(results) > 1 else ["share"]
        space = "\n" if console.is_terminal else " "  # eight columns fit if their headings have two lines
        table = make_table(console, *names, *(title.replace(" ", space) for title, _ in measures))
        for column in table.columns[len(names) :]:
            column.justify = "right"
            column.no_wrap = True
        for share in dict.fromkeys(share for result in results for share in result["shares"]):
            for name, result in named:
                if share in result["shares"]:
                    cells = [measure(result["shares"][share]) for _, measure in measures]
                    table.add_row(share, *([name] if len(results) > 1 else []), *cells)
        yield table


def rows_lines(rows: dict[str, Any]) -> Iterator[str]:
    """Yield what became of the rows of the trace."""
    yield f"{rows['used']} of {rows['read']} rows used, {rows['fixed']} of them mended"
    for reason, count in rows["fixed_reasons"].items():
        yield f"  mended: {reason}: {count}"
    for reason, count in rows["skipped"].items():
        yield f"  skipped: {reason}: {count}"


def _names(results: list[dict[str, Any]]) -> list[str]:
    """Return the policies' file names, or paths where these aren't enough to tell them apart."""
    paths = [result["policy"] for result in results]
    stems = [Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else paths


def _count(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: f"{entry[key]:,}"


def _time(key: str, part: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: _duration(entry[key][part])


def _hours(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: f"{entry[key] / _HOUR:,.0f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            return f"{seconds / size:,.1f}{unit}"
    return f"{seconds:,.0f}s"


_WAITS: list[_Measure] = [
    ("wait mean", _time("wait_s", "mean")),
    ("wait p50", _time("wait_s", "p50")),
    ("wait p95", _time("wait_s", "p95")),
    ("wait max", _time("wait_s", "max")),
]
_RECLAIMS: list[_Measure] = [
    ("reclaim p50", _time("reclaim_s", "p50")),
    ("reclaim max", _time("reclaim_s", "max")),
]
_TOTALS: list[_Measure] = [
    ("jobs", _count("jobs")),
    ("finished", _count("finished")),
    ("failed", _count("failed")),
    ("blocked", _count("blocked")),
    ("never dispatched", _count("never_dispatched")),
    ("rejected", _count("rejected")),
    ("terminated", _count("terminated")),
    ("utilisation", lambda result: f"{result['utilisation']:.1%}"),
    *_WAITS,
    *_RECLAIMS,
    ("cross-share preemptions", lambda result: f"{result['preemptions']['cross-share']:,}"),
    ("in-share preemptions", lambda result: f"{result['preemptions']['in-share']:,}"),
    ("borrowed instance-hours", _hours("borrowed_instance_s")),
    ("lost instance-hours", _hours("lost_instance_s")),
    ("span", lambda result: _duration(result["span_s"])),
    ("jobs per second simulated", lambda result: f"{result['jobs_per_second']:,.0f}"),
]
_WAITS_OF_SHARE: list[_Measure] = [
    ("jobs", _count("jobs")),
    *_WAITS,
    ("blocked", _count("blocked")),
    ("never run", _count("never_dispatched")),
]
_CAPACITY_OF_SHARE: list[_Measure] = [
    ("borrowed inst.-h", _hours("borrowed_instance_s")),
    ("lent inst.-h", _hours("lent_instance_s")),
    ("lost inst.-h", _hours("lost_instance_s")),
    ("preempted", _count("preempted")),
    *_RECLAIMS,
]
