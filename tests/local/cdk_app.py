"""The app test_cdk_cli.py deploys: the article's queue, and beside it what an auditor is made of.

The environment variable VARIANT changes it: `bigger` is an update, `broken` one that fails half-way.
"""

from __future__ import annotations

import os
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as scheduler_targets
from aws_cdk import aws_sqs as sqs

from constructs_qm import QuotaManagedQueue, ResourceSharing

VARIANT = os.environ.get("VARIANT", "")
G5 = "ml.g5.xlarge"


class QueueStack(cdk.Stack):
    """The article's queue."""

    def __init__(self, scope: cdk.App) -> None:
        super().__init__(scope, "Queue")
        capacity = 3 if VARIANT == "" else 5
        queue = QuotaManagedQueue(self, "Training", capacity={G5: capacity})
        share = queue.add_quota_share(
            "QS1",
            capacity={G5: 1 if VARIANT == "" else 2},
            sharing=ResourceSharing.lend_and_borrow(limit_percent=100),
            in_share_preemption=True,
        )
        queue.add_quota_share("QS2", capacity={G5: 1}, sharing=ResourceSharing.lend())
        reserved = queue.add_quota_share("QS3", capacity={G5: 1}, sharing=ResourceSharing.reserve())
        if VARIANT == "broken":
            child = reserved.node.default_child
            child.add_property_override("CapacityLimits.0.MaxCapacity", 99)
            reserved.node.add_dependency(share)
        cdk.CfnOutput(self, "QueueArn", value=queue.job_queue_arn)


class AuditStack(cdk.Stack):
    """Events to a queue, a queue to a function, a function to a table; a schedule; an alarm."""

    def __init__(self, scope: cdk.App) -> None:
        super().__init__(scope, "Audit")
        table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        dead = sqs.Queue(self, "Dead", fifo=True, content_based_deduplication=True)
        queue = sqs.Queue(
            self,
            "Events",
            fifo=True,
            content_based_deduplication=True,
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=2, queue=dead),
        )
        function = lambda_.Function(
            self,
            "Function",
            code=lambda_.Code.from_asset(str(Path(__file__).parent / "assets" / "echo")),
            handler="index.handler",
            runtime=lambda_.Runtime.PYTHON_3_12,
            environment={"TABLE": table.table_name},
        )
        table.grant_read_write_data(function)
        function.add_event_source(sources.SqsEventSource(queue, batch_size=10, report_batch_item_failures=True))
        events.Rule(
            self,
            "Rule",
            event_pattern=events.EventPattern(
                source=["aws.batch"], detail_type=events.Match.prefix("Batch Service Job")
            ),
            targets=[targets.SqsQueue(queue, message_group_id="events")],
        )
        scheduler.Schedule(
            self,
            "Tick",
            schedule=scheduler.ScheduleExpression.rate(cdk.Duration.minutes(1)),
            target=scheduler_targets.LambdaInvoke(
                function, input=scheduler.ScheduleTargetInput.from_object({"id": "tick"})
            ),
        )
        cloudwatch.Alarm(
            self,
            "DeadLetters",
            metric=dead.metric_approximate_number_of_messages_visible(),
            threshold=0,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        )
        for name, value in (("Table", table.table_name), ("Events", queue.queue_url), ("Dead", dead.queue_url)):
            cdk.CfnOutput(self, f"{name}Name", value=value)


app = cdk.App()
QueueStack(app)
AuditStack(app)
app.synth()
