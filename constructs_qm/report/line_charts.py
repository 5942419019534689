"""Charts of curves over time: what waits, and how much of the environment is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plotly.graph_objects import Figure

from constructs_qm.report.chart import Chart, Table, line_style, short_label, style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from constructs_qm.report.time_axis import Axis
    from quota_scheduler.timeline import Timeline

__all__ = ["highest_line", "total_waiting_chart", "utilisation_chart", "waiting_chart"]

_PERIODS = 24
_LINES = 8
"""Of shares; more can't be told apart."""

_Curve = tuple[str, "Timeline", "Callable[[Timeline], list[float]]"]
"""A name, the timeline it is of, and how its values are found for any stretches of that."""


def waiting_chart(identity: str, name: str, timeline: Timeline, axis: Axis, top: float) -> Chart:
    """Return a chart with a line for each share; `top` is the highest value that must fit."""
    everyone = [_waiting(share, timeline, [share]) for share in timeline.shares]
    drawn = _drawn(timeline)
    rest = f" The {_LINES} shares with most of them are drawn one by one, the others together."
    return _chart(
        identity,
        f"Waiting jobs of each share{f' under {name}' if name else ''}",
        f"Jobs in RUNNABLE, as means over equal periods.{rest if len(drawn) < len(everyone) else ''}",
        everyone,
        axis,
        ("waiting jobs", ",.2f", top),
        drawn,
    )


def highest_line(timeline: Timeline) -> float:
    """Return the highest value a chart of waiting jobs draws."""
    return max((value for _, _, values in _drawn(timeline) for value in values(timeline)), default=0.0)


def _drawn(timeline: Timeline) -> list[_Curve]:
    """Return the lines of the shares with most waiting jobs, and one of all others."""
    most = sorted(timeline.shares, key=lambda share: -sum(timeline.shares[share].waiting))[:_LINES]
    drawn = [_waiting(share, timeline, [share]) for share in timeline.shares if share in most]
    others = [share for share in timeline.shares if share not in most]
    if others:
        drawn.append(_waiting(f"{len(others)} other shares", timeline, others))
    return drawn


def _waiting(name: str, timeline: Timeline, shares: Sequence[str]) -> _Curve:
    def values(over: Timeline) -> list[float]:
        curves = [over.shares[share].waiting for share in shares]
        return over.means([sum(waits) for waits in zip(*curves, strict=True)] or [0.0] * len(over.environment))

    return name, timeline, values


def total_waiting_chart(identity: str, timelines: Sequence[tuple[str, Timeline]], axis: Axis) -> Chart:
    """Return a chart of all waiting jobs, with a line for each timeline."""
    return _chart(
        identity,
        "Waiting jobs",
        "Jobs of all shares in RUNNABLE, as means over equal periods.",
        [_waiting(name, timeline, list(timeline.shares)) for name, timeline in timelines],
        axis,
        ("waiting jobs", ",.2f", None),
    )


def utilisation_chart(identity: str, timelines: Sequence[tuple[str, Timeline]], axis: Axis) -> Chart:
    """Return a chart of the part of the environment that is used, with a line for each timeline."""
    return _chart(
        identity,
        "Utilisation of the environment",
        "Part of the environment's capacity that jobs held, of all units together, as means over equal periods.",
        [(name, timeline, lambda over: over.utilisation()) for name, timeline in timelines],
        axis,
        ("utilisation", ".1%", 1.0),
    )


def _chart(
    identity: str,
    title: str,
    summary: str,
    curves: Sequence[_Curve],
    axis: Axis,
    scale: tuple[str, str, float | None],
    drawn: Sequence[_Curve] | None = None,
) -> Chart:
    """Draw curves, all or those in `drawn`, and list them.

    `scale` is the vertical axis' title, the form of its values and its top.
    """
    drawn = curves if drawn is None else drawn
    named, form, top = scale
    figure = Figure()
    for index, (name, timeline, values) in enumerate(drawn):
        points = [float(f"{value:.4g}") for value in values(timeline)]
        figure.add_scatter(
            x=[axis.x(at) for at in timeline.edges()],
            y=[*points, points[-1]],
            mode="lines",
            line={"shape": "hv", "width": 1.8, **line_style(index)},
            name=short_label(name),
            showlegend=True,
            hovertemplate=f"%{{y:{form}}}",
        )
    style(figure, 330 + 22 * (len(drawn) // 3))
    figure.update_layout(hovermode="x unified")
    figure.update_xaxes(range=axis.range, title_text=axis.title)
    figure.update_yaxes(title_text=named, rangemode="tozero", tickformat=".0%" if form.endswith("%") else None)
    if top is not None:
        figure.update_yaxes(range=[0, top * 1.05 or 1])
    return Chart(identity, title, summary, figure, _table(title, curves, axis, form))


def _table(title: str, curves: Sequence[_Curve], axis: Axis, form: str) -> Table:
    rows = []
    for name, timeline, values in curves:
        coarse = timeline.coarser(_PERIODS)
        edges = coarse.edges()
        for index, value in enumerate(values(coarse)):
            rows.append([name, f"{axis.text(edges[index])} to {axis.text(edges[index + 1])}", format(value, form)])
    return Table(f"{title}: means in at most {_PERIODS} equal periods", ["", "period", "mean"], rows, headings=2)
