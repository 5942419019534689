"""What is told of a simulated policy, in words: the measures of tables and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "CAPACITY_OF_SHARE",
    "TOTALS",
    "WAITS_OF_SHARE",
    "Measure",
    "duration",
    "policy_names",
    "rows_lines",
    "share_rows",
]

Measure: TypeAlias = "tuple[str, Callable[[dict[str, Any]], str]]"
"""A title, and what it says of an entry of ``policies`` or ``shares`` of ``batch-quota simulate --json``."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def policy_names(results: list[dict[str, Any]]) -> list[str]:
    """Return the policies' file names, or paths where these aren't enough to tell them apart."""
    paths = [result["policy"] for result in results]
    stems = [Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else paths


def share_rows(results: list[dict[str, Any]], measures: list[Measure]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield share, policy and what `measures` say, share by share."""
    named = list(zip(policy_names(results), results, strict=True))
    for share in dict.fromkeys(share for result in results for share in result["shares"]):
        for name, result in named:
            if share in result["shares"]:
                yield share, name, [measure(result["shares"][share]) for _, measure in measures]


def rows_lines(rows: dict[str, Any]) -> Iterator[str]:
    """Yield what became of the rows of the trace."""
    yield f"{rows['used']} of {rows['read']} rows used, {rows['fixed']} of them mended"
    for reason, count in rows["fixed_reasons"].items():
        yield f"  mended: {reason}: {count}"
    for reason, count in rows["skipped"].items():
        yield f"  skipped: {reason}: {count}"


def _count(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: f"{entry[key]:,}"


def _time(key: str, part: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: duration(entry[key][part])


def _hours(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda entry: f"{entry[key] / _HOUR:,.0f}"


def duration(seconds: float | None) -> str:
    """Return a length of time in the unit that suits it; - where there is none."""
    if seconds is None:
        return "-"
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            return f"{seconds / size:,.1f}{unit}"
    return f"{seconds:,.0f}s"


_WAITS: list[Measure] = [
    ("wait mean", _time("wait_s", "mean")),
    ("wait p50", _time("wait_s", "p50")),
    ("wait p95", _time("wait_s", "p95")),
    ("wait max", _time("wait_s", "max")),
]
_RECLAIMS: list[Measure] = [
    ("reclaim p50", _time("reclaim_s", "p50")),
    ("reclaim max", _time("reclaim_s", "max")),
]
TOTALS: list[Measure] = [
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
    ("lent instance-hours", _hours("lent_instance_s")),
    ("lost instance-hours", _hours("lost_instance_s")),
    ("span", lambda result: duration(result["span_s"])),
    ("jobs per second simulated", lambda result: f"{result['jobs_per_second']:,.0f}"),
]
WAITS_OF_SHARE: list[Measure] = [
    ("jobs", _count("jobs")),
    *_WAITS,
    ("blocked", _count("blocked")),
    ("never run", _count("never_dispatched")),
]
CAPACITY_OF_SHARE: list[Measure] = [
    ("borrowed inst.-h", _hours("borrowed_instance_s")),
    ("lent inst.-h", _hours("lent_instance_s")),
    ("lost inst.-h", _hours("lost_instance_s")),
    ("preempted", _count("preempted")),
    *_RECLAIMS,
]
