"""Metrics, event rules, alarms and the dashboard of a queue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from constructs_qm import (
    AlarmSetting,
    PropError,
    QueueAlarms,
    QueueDashboard,
    TrainingJobQueue,
    TrainingJobQueueBase,
)

if TYPE_CHECKING:
    from collections.abc import Callable

QUEUE_ARN = "arn:aws:batch:us-east-1:123456789012:job-queue/training"

# The guide's list (using_cloudwatch_metrics).
COUNTS = [
    "JobsSubmitted",
    "JobsMovedToPending",
    "JobsMovedToRunnable",
    "JobsMovedToScheduled",
    "JobsMovedToStarting",
    "JobsMovedToRunning",
    "JobsMovedToSucceeded",
    "JobsMovedToFailed",
    "JobsCancelled",
    "JobsTerminated",
    "JobsRetried",
    "JobsPreempted",
]
DURATIONS = [
    "JobSubmittedToRunnableDuration",
    "JobSubmittedToFirstScheduledDuration",
    "JobAttemptRunnableToScheduledDuration",
    "JobAttemptScheduledToStartingDuration",
    "JobAttemptStartingToRunningDuration",
    "JobAttemptExecutionDuration",
    "JobAttemptDuration",
]


@pytest.fixture
def queue(stack: cdk.Stack) -> TrainingJobQueueBase:
    return TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", QUEUE_ARN)


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


@pytest.mark.parametrize(("name", "statistic"), [*((n, "Sum") for n in COUNTS), *((n, "Average") for n in DURATIONS)])
def test_metric(queue: TrainingJobQueueBase, name: str, statistic: str) -> None:
    metric = getattr(queue, f"metric{snake(name)}")()
    assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/Batch", name, statistic)
    assert metric.dimensions == {"JobQueueName": "training"}


def test_metric_is_adjustable(queue: TrainingJobQueueBase) -> None:
    metric = queue.metric_jobs_preempted(period=cdk.Duration.hours(1), statistic="Maximum", label="lost")
    assert (metric.period.to_hours(), metric.statistic, metric.label) == (1, "Maximum", "lost")


def of_type(resources: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in resources.values() if resource["Type"] == kind]


@pytest.mark.parametrize(
    ("method", "detail_type", "detail"),
    [
        ("on_job_state_change", "Batch Service Job State Change", {"jobQueue": [QUEUE_ARN]}),
        ("on_queue_blocked", "Batch Service Job Queue Blocked", {"jobQueue": [QUEUE_ARN]}),
        ("on_preemption_started", "Batch Service Job Preemption Started", None),
        ("on_preemption_completed", "Batch Service Job Preemption Completed", None),
    ],
)
def test_event_rule(
    stack: cdk.Stack,
    queue: TrainingJobQueueBase,
    render: Callable[[cdk.Stack], dict[str, Any]],
    method: str,
    detail_type: str,
    detail: dict[str, Any] | None,
) -> None:
    target = sqs.Queue(stack, "Target")
    getattr(queue, method)("Rule", target=targets.SqsQueue(target))
    (rule,) = of_type(render(stack), "AWS::Events::Rule")
    pattern = {"source": ["aws.batch"], "detail-type": [detail_type]}
    assert rule["EventPattern"] == (pattern if detail is None else {**pattern, "detail": detail})
    assert [t["Arn"] for t in rule["Targets"]] == [stack.resolve(target.queue_arn)]


def alarms_of(resources: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Alarms by the metric they watch."""
    found = {}
    for alarm in of_type(resources, "AWS::CloudWatch::Alarm"):
        metrics = [
            alarm,
            *(entry.get("MetricStat", {}).get("Metric", {}) for entry in alarm.get("Metrics", [])),
        ]
        found[next(m["MetricName"] for m in metrics if "MetricName" in m)] = alarm
    return found


