"""Metrics the auditor's judge publishes, in namespace ``PreemptionAuditor``.

They are embedded in its log, so that they cost no call; each counts once, when a finding is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from constructs_qm.queue_metrics import MetricOptions
    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["NAMESPACE", "AuditorMetrics", "by_share_and_rule"]

NAMESPACE = "PreemptionAuditor"


class AuditorMetrics(Construct):
    """Metrics by queue; they are the same for every auditor of that queue."""

    def metric(
        self, metric_name: str, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return a metric of a queue, by name; a sum over 5 minutes by default."""
        options.setdefault("statistic", "Sum")
        metric = cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=metric_name,
            dimensions_map={"JobQueueName": queue.job_queue_name},
            **options,
        )
        return metric.attach_to(self)

    def metric_violations(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of violations, of all shares and rules; see :func:`by_share_and_rule` for each."""
        return self.metric("Violations", queue, **options)

    def metric_divergences(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of decisions that are legal, but not the reference scheduler's."""
        return self.metric("Divergences", queue, **options)

    def metric_withdrawn(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of findings that a late event explained."""
        return self.metric("Withdrawn", queue, **options)

    def metric_events_read(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of events judged."""
        return self.metric("EventsRead", queue, **options)

    def metric_late_events(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of events that came after younger ones, by more than the lateness."""
        return self.metric("LateEvents", queue, **options)

    def metric_decisions(self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of decisions of the scheduler that were seen."""
        return self.metric("Decisions", queue, **options)

    def metric_unknown_decisions(
        self, queue: TrainingJobQueueBase, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the count of decisions that couldn't be judged for want of evidence."""
        return self.metric("UnknownDecisions", queue, **options)


def by_share_and_rule(metric_name: str, queue: TrainingJobQueueBase, label: str = "") -> cloudwatch.MathExpression:
    """Return ``Violations``, ``Divergences`` or ``Withdrawn`` of a queue, a line for each share and rule.

    For dashboards: an alarm can't have a search expression (Amazon CloudWatch User Guide).
    """
    schema = f"{{{NAMESPACE},JobQueueName,QuotaShareName,Rule}}"
    found = f'{schema} MetricName="{metric_name}" JobQueueName="{queue.job_queue_name}"'
    return cloudwatch.MathExpression(expression=f"SEARCH('{found}', 'Sum')", using_metrics={}, label=label or None)
