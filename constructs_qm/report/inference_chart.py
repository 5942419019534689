"""The chart of an audit's preemptions, with the jobs they seem to have been for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plotly.graph_objects import Figure

from constructs_qm.report.activity_chart import Drawn, add_links
from constructs_qm.report.chart import Chart, Table, label
from constructs_qm.report.findings_chart import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from constructs_qm.report.time_axis import Axis

__all__ = ["inference_chart"]

_SHOWN = 500


def inference_chart(
    identity: str, preemptions: Sequence[dict[str, Any]], axis: Axis, names: Mapping[str, str] | None = None
) -> Chart:
    """Return a chart with a line for each share.

    Parameters
    ----------
    identity : str
        Of the chart.
    preemptions : sequence of dict
        ``preemptions`` of ``batch-quota audit --json``; the last 500 are drawn.
    axis : Axis
    names : mapping of str to str, optional
        Names of jobs, by id.
    """
    named = names or {}
    left_out = len(preemptions) - _SHOWN
    shown = preemptions[-_SHOWN:]
    shares = sorted({entry["share"] for entry in shown} | {job["share"] for entry in shown for job in entry["for"]})
    figure = add_links(Figure(), [_drawn(entry, named) for entry in shown], axis, shares)
    figure.update_layout(height=130 + 48 * len(shares), margin_t=40)
    figure.update_yaxes(range=[len(shares) - 0.5, -0.5])  # without bars, rows need no room above their line
    rest = f" The last {_SHOWN:,} are drawn; {left_out:,} before them are left out." if left_out > 0 else ""
    return Chart(
        identity,
        "Preemptions and whom they were for",
        "Events don't name the job a preemption was for: it is inferred from who waited and who got the capacity. "
        f"A line leads from a job that was stopped to the share of that job; pick either end.{rest}",
        figure,
        _table(shown, named, left_out),
        selects=True,
    )


def _drawn(entry: dict[str, Any], names: Mapping[str, str]) -> Drawn:
    at = seconds(entry["from"])
    other = entry["for"][0]["share"] if entry["for"] else ""
    text = f"{names.get(entry['job'], entry['job'])} of {entry['share']} stopped for {_whom(entry, names)}"
    return Drawn(at, at, entry["kind"], entry["share"], other, label(text))


def _whom(entry: dict[str, Any], names: Mapping[str, str]) -> str:
    jobs = [f"{names.get(job['job'], job['job'])} of {job['share']}" for job in entry["for"]]
    return " or ".join(jobs) or "nobody that was seen"


def _table(shown: Sequence[dict[str, Any]], names: Mapping[str, str], left_out: int) -> Table:
    rest = f"; {left_out:,} before them are left out" if left_out > 0 else ""
    return Table(
        f"{len(shown):,} preemptions{rest}",
        ["stopped job", "its share", "kind", "for", "how sure that is", "from", "to"],
        [
            [
                *(names.get(entry["job"], entry["job"]), entry["share"], entry["kind"], _whom(entry, names)),
                *(entry["confidence"], entry["from"], entry["to"]),
            ]
            for entry in shown
        ],
        figures=False,
    )
