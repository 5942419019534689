"""The chart of dispatches and preemptions, each linked from its victim to the job it was for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plotly.graph_objects import Figure

from constructs_qm.report.chart import Chart, Table, label, style
from constructs_qm.report.palette import LIGHT
from quota_scheduler import PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs_qm.report.time_axis import TimeAxis
    from quota_scheduler.timeline import PreemptionLink, Timeline

__all__ = ["Drawn", "activity_chart", "drawn_links"]

_COLUMNS = 160
"""Periods in which dispatches are counted for the figure; more could not be told apart."""
_KINDS = (
    (PreemptionKind.CROSS_SHARE, LIGHT["borrowed"], "solid", "x"),
    (PreemptionKind.IN_SHARE, LIGHT["in_share"], "dot", "diamond-tall"),
)


class Drawn(NamedTuple):
    """A preemption as it is drawn.

    Attributes
    ----------
    since, until : float
        From the decision to the victim's stop, in seconds.
    kind : PreemptionKind or None
        None where it isn't known.
    share : str
        The victim's.
    other : str
        The beneficiary's; empty where there is none.
    text : str
        What a pointer is told.
    """

    since: float
    until: float
    kind: PreemptionKind | None
    share: str
    other: str
    text: str


def activity_chart(identity: str, name: str, timeline: Timeline, axis: TimeAxis) -> Chart:
    """Return the chart of a simulation's dispatches and preemptions.

    Parameters
    ----------
    identity : str
        Of the chart.
    name : str
        What the timeline is of, for its title; may be empty.
    timeline : Timeline
    axis : TimeAxis
    """
    left_out = timeline.links_left_out
    kept = f"The {len(timeline.links):,} preemptions that stopped the most work are drawn, {left_out:,} are left out. "
    return Chart(
        id=identity,
        title=f"Dispatches and preemptions{f' under {name}' if name else ''}",
        summary="A mark's height is how many jobs of the share were dispatched in that time. A line leads from the job "
        f"that was stopped to the share of the job it was stopped for. {kept if left_out else ''}Pick one to see both.",
        figure=_figure(timeline, axis),
        table=_table(timeline.links, axis, left_out),
        selects=True,
    )


def _figure(timeline: Timeline, axis: TimeAxis) -> Figure:
    shares = list(timeline.shares)
    figure = Figure()
    _add_dispatches(figure, timeline, axis, shares)
    drawn = [Drawn(link.decided, link.stopped, link.kind, *_ends(link), _text(link)) for link in timeline.links]
    return drawn_links(figure, drawn, axis, shares)


def _add_dispatches(figure: Figure, timeline: Timeline, axis: TimeAxis, shares: list[str]) -> None:
    coarse = timeline.coarser(_COLUMNS)
    edges = coarse.edges()
    marks = [
        (axis.x((edges[index] + edges[index + 1]) / 2), place, int(count))
        for place, share in enumerate(shares)
        for index, count in enumerate(coarse.shares[share].dispatches)
        if count
    ]
    most = max((count for _, _, count in marks), default=1)
    figure.add_scatter(
        x=[x for x, _, _ in marks],
        y=[place for _, place, _ in marks],
        mode="markers",
        marker={
            "symbol": "line-ns",
            "size": [round(5 + 17 * count / most, 1) for _, _, count in marks],
            "line": {"width": 1.6, "color": LIGHT["own"]},
        },
        text=[f"{count:,} dispatched" for _, _, count in marks],
        hovertemplate="%{text}<extra></extra>",
        name=f"dispatches (highest: {most:,})",
    )


def drawn_links(figure: Figure, drawn: Sequence[Drawn], axis: TimeAxis, shares: list[str]) -> Figure:
    """Add preemptions to a figure whose vertical axis has the shares, and style it."""
    places = {share: place for place, share in enumerate(shares)}
    for kind, colour, dash, symbol in _KINDS:
        chosen = [(number, link) for number, link in enumerate(drawn) if (link.kind or _KINDS[0][0]) is kind]
        if not chosen:
            continue
        apart = 0.16 if kind is PreemptionKind.IN_SHARE else 0
        starts = [(number, axis.x(link.since), places[link.share] - apart, link.text) for number, link in chosen]
        ends = [
            (number, axis.x(link.until), places[link.other] + apart, link.text) for number, link in chosen if link.other
        ]
        ends_by_number = {number: (x, y) for number, x, y, _ in ends}
        lines_x: list[float | None] = []
        lines_y: list[float | None] = []
        for number, x, y, _ in starts:
            if number in ends_by_number:
                lines_x += [x, ends_by_number[number][0], None]
                lines_y += [y, ends_by_number[number][1], None]
        group = {"legendgroup": kind.value}
        figure.add_scatter(
            x=lines_x,
            y=lines_y,
            mode="lines",
            line={"width": 1, "color": colour, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
            **group,
        )
        for title, points, shape, size in (
            (f"{kind.value}: stopped", starts, symbol, 8),
            (f"{kind.value}: stopped for", ends, "triangle-up-open", 9),
        ):
            figure.add_scatter(
                x=[x for _, x, _, _ in points],
                y=[y for _, _, y, _ in points],
                customdata=[number for number, _, _, _ in points],
                text=[text for _, _, _, text in points],
                hovertemplate="%{text}<extra></extra>",
                mode="markers",
                marker={"symbol": shape, "size": size, "color": colour, "line": {"width": 1, "color": colour}},
                name=title,
                **group,
            )
    style(figure, 110 + max(3, len(shares)) * 46)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(range=axis.range, title_text=axis.title)
    figure.update_yaxes(
        tickvals=list(range(len(shares))), ticktext=[label(share) for share in shares], range=[len(shares) - 0.45, -0.6]
    )
    return figure


def _ends(link: PreemptionLink) -> tuple[str, str]:
    return link.victim_share, link.beneficiary_share


def _text(link: PreemptionLink) -> str:
    whom = f"for {link.beneficiary} of {link.beneficiary_share}" if link.beneficiary else "since limits were lowered"
    return label(f"{link.victim} of {link.victim_share} stopped {whom}")


def _table(links: Sequence[PreemptionLink], axis: TimeAxis, left_out: int) -> Table:
    rest = f"; {left_out:,} that stopped less work are left out" if left_out else ""
    return Table(
        caption=f"{len(links):,} preemptions{rest}",
        columns=[
            *("stopped job", "its share", "kind", "for job", "of share", "decided", "stopped after"),
            *("instances", "instance-hours held", "then"),
        ],
        rows=[
            [
                *(link.victim, link.victim_share, link.kind.value),
                *(link.beneficiary or "nobody: limits were lowered", link.beneficiary_share),
                *(axis.text(link.decided), f"{link.stopped - link.decided:,.0f}s"),
                *(str(link.instances), f"{link.instance_s / 3600:,.2f}", "FAILED" if link.failed else "RUNNABLE"),
            ]
            for link in links
        ],
    )
