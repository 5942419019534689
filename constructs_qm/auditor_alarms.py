"""What an operator of an auditor is told by alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs import Construct

from constructs_qm.queue_alarms import AlarmSetting, add_alarm

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_sns as sns
    from aws_cdk import aws_sqs as sqs

    from constructs_qm.auditor_metrics import AuditorMetrics
    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["AuditorAlarms"]


class AuditorAlarms(Construct):
    """Alarms on violations of each queue, on events that couldn't be stored, and on runs of the judge that failed.

    Parameters
    ----------
    scope : AuditorMetrics
    id : str
    topic : aws_sns.ITopic, optional
    violations : AlarmSetting, optional
        When the alarm of each queue rings; None for no alarm.

    Attributes
    ----------
    alarms : dict of str to aws_cloudwatch.Alarm
        ``dead_letters``, ``judge_errors`` and, by the path of each queue, ``violations/PATH``.
    """

    def __init__(
        self,
        scope: AuditorMetrics,
        id: str,
        *,
        topic: sns.ITopic | None,
        violations: AlarmSetting | None,
    ) -> None:
        super().__init__(scope, id)
        self.alarms: dict[str, cloudwatch.Alarm] = {}
        self._metrics = scope
        self._topic = topic
        self._violations = violations

    def watch_queue(self, queue: TrainingJobQueueBase) -> None:
        """Ring when a violation of the queue was found."""
        setting = self._violations
        metric = None if setting is None else self._metrics.metric_violations(queue, period=setting.period)
        id = f"Violations{queue.node.addr[-8:]}"
        self._add(f"violations/{queue.node.path}", id, setting, metric, f"violations in {queue.node.path}")

    def watch_dead_letters(self, queue: sqs.Queue, setting: AlarmSetting | None) -> None:
        """Ring when there is an event that couldn't be stored."""
        metric = None
        if setting is not None:
            metric = queue.metric_approximate_number_of_messages_visible(statistic="Maximum", period=setting.period)
        self._add("dead_letters", "DeadLetters", setting, metric, "events that the auditor couldn't store")

    def watch_judge(self, function: lambda_.Function, setting: AlarmSetting | None) -> None:
        """Ring when a run of the judge failed."""
        metric = None if setting is None else function.metric_errors(period=setting.period)
        self._add("judge_errors", "JudgeErrors", setting, metric, "failed runs of the auditor's judge")

    def _add(
        self, name: str, id: str, setting: AlarmSetting | None, metric: cloudwatch.IMetric | None, what: str
    ) -> None:
        if setting is not None and metric is not None:
            self.alarms[name] = add_alarm(
                self, id, setting, metric, f"{setting.threshold:g} or more {what}", self._topic
            )
