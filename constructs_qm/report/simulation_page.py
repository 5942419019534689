"""The report of ``batch-quota simulate``: policies side by side, and what happened under each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from constructs_qm.report.activity_chart import activity_chart, highest_bar
from constructs_qm.report.capacity_chart import capacity_chart, tops
from constructs_qm.report.chart import Chart, Table
from constructs_qm.report.comparison_chart import comparison_chart
from constructs_qm.report.line_charts import highest_line, total_waiting_chart, utilisation_chart, waiting_chart
from constructs_qm.report.page import render
from constructs_qm.report.time_axis import TimeAxis
from constructs_qm.simulation_measures import (
    CAPACITY_OF_SHARE,
    TOTALS,
    WAITS_OF_SHARE,
    policy_names,
    rows_lines,
    share_rows,
)

if TYPE_CHECKING:
    from quota_scheduler.timeline import Timeline

__all__ = ["simulation_page"]

_SECTIONS = [
    ("summary", "Summary"),
    ("capacity", "Capacity"),
    ("activity", "Dispatches and preemptions"),
    ("waiting", "Waiting"),
    ("shares", "Each share in figures"),
]


class _Section(NamedTuple):
    """Charts of the same kind, one for each policy."""

    id: str
    title: str
    charts: list[Chart]


def simulation_page(trace: str, rows: dict[str, Any], results: list[dict[str, Any]], timelines: list[Timeline]) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    trace : str
        What the workload was read from.
    rows, results : dict, list of dict
        ``rows`` and ``policies`` of ``batch-quota simulate --json``.
    timelines : list of Timeline
        One for each policy.
    """
    names = policy_names(results)
    named = list(zip(names, timelines, strict=True))
    axis = TimeAxis(timelines[0].start, max(timeline.end for timeline in timelines), "the first submission")
    return render(
        "simulation.html",
        sections=_SECTIONS,
        names=names,
        trace=trace,
        rows=list(rows_lines(rows)),
        totals=Table(
            "Totals of each policy",
            ["measure", *names],
            [[title, *(measure(result) for result in results)] for title, measure in TOTALS],
        ),
        curves=[utilisation_chart("utilisation", named, axis), total_waiting_chart("total-waiting", named, axis)],
        comparison=comparison_chart("comparison", results),
        details=_details(named, axis),
        share_tables=[
            Table(caption, ["share", "policy", *(title for title, _ in measures)], _share_cells(results, measures), 2)
            for caption, measures in (("Waits", WAITS_OF_SHARE), ("Capacity and preemptions", CAPACITY_OF_SHARE))
        ],
    )


def _details(named: list[tuple[str, Timeline]], axis: TimeAxis) -> list[_Section]:
    highest = tops([timeline for _, timeline in named])
    most_waiting = max(highest_line(timeline) for _, timeline in named)
    most_dispatches = max(highest_bar(timeline) for _, timeline in named)
    titled = [(number, name if len(named) > 1 else "", timeline) for number, (name, timeline) in enumerate(named)]
    capacity = [capacity_chart(f"capacity-{n}", name, t, axis, highest) for n, name, t in titled]
    activity = [activity_chart(f"activity-{n}", name, t, axis, most_dispatches) for n, name, t in titled]
    waits = [waiting_chart(f"waiting-{n}", name, t, axis, most_waiting) for n, name, t in titled]
    return [
        _Section("capacity", "Capacity", capacity),
        _Section("activity", "Dispatches and preemptions", activity),
        _Section("waiting", "Waiting", waits),
    ]


def _share_cells(results: list[dict[str, Any]], measures: list[Any]) -> list[list[str]]:
    return [[share, policy, *cells] for share, policy, cells in share_rows(results, measures)]
