"""Metrics AWS Batch publishes of a job queue (using_cloudwatch_metrics).

All are per queue and best effort, not for auditing; none is per quota share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["MetricOptions", "QueueMetrics"]


class MetricOptions(TypedDict, total=False):
    """How a metric is read; for anything else use ``metric.with_()``.

    Attributes
    ----------
    period : aws_cdk.Duration
        5 minutes by default.
    statistic : str
        ``Sum`` by default for counts, ``Average`` for durations.
    label, color : str
        For graphs.
    """

    period: cdk.Duration
    statistic: str
    label: str
    color: str


class QueueMetrics(cdk.Resource):
    """Metrics of one job queue, made here or imported."""

    job_queue_name: str

    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric of namespace ``AWS/Batch`` for this queue, by name."""
        metric = cloudwatch.Metric(
            namespace="AWS/Batch",
            metric_name=metric_name,
            dimensions_map={"JobQueueName": self.job_queue_name},
            **options,
        )
        return metric.attach_to(self)

    def _count(self, metric_name: str, options: MetricOptions) -> cloudwatch.Metric:
        options.setdefault("statistic", "Sum")
        return self.metric(metric_name, **options)

    def metric_jobs_submitted(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of jobs submitted."""
        return self._count("JobsSubmitted", options)

    def metric_jobs_moved_to_pending(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of moves to PENDING."""
        return self._count("JobsMovedToPending", options)

    def metric_jobs_moved_to_runnable(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of moves to RUNNABLE, those back after a preemption or a retry included."""
        return self._count("JobsMovedToRunnable", options)

    def metric_jobs_moved_to_scheduled(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of moves to SCHEDULED."""
        return self._count("JobsMovedToScheduled", options)

    def metric_jobs_moved_to_starting(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of moves to STARTING."""
        return self._count("JobsMovedToStarting", options)

    def metric_jobs_moved_to_running(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of moves to RUNNING."""
        return self._count("JobsMovedToRunning", options)

    def metric_jobs_moved_to_succeeded(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of jobs that SUCCEEDED."""
        return self._count("JobsMovedToSucceeded", options)

    def metric_jobs_moved_to_failed(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of jobs that FAILED."""
        return self._count("JobsMovedToFailed", options)

    def metric_jobs_cancelled(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of jobs cancelled."""
        return self._count("JobsCancelled", options)

    def metric_jobs_terminated(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of jobs terminated."""
        return self._count("JobsTerminated", options)

    def metric_jobs_retried(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of retries."""
        return self._count("JobsRetried", options)

    def metric_jobs_preempted(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the count of preemptions, across shares and within one."""
        return self._count("JobsPreempted", options)

    def metric_job_submitted_to_runnable_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds from its submission until a job is RUNNABLE."""
        return self.metric("JobSubmittedToRunnableDuration", **options)

    def metric_job_submitted_to_first_scheduled_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds from its submission until a job is first SCHEDULED."""
        return self.metric("JobSubmittedToFirstScheduledDuration", **options)

    def metric_job_attempt_runnable_to_scheduled_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds an attempt waits, RUNNABLE until SCHEDULED."""
        return self.metric("JobAttemptRunnableToScheduledDuration", **options)

    def metric_job_attempt_scheduled_to_starting_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds an attempt is SCHEDULED until STARTING."""
        return self.metric("JobAttemptScheduledToStartingDuration", **options)

    def metric_job_attempt_starting_to_running_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds an attempt is STARTING until RUNNING."""
        return self.metric("JobAttemptStartingToRunningDuration", **options)

    def metric_job_attempt_execution_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds an attempt is RUNNING."""
        return self.metric("JobAttemptExecutionDuration", **options)

    def metric_job_attempt_duration(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the milliseconds an attempt takes in all."""
        return self.metric("JobAttemptDuration", **options)