class TestAlarms:
    def test_defaults(
        self,
        stack: cdk.Stack,
        queue: TrainingJobQueueBase,
        render: Callable[[cdk.Stack], dict[str, Any]],
    ) -> None:
        topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-east-1:123456789012:operators")
        QueueAlarms(stack, "Alarms", queue=queue, alarm_topic=topic)
        resources = render(stack)
        alarms = alarms_of(resources)
        thresholds = {name: alarm["Threshold"] for name, alarm in alarms.items()}
        assert thresholds == {
            "JobsPreempted": 10,
            "JobsMovedToFailed": 1,
            "JobSubmittedToFirstScheduledDuration": 14_400,
            "TriggeredRules": 1,
        }
        for alarm in alarms.values():
            assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
            assert alarm["TreatMissingData"] == "notBreaching"
            assert alarm["AlarmActions"] == alarm["OKActions"] == [topic.topic_arn]

    def test_waiting_time_is_in_seconds_at_the_90th_percentile(
        self, stack: cdk.Stack, queue: TrainingJobQueueBase, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        QueueAlarms(stack, "Alarms", queue=queue)
        metrics = alarms_of(render(stack))["JobSubmittedToFirstScheduledDuration"]["Metrics"]
        assert [m.get("Expression") for m in metrics] == ["waits / 1000", None]
        assert metrics[1]["MetricStat"]["Stat"] == "p90"

    def test_blocked_alarm_counts_the_rule_that_matches_this_queue(
        self, stack: cdk.Stack, queue: TrainingJobQueueBase, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        QueueAlarms(stack, "Alarms", queue=queue)
        resources = render(stack)
        (alarm,) = [a for name, a in alarms_of(resources).items() if name == "TriggeredRules"]
        (dimension,) = alarm["Dimensions"]
        rule = resources[dimension["Value"]["Ref"]]["Properties"]
        assert (alarm["Namespace"], alarm["Statistic"], dimension["Name"]) == (
            "AWS/Events",
            "Sum",
            "RuleName",
        )
        assert rule["EventPattern"]["detail-type"] == ["Batch Service Job Queue Blocked"]
        assert rule["EventPattern"]["detail"] == {"jobQueue": [QUEUE_ARN]}

    def test_adjusted_and_off(
        self, stack: cdk.Stack, queue: TrainingJobQueueBase, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        hour = cdk.Duration.hours(1)
        alarms = QueueAlarms(
            stack,
            "Alarms",
            queue=queue,
            preempted_jobs=AlarmSetting(50, period=hour, periods=3),
            failed_jobs=None,
            waiting_time=None,
            blocked_queue=None,
        )
        (alarm,) = of_type(render(stack), "AWS::CloudWatch::Alarm")
        assert (alarm["Threshold"], alarm["Period"], alarm["EvaluationPeriods"]) == (50, 3600, 3)
        assert list(alarms.alarms) == ["preempted_jobs"]

    @pytest.mark.parametrize(
        ("props", "said"),
        [
            ({"threshold": 0}, "threshold 0 would always ring"),
            ({"threshold": True}, "threshold True is not a number"),
            ({"threshold": "1"}, "threshold '1' is not a number"),
            ({"threshold": 1, "period": 300}, "period 300 is not a Duration"),
            ({"threshold": 1, "periods": 0}, "periods 0 is not allowed"),
            ({"threshold": 1, "periods": 1.5}, r"periods 1\.5 is not allowed"),
        ],
    )
    def test_illegal_setting(self, props: dict[str, Any], said: str) -> None:
        with pytest.raises(PropError, match=said):
            AlarmSetting(**props)

    def test_setting_of_another_type(self, stack: cdk.Stack, queue: TrainingJobQueueBase) -> None:
        with pytest.raises(PropError, match=r"Stack/Alarms\.failed_jobs: 5 is no AlarmSetting"):
            QueueAlarms(stack, "Alarms", queue=queue, failed_jobs=5)  # type: ignore[arg-type]


class TestDashboard:
    def widgets(self, stack: cdk.Stack, resources: dict[str, Any]) -> list[dict[str, Any]]:
        (dashboard,) = of_type(resources, "AWS::CloudWatch::Dashboard")
        body = dashboard["DashboardBody"]
        text = body if isinstance(body, str) else "".join(p if isinstance(p, str) else "X" for p in body["Fn::Join"][1])
        return list(json.loads(text)["widgets"])

    def test_shows_steps_ends_preemptions_and_waits_of_the_queue(
        self, stack: cdk.Stack, queue: TrainingJobQueueBase, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        QueueDashboard(stack, "Dashboard", queue=queue, dashboard_name="training")
        widgets = self.widgets(stack, render(stack))
        shown = {metric[1] for widget in widgets for metric in widget["properties"]["metrics"]}
        assert {"JobsSubmitted", "JobsMovedToFailed", "JobsPreempted"} < shown
        assert "JobSubmittedToFirstScheduledDuration" in shown
        assert all(m[2:4] == ["JobQueueName", "training"] for w in widgets for m in w["properties"]["metrics"])

    def test_begins_with_the_alarms_and_ends_with_what_others_add(
        self, stack: cdk.Stack, queue: TrainingJobQueueBase, render: Callable[[cdk.Stack], dict[str, Any]]
    ) -> None:
        alarms = QueueAlarms(stack, "Alarms", queue=queue)
        board = QueueDashboard(stack, "Dashboard", queue=queue, alarms=alarms)
        board.dashboard.add_widgets(cloudwatch.TextWidget(markdown="per share"))
        widgets = self.widgets(stack, render(stack))
        assert (widgets[0]["type"], len(widgets[0]["properties"]["alarms"])) == ("alarm", 4)
        assert widgets[-1]["properties"] == {"markdown": "per share"}
