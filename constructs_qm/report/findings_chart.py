"""The chart of an audit's findings over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plotly.graph_objects import Figure

from constructs_qm.report.chart import Chart, Table, label, style
from constructs_qm.report.palette import LIGHT
from preemption_auditor.instants import SECOND, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs_qm.report.time_axis import Axis

__all__ = ["findings_chart", "seconds"]

_LOOKS = (
    ("violation", "violations", LIGHT["borrowed"], "x"),
    ("divergence", "divergences", LIGHT["in_share"], "diamond"),
    ("note", "notes", LIGHT["muted"], "circle-open"),
)


def findings_chart(identity: str, findings: Sequence[dict[str, Any]], axis: Axis) -> Chart:
    """Return a chart with a line for each rule, and a mark for each finding.

    Parameters
    ----------
    identity : str
        Of the chart.
    findings : sequence of dict
        ``findings`` of ``batch-quota audit --json``.
    axis : Axis
    """
    rules = sorted({finding["rule"] for finding in findings})
    figure = Figure()
    for kind, name, colour, symbol in _LOOKS:
        chosen = [(number, finding) for number, finding in enumerate(findings) if finding["kind"] == kind]
        if chosen:
            figure.add_scatter(
                x=[axis.x(seconds(finding["from"])) for _, finding in chosen],
                y=[rules.index(finding["rule"]) for _, finding in chosen],
                customdata=[number for number, _ in chosen],
                text=[label(f"{finding['rule']}: {finding['seen']}") for _, finding in chosen],
                hovertemplate="%{text}<extra></extra>",
                mode="markers",
                marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 1.5, "color": colour}},
                name=name,
            )
    style(figure, 130 + 34 * len(rules))
    figure.update_layout(hovermode="closest", showlegend=True)
    figure.update_xaxes(range=axis.range, title_text=axis.title, type="date")
    figure.update_yaxes(tickvals=list(range(len(rules))), ticktext=rules, range=[len(rules) - 0.5, -0.5])
    return Chart(
        identity,
        "Findings over time",
        "Each mark is a finding, at the beginning of the time it speaks of; pick one to see what it says.",
        figure,
        _table(findings),
        selects=True,
    )


def seconds(time: str) -> float:
    """Return a time of a report in seconds since 1970; one that can't be a date is 0."""
    return (parse_time(time) or 0) / SECOND


def _table(findings: Sequence[dict[str, Any]]) -> Table:
    return Table(
        f"{len(findings):,} findings",
        ["rule", "kind", "shares", "jobs", "from", "to", "seen"],
        [
            [
                *(finding["rule"], finding["kind"], ", ".join(finding["shares"]), ", ".join(finding["jobs"])),
                *(finding["from"], finding["to"], finding["seen"]),
            ]
            for finding in findings
        ],
        figures=False,
    )
