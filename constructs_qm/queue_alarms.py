"""Alarms an operator of a quota-management queue wants from the first day."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from constructs import Construct

from constructs_qm.exceptions import PropError
from constructs_qm.queue_events import QUEUE_BLOCKED, batch_rule
from quota_scheduler.value_rules import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_cdk import aws_events as events
    from aws_cdk import aws_sns as sns

    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["AlarmSetting", "QueueAlarms", "add_alarm", "require_alarm_setting"]


@dataclass(frozen=True)
class AlarmSetting:
    """When an alarm rings: at `threshold` or more, in each of so many periods running.

    Parameters
    ----------
    threshold : float
        Above 0; jobs a period, or seconds for a waiting time.
    period : aws_cdk.Duration
        5 minutes by default.
    periods : int
        How many periods running, at least 1.

    Raises
    ------
    PropError
        A value outside those.
    """

    threshold: float
    period: cdk.Duration = field(default_factory=lambda: cdk.Duration.minutes(5))
    periods: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, (int, float)):
            raise PropError(f"alarm threshold {self.threshold!r} is not a number: give one above 0")
        if not self.threshold > 0:
            raise PropError(f"alarm threshold {self.threshold!r} would always ring: give a number above 0")
        if not isinstance(self.period, cdk.Duration):
            raise PropError(f"alarm period {self.period!r} is not a Duration: give one like Duration.minutes(5)")
        if not is_whole(self.periods) or self.periods < 1:
            raise PropError(f"alarm periods {self.periods!r} is not allowed: give a whole number from 1")


class QueueAlarms(Construct):
    """Alarms on preemptions, failures, waiting times and blocked shares of one job queue.

    Each is on by default, adjusted by another :class:`AlarmSetting`, and off where its prop is None. No data
    is no alarm: AWS Batch publishes only what happens (using_cloudwatch_metrics).

    Parameters
    ----------
    scope : Construct
    id : str
    queue : TrainingJobQueueBase
        Made here or imported.
    alarm_topic : aws_sns.ITopic, optional
        Told when an alarm rings and when it is over.
    preempted_jobs : AlarmSetting, optional
        Preemptions, across shares and within one; 10 in 5 minutes by default.
    failed_jobs : AlarmSetting, optional
        Jobs that ended FAILED; 1 in 5 minutes by default.
    waiting_time : AlarmSetting, optional
        Seconds from submission to first dispatch, 90th percentile; 4 hours by default.
    blocked_queue : AlarmSetting, optional
        Events that say a job blocks its share; 1 in 5 minutes by default.

    Raises
    ------
    PropError
        A setting that is no AlarmSetting.

    Attributes
    ----------
    alarms : dict of str to aws_cloudwatch.Alarm
        Those that are on, by the name of their prop.
    blocked_rule : aws_events.Rule, optional
        The rule that `blocked_queue` counts; None where that alarm is off.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        queue: TrainingJobQueueBase,
        alarm_topic: sns.ITopic | None = None,
        preempted_jobs: AlarmSetting | None = AlarmSetting(10),
        failed_jobs: AlarmSetting | None = AlarmSetting(1),
        waiting_time: AlarmSetting | None = AlarmSetting(4 * 3600),
        blocked_queue: AlarmSetting | None = AlarmSetting(1),
    ) -> None:
        super().__init__(scope, id)
        self.alarms: dict[str, cloudwatch.Alarm] = {}
        self.blocked_rule: events.Rule | None = None
        self._queue = queue
        self._topic = alarm_topic
        self._add("preempted_jobs", preempted_jobs, self._preempted, "jobs preempted")
        self._add("failed_jobs", failed_jobs, self._failed, "jobs failed")
        self._add("waiting_time", waiting_time, self._waiting, "seconds until jobs start, 90th percentile,")
        self._add("blocked_queue", blocked_queue, self._blocked, "events of a job that blocks its share")

    def _preempted(self, setting: AlarmSetting) -> cloudwatch.IMetric:
        return self._queue.metric_jobs_preempted(period=setting.period)

    def _failed(self, setting: AlarmSetting) -> cloudwatch.IMetric:
        return self._queue.metric_jobs_moved_to_failed(period=setting.period)

    def _waiting(self, setting: AlarmSetting) -> cloudwatch.IMetric:
        """Return the waiting time in seconds; the metric has milliseconds."""
        waits = self._queue.metric_job_submitted_to_first_scheduled_duration(period=setting.period, statistic="p90")
        return cloudwatch.MathExpression(
            expression="waits / 1000", using_metrics={"waits": waits}, period=setting.period, label="seconds"
        )

    def _blocked(self, setting: AlarmSetting) -> cloudwatch.IMetric:
        """Return the count of blocked events: no metric of AWS Batch tells, but that of a rule does."""
        rule = batch_rule(self, "QueueBlocked", QUEUE_BLOCKED, queue_arn=self._queue.job_queue_arn)
        self.blocked_rule = rule
        cdk.Validations.of(rule).acknowledge(
            cdk.Acknowledgment(id="Serverless-EventBusDLQ", reason="the rule counts; it delivers nothing")
        )
        return cloudwatch.Metric(
            namespace="AWS/Events",
            metric_name="TriggeredRules",
            dimensions_map={"RuleName": rule.rule_name},
            statistic="Sum",
            period=setting.period,
        )

    def _add(
        self,
        name: str,
        setting: AlarmSetting | None,
        metric: Callable[[AlarmSetting], cloudwatch.IMetric],
        what: str,
    ) -> None:
        if setting is None:
            return
        require_alarm_setting(self.node.path, name, setting)
        id = "".join(word.title() for word in name.split("_"))
        description = f"{setting.threshold:g} or more {what} in {self._queue.node.path}"
        self.alarms[name] = add_alarm(self, id, setting, metric(setting), description, self._topic)


def require_alarm_setting(path: str, prop: str, setting: object) -> None:
    """Raise PropError unless `setting` is an AlarmSetting or None."""
    if setting is not None and not isinstance(setting, AlarmSetting):
        raise PropError(f"{path}.{prop}: {setting!r} is no AlarmSetting: give one, or None for no alarm")


def add_alarm(
    scope: Construct,
    id: str,
    setting: AlarmSetting,
    metric: cloudwatch.IMetric,
    description: str,
    topic: sns.ITopic | None,
) -> cloudwatch.Alarm:
    """Make an alarm that tells `topic` when it rings and when it is over; no data is no alarm."""
    alarm = cloudwatch.Alarm(
        scope,
        id,
        metric=metric,
        threshold=setting.threshold,
        evaluation_periods=setting.periods,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        alarm_description=description,
    )
    if topic is not None:
        alarm.add_alarm_action(actions.SnsAction(topic))
        alarm.add_ok_action(actions.SnsAction(topic))
    return alarm
