"""The chart of dispatches and preemptions, each linked from its victim to the job it was for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plotly.graph_objects import Figure

from constructs_qm.report.chart import Chart, Table, label, short_label, style
from constructs_qm.report.palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs_qm.report.time_axis import Axis
    from quota_scheduler.timeline import PreemptionLink, Timeline

__all__ = ["Drawn", "activity_chart", "add_links", "highest_bar"]

_COLUMNS = 160
"""Periods in which dispatches are counted for the figure; more could not be told apart."""
_KINDS = (
    ("cross-share", LIGHT["borrowed"], "solid", "x"),
    ("in-share", LIGHT["in_share"], "dot", "diamond"),
    ("unknown", LIGHT["muted"], "dash", "square"),
)
_PERIODS = 24
_BAR = 0.62
"""Height of the highest bar, in rows: the rest of a row is for preemptions."""
_APART = 0.15


class Drawn(NamedTuple):
    """A preemption as it is drawn.

    Attributes
    ----------
    since, until : float
        From the decision to the victim's stop, in seconds.
    kind : str
        ``unknown`` where it isn't known.
    share : str
        The victim's.
    other : str
        The beneficiary's; empty where there is none.
    text : str
        What a pointer is told.
    """

    since: float
    until: float
    kind: str
    share: str
    other: str
    text: str


def activity_chart(identity: str, name: str, timeline: Timeline, axis: Axis, most: float) -> Chart:
    """Return the chart of a simulation's dispatches and preemptions.

    Parameters
    ----------
    identity : str
        Of the chart.
    name : str
        What the timeline is of, for its title; may be empty.
    timeline : Timeline
    axis : Axis
    most : float
        How many dispatches the highest bar stands for.
    """
    left_out = timeline.links_left_out
    lines = " A line leads from a job that was stopped to the share of the job it was stopped for; pick either end. "
    rest = f"Drawn are the {len(timeline.links):,} preemptions that stopped the most work; {left_out:,} are left out."
    return Chart(
        id=identity,
        title=f"Dispatches and preemptions{f' under {name}' if name else ''}",
        summary="Bars count the jobs of a share that were dispatched and preempted in a period."
        f"{lines if timeline.links else ''}{rest if left_out else ''}",
        figure=_figure(timeline, axis, most),
        table=_table(timeline.links, axis, left_out),
        counts=_count_table(timeline, axis),
        selects=True,
    )


def highest_bar(timeline: Timeline) -> float:
    """Return the most dispatches of a share in one period of the chart."""
    shares = timeline.coarser(_COLUMNS).shares.values()
    return max((count for share in shares for count in share.dispatches), default=0) or 1


def _figure(timeline: Timeline, axis: Axis, most: float) -> Figure:
    shares = list(timeline.shares)
    figure = Figure()
    _add_counts(figure, timeline, axis, most)
    drawn = [Drawn(link.decided, link.stopped, link.kind.value, *_ends(link), _text(link)) for link in timeline.links]
    return add_links(figure, drawn, axis, shares)


def _add_counts(figure: Figure, timeline: Timeline, axis: Axis, most: float) -> None:
    """Add bars on the line of each share: dispatches, and preemptions before them, at the same scale."""
    coarse = timeline.coarser(_COLUMNS)
    edges = [axis.x(at) for at in coarse.edges()]
    looks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("dispatches", f"dispatched (up to {most:,.0f})", {"color": LIGHT["dispatched"]}),
        (
            "preempted",
            "preempted",
            {
                "color": LIGHT["borrowed"],
                "pattern": {
                    "shape": "/",
                    "size": 4,
                    "fillmode": "replace",
                    "fgcolor": LIGHT["borrowed"],
                    "bgcolor": LIGHT["borrowed_tint"],
                },
            },
        ),
    )
    for field, name, look in looks:
        bars = [
            (index, place, int(count))
            for place, curves in enumerate(coarse.shares.values())
            for index, count in enumerate(getattr(curves, field))
            if count
        ]
        figure.add_bar(
            x=[edges[index] for index, _, _ in bars],
            width=[edges[index + 1] - edges[index] for index, _, _ in bars],
            offset=0,
            base=[place for _, place, _ in bars],
            y=[round(-_BAR * count / most, 3) for *_, count in bars],
            marker={**look, "line": {"width": 0}},
            text=[f"{count:,} {field}" for *_, count in bars],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
            name=name,
        )


def add_links(figure: Figure, drawn: Sequence[Drawn], axis: Axis, shares: list[str]) -> Figure:
    """Add preemptions to a figure whose vertical axis has the shares, and style it."""
    places = {share: place for place, share in enumerate(shares)}
    for kind, colour, dash, symbol in _KINDS:
        apart = _APART if kind == "in-share" else 0
        chosen = [(number, link) for number, link in enumerate(drawn) if link.kind == kind]
        starts = {n: (axis.x(link.since), places[link.share] + apart / 2, link.text) for n, link in chosen}
        ends = {n: (axis.x(link.until), places[link.other] + 2 * apart, link.text) for n, link in chosen if link.other}
        if not starts:
            continue
        figure.add_scatter(
            x=[x for number, end in ends.items() for x in (starts[number][0], end[0], None)],
            y=[y for number, end in ends.items() for y in (starts[number][1], end[1], None)],
            mode="lines",
            line={"width": 1, "color": colour, "dash": dash},
            opacity=0.6,
            hoverinfo="skip",
            showlegend=False,
            legendgroup=kind,
        )
        for points, shape in ((starts, symbol), (ends, "triangle-up-open")):
            figure.add_scatter(
                x=[x for x, _, _ in points.values()],
                y=[y for _, y, _ in points.values()],
                customdata=list(points),
                text=[text for _, _, text in points.values()],
                hovertemplate="%{text}<extra></extra>",
                mode="markers",
                marker={"symbol": shape, "size": 8, "color": colour, "line": {"width": 1.2, "color": colour}},
                name=f"{kind} (\u25b3: for whom)",
                showlegend=points is starts,
                legendgroup=kind,
            )
    style(figure, 130 + len(shares) * 78)
    figure.update_layout(hovermode="closest", margin_t=84, barmode="overlay", showlegend=True)
    figure.update_xaxes(range=axis.range, title_text=axis.title)
    figure.update_yaxes(
        tickvals=list(range(len(shares))),
        ticktext=[short_label(share) for share in shares],
        range=[len(shares) - 1 + 0.5, -_BAR - 0.1],
    )
    return figure


def _count_table(timeline: Timeline, axis: Axis) -> Table:
    coarse = timeline.coarser(_PERIODS)
    edges = coarse.edges()
    return Table(
        caption=f"Dispatches and preemptions in at most {_PERIODS} equal periods",
        columns=["share", "period", "dispatched", "preempted"],
        rows=[
            [share, f"{axis.text(since)} to {axis.text(until)}", f"{dispatches:,.0f}", f"{preempted:,.0f}"]
            for share, curves in coarse.shares.items()
            for since, until, dispatches, preempted in zip(
                edges, edges[1:], curves.dispatches, curves.preempted, strict=False
            )
        ],
        headings=2,
    )


def _ends(link: PreemptionLink) -> tuple[str, str]:
    return link.victim_share, link.beneficiary_share


def _text(link: PreemptionLink) -> str:
    whom = f"for {link.beneficiary} of {link.beneficiary_share}" if link.beneficiary else "since limits were lowered"
    return label(f"{link.victim} of {link.victim_share} stopped {whom}")


def _table(links: Sequence[PreemptionLink], axis: Axis, left_out: int) -> Table:
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
