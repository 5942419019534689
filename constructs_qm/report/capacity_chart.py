"""The chart of what each share uses, borrows and leaves idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plotly.subplots import make_subplots

from constructs_qm.report.chart import Chart, Table, label, style
from constructs_qm.report.palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plotly.graph_objects import Figure

    from constructs_qm.report.time_axis import Axis
    from quota_scheduler.timeline import CapacityCurves, Timeline

__all__ = ["capacity_chart", "tops"]

_PERIODS = 24
_ROW = 118
_AREAS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("own", "own", {"shape": ""}),
    ("reserved_idle", "idle, reserved", {"shape": ".", "size": 5, "solidity": 0.25}),
    ("lendable_idle", "idle, may be lent", {"shape": ""}),
    ("borrowed", "borrowed", {"shape": "/", "size": 6, "solidity": 0.45}),
)
_COLOURS = {"own": "own", "reserved_idle": "reserved", "lendable_idle": "lendable", "borrowed": "borrowed"}


def capacity_chart(
    identity: str, name: str, timeline: Timeline, axis: Axis, highest: dict[tuple[str, str], float]
) -> Chart:
    """Return a chart with a row for each share and unit.

    Parameters
    ----------
    identity : str
        Of the chart.
    name : str
        What the timeline is of, for its title; may be empty.
    timeline : Timeline
    axis : Axis
    highest : dict
        The highest value of each share and unit, so that charts side by side have the same scale.
    """
    return Chart(
        id=identity,
        title=f"Capacity of each share{f' under {name}' if name else ''}",
        summary="Instances in use within the share's limit (own), beyond it (borrowed, above the dashed limit), and "
        "left idle: kept back by a RESERVE share, or free to be lent. Means over equal periods.",
        figure=_figure(timeline, axis, highest),
        table=_table(timeline, axis),
    )


def tops(timelines: Sequence[Timeline]) -> dict[tuple[str, str], float]:
    """Return the highest value of each share and unit in any of the timelines."""
    highest: dict[tuple[str, str], float] = {}
    for timeline in timelines:
        for key, curves in timeline.capacity.items():
            totals = [sum(values) for values in zip(*curves, strict=True)]
            highest[key] = max(highest.get(key, 0.0), *timeline.means(totals))
    return highest


def _figure(timeline: Timeline, axis: Axis, highest: dict[tuple[str, str], float]) -> Figure:
    rows = len(timeline.capacity) or 1
    height = 96 + _ROW * rows
    figure = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=min(0.2, 30 / height))
    x = [axis.x(at) for at in timeline.edges()]
    shown: set[str] = set()
    for row, ((share, unit), curves) in enumerate(timeline.capacity.items(), start=1):
        _add_row(figure, row, x, timeline, curves, shown)
        title = share if len({unit for _, unit in timeline.capacity}) == 1 else f"{share}, {unit}"
        figure.add_annotation(
            text=f"<b>{label(title)}</b>",
            x=0,
            y=1,
            xref="x domain",
            yref=f"y{row if row > 1 else ''} domain",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
        )
        figure.update_yaxes(range=[0, highest[share, unit] * 1.08 or 1], nticks=4, row=row, col=1)
    style(figure, height)
    figure.update_xaxes(range=axis.range)
    figure.update_xaxes(title_text=axis.title, row=rows, col=1)
    figure.update_layout(hovermode="x unified")
    return figure


def _add_row(
    figure: Figure, row: int, x: list[Any], timeline: Timeline, curves: CapacityCurves, shown: set[str]
) -> None:
    """Add a share's areas, one upon the other, and its limit; what it never has is left out."""
    for field, title, pattern in _AREAS:
        curve = getattr(curves, field)
        if not any(curve):
            continue
        colour = LIGHT[_COLOURS[field]]
        tint = LIGHT.get(f"{_COLOURS[field]}_tint", colour)
        figure.add_scatter(
            **_steps(x, timeline.means(curve)),
            stackgroup="use",
            mode="lines",
            line={"shape": "hv", "width": 0.6, "color": colour},
            fillcolor=tint,
            fillpattern={**pattern, "fgcolor": colour, "bgcolor": tint},
            name=title,
            legendgroup=field,
            showlegend=field not in shown,
            hovertemplate="%{y:.2f}",
            row=row,
            col=1,
        )
        shown.add(field)
    limit = [sum(parts) for parts in zip(curves.own, curves.reserved_idle, curves.lendable_idle, strict=True)]
    figure.add_scatter(
        **_steps(x, timeline.means(limit)),
        mode="lines",
        line={"shape": "hv", "width": 1.4, "dash": "5px,3px", "color": LIGHT["text"]},
        name="capacity limit",
        legendgroup="limit",
        showlegend="limit" not in shown,
        hovertemplate="%{y:.2f}",
        row=row,
        col=1,
    )
    shown.add("limit")


def _steps(x: list[Any], means: list[float]) -> dict[str, list[Any]]:
    """Return the points of a curve that keeps its value to the end of each stretch."""
    values = [float(f"{mean:.4g}") for mean in means]
    return {"x": x, "y": [*values, values[-1]]}


def _table(timeline: Timeline, axis: Axis) -> Table:
    coarse = timeline.coarser(_PERIODS)
    edges = coarse.edges()
    rows = []
    for (share, unit), curves in coarse.capacity.items():
        means = [coarse.means(curve) for curve in curves]
        for index, values in enumerate(zip(*means, strict=True)):
            period = f"{axis.text(edges[index])} to {axis.text(edges[index + 1])}"
            limit = values[0] + values[2] + values[3]
            rows.append([share, unit, period, *(f"{value:,.2f}" for value in (*values, limit))])
    return Table(
        caption=f"Mean instances of each share in at most {_PERIODS} equal periods",
        columns=["share", "unit", "period", "own", "borrowed", "idle, reserved", "idle, may be lent", "limit"],
        rows=rows,
        headings=3,
    )
