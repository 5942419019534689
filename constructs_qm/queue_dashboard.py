"""A dashboard of one job queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from constructs_qm.auditor_metrics import AuditorMetrics, by_share_and_rule

if TYPE_CHECKING:
    from constructs_qm.queue_alarms import QueueAlarms
    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["QueueDashboard"]

WIDTH = 12
"""Half of a dashboard's 24 columns: two graphs a row."""


class QueueDashboard(Construct):
    """A dashboard of what AWS Batch publishes of a queue: throughput, endings, preemptions and waiting times.

    An auditor adds what it found, by quota share and rule. Add to it with ``dashboard.add_widgets``.

    Parameters
    ----------
    scope : Construct
    id : str
    queue : TrainingJobQueueBase
        Made here or imported.
    alarms : QueueAlarms, optional
        Shown in the first row.
    auditor : PreemptionAuditor, optional
        Its findings about the queue, and how far its evidence went, are the last row.
    dashboard_name : str, optional
        Made up by CloudFormation by default. A change **replaces** the dashboard.

    Attributes
    ----------
    dashboard : aws_cloudwatch.Dashboard
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        queue: TrainingJobQueueBase,
        alarms: QueueAlarms | None = None,
        auditor: AuditorMetrics | None = None,
        dashboard_name: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.dashboard = cloudwatch.Dashboard(self, "Resource", dashboard_name=dashboard_name)
        if alarms is not None and alarms.alarms:
            status = cloudwatch.AlarmStatusWidget(title="Alarms", width=2 * WIDTH, alarms=list(alarms.alarms.values()))
            self.dashboard.add_widgets(status)
        for row in _rows(queue):
            self.dashboard.add_widgets(*row)
        if auditor is not None:
            self.dashboard.add_widgets(*_audit_row(queue, auditor))


def _rows(queue: TrainingJobQueueBase) -> list[list[cloudwatch.GraphWidget]]:
    return [
        [
            _graph(
                "Jobs by step",
                queue.metric_jobs_submitted(label="submitted"),
                queue.metric_jobs_moved_to_runnable(label="runnable"),
                queue.metric_jobs_moved_to_scheduled(label="scheduled"),
                queue.metric_jobs_moved_to_running(label="running"),
            ),
            _graph(
                "Jobs by end",
                queue.metric_jobs_moved_to_succeeded(label="succeeded"),
                queue.metric_jobs_moved_to_failed(label="failed"),
                queue.metric_jobs_terminated(label="terminated"),
                queue.metric_jobs_cancelled(label="cancelled"),
            ),
        ],
        [
            _graph(
                "Preemptions and retries",
                queue.metric_jobs_preempted(label="preempted"),
                queue.metric_jobs_retried(label="retried"),
            ),
            _graph(
                "Waiting time, ms",
                queue.metric_job_submitted_to_first_scheduled_duration(statistic="p50", label="median"),
                queue.metric_job_submitted_to_first_scheduled_duration(statistic="p90", label="p90"),
                queue.metric_job_submitted_to_first_scheduled_duration(statistic="Maximum", label="longest"),
            ),
        ],
    ]


def _audit_row(queue: TrainingJobQueueBase, auditor: AuditorMetrics) -> list[cloudwatch.GraphWidget]:
    return [
        _graph(
            "Findings by share and rule",
            by_share_and_rule("Violations", queue, label="violations"),
            by_share_and_rule("Divergences", queue, label="divergences"),
        ),
        _graph(
            "Decisions audited",
            auditor.metric_decisions(queue, label="seen"),
            auditor.metric_unknown_decisions(queue, label="unknown"),
            auditor.metric_late_events(queue, label="late events"),
        ),
    ]


def _graph(title: str, *metrics: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, width=WIDTH, left=list(metrics))
