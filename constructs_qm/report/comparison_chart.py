"""The chart that compares what policies did to each share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plotly.subplots import make_subplots

from constructs_qm.report.chart import Chart, Table, label, line_style, short_label, style
from constructs_qm.report.palette import LIGHT
from constructs_qm.simulation_measures import policy_names

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["comparison_chart"]

_HOUR = 3600
_PATTERNS = ("", "/", "x", "-", ".", "+", "|", "\\")
_PANELS: tuple[tuple[str, Callable[[dict[str, Any]], float]], ...] = (
    ("wait p50, hours", lambda share: (share["wait_s"]["p50"] or 0) / _HOUR),
    ("wait p95, hours", lambda share: (share["wait_s"]["p95"] or 0) / _HOUR),
    ("borrowed inst.-h", lambda share: share["borrowed_instance_s"] / _HOUR),
    ("lent inst.-h", lambda share: share["lent_instance_s"] / _HOUR),
    ("preempted", lambda share: share["preempted"]),
    ("lost inst.-h", lambda share: share["lost_instance_s"] / _HOUR),
)
_COLUMNS = 2


def comparison_chart(identity: str, results: list[dict[str, Any]]) -> Chart:
    """Return bars of each share under each policy.

    Parameters
    ----------
    identity : str
        Of the chart.
    results : list of dict
        Entries of ``policies`` in ``batch-quota simulate --json``.
    """
    shares = list(dict.fromkeys(share for result in results for share in result["shares"]))
    names = policy_names(results)
    rows = -(-len(_PANELS) // _COLUMNS)
    height = 100 + rows * (70 + len(shares) * (8 + 13 * len(results)))
    figure = make_subplots(
        rows=rows,
        cols=_COLUMNS,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=70 / height,
        subplot_titles=[title for title, _ in _PANELS],
    )
    for index, (name, result) in enumerate(zip(names, results, strict=True)):
        present = [share for share in shares if share in result["shares"]]
        colour = line_style(index)["color"]
        for panel, (_, measure) in enumerate(_PANELS):
            figure.add_bar(
                x=[float(f"{measure(result['shares'][share]):.4g}") for share in present],
                y=[shares.index(share) for share in present],
                orientation="h",
                name=short_label(name),
                legendgroup=str(index),
                showlegend=panel == 0,
                marker={
                    "color": colour,
                    "line": {"color": colour, "width": 1},
                    "pattern": {
                        "shape": _PATTERNS[index % len(_PATTERNS)],
                        "fgcolor": LIGHT["background"],
                        "bgcolor": colour,
                        "fillmode": "replace",
                        "size": 6,
                        "solidity": 0.3,
                    },
                },
                hovertemplate=f"%{{x:,.2f}}<extra>{label(name).replace('%', '%%')}</extra>",
                row=panel // _COLUMNS + 1,
                col=panel % _COLUMNS + 1,
            )
    style(figure, height)
    figure.update_layout(barmode="group", bargap=0.25, hovermode="closest", margin_t=70)
    figure.update_annotations(font_size=13)
    figure.update_xaxes(rangemode="tozero")
    ticks = {"tickvals": list(range(len(shares))), "ticktext": [short_label(share) for share in shares]}
    figure.update_yaxes(range=[len(shares) - 0.5, -0.5], **ticks)
    return Chart(
        identity,
        "Shares side by side" if len(results) > 1 else "Shares",
        "What each policy did to each share: how long its jobs waited, what it borrowed and lent, how often its jobs "
        "were preempted and what work was lost by that.",
        figure,
        _table(shares, names, results),
        timed=False,
    )


def _table(shares: list[str], names: list[str], results: list[dict[str, Any]]) -> Table:
    rows = [
        [share, name, *(f"{measure(result['shares'][share]):,.2f}" for _, measure in _PANELS)]
        for share in shares
        for name, result in zip(names, results, strict=True)
        if share in result["shares"]
    ]
    return Table("Shares under each policy", ["share", "policy", *(title for title, _ in _PANELS)], rows, headings=2)
