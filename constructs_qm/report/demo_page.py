"""The report of ``batch-quota demo``: the steps of the walk-through, what the shares used, and the audit."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from constructs_qm.demo import ARTICLE_POLICY, INSTANCE_TYPE, STEP_SECONDS
from constructs_qm.report.audit_view import AuditView
from constructs_qm.report.capacity_chart import capacity_chart, tops
from constructs_qm.report.chart import Table
from constructs_qm.report.findings_chart import seconds
from constructs_qm.report.page import render
from constructs_qm.report.time_axis import DateAxis
from quota_scheduler.timeline_builder import TimelineBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs_qm.demo import DemoStep
    from preemption_auditor.report import Report
    from quota_scheduler.timeline import Timeline

__all__ = ["demo_page", "timeline_of"]

_SECTIONS = [
    ("steps", "Steps"),
    ("capacity", "Capacity"),
    ("verdict", "Audit"),
    ("time", "Preemptions"),
    ("findings", "Findings"),
]
_DEMAND = ((INSTANCE_TYPE, 1),)
_HOLDS = frozenset({"SCHEDULED", "STARTING", "RUNNING"})


def demo_page(steps: Sequence[DemoStep], report: Report) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    steps : sequence of DemoStep
    report : Report
        The auditor's.
    """
    timeline = timeline_of(steps)
    names = {entry.job_id: entry.job for step in steps for entry in step.transitions}
    return render(
        "demo.html",
        sections=_SECTIONS,
        steps=[(step, _transitions(step), _usage(step)) for step in steps],
        capacity=capacity_chart("capacity-0", "", timeline, DateAxis(timeline.start, timeline.end), tops([timeline])),
        audit=AuditView(report.to_document(), names),
    )


def timeline_of(steps: Sequence[DemoStep]) -> Timeline:
    """Return what the shares used and let wait, by the transitions of all steps."""
    entries = list(chain.from_iterable(step.transitions for step in steps))
    start = seconds(entries[0].at)
    builder = TimelineBuilder(ARTICLE_POLICY, start)
    states: dict[str, str] = {}
    for entry in entries:
        at, state = seconds(entry.at), entry.status.partition(",")[0]
        before, states[entry.job] = states.get(entry.job, ""), state
        if (state in _HOLDS) != (before in _HOLDS):
            builder.holds(entry.share, _DEMAND, 1 if state in _HOLDS else -1, at)
        if (state == "RUNNABLE") != (before == "RUNNABLE"):
            builder.waits(entry.share, 1 if state == "RUNNABLE" else -1, at)
    return builder.build(start + STEP_SECONDS * len(steps))


def _transitions(step: DemoStep) -> Table:
    rows = [[entry.at[11:19], entry.job, entry.share, entry.status, entry.reason] for entry in step.transitions]
    return Table("Transitions", ["time", "job", "share", "state", "reason"], rows, figures=False)


def _usage(step: DemoStep) -> Table:
    rows = [
        [share, str(use), str(limit), ", ".join(running) or "none", ", ".join(waiting) or "none"]
        for share, limit, use, running, waiting in step.usage
    ]
    columns = ["share", "instances in use", "limit", "running", "waiting"]
    return Table("Use of the shares after it", columns, rows, figures=False)
