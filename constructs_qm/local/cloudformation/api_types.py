"""Resource types made with AWS's own operations, where moto's CloudFormation lacks a type or an update of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from constructs_qm.local.cloudformation.api_type import ApiType
from constructs_qm.local.cloudformation.event_types import EVENT_TYPES
from constructs_qm.local.cloudformation.handlers import Instance
from constructs_qm.local.cloudformation.iam_types import ManagedPolicy, Role
from constructs_qm.local.cloudformation.table_types import GlobalTable, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from constructs_qm.local.cloudformation.handlers import Context, Handler, Properties

__all__ = ["API_TYPES"]


class Alarm(ApiType):
    """AWS::CloudWatch::Alarm."""

    service = "cloudwatch"
    name = "AlarmName"

    def identify(self, context: Context, name: str, properties: Properties) -> Instance:
        return Instance(name, {"Arn": self.arn(context, f"alarm:{name}")})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self.client(context).put_metric_alarm(**{**properties, "AlarmName": name})

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_alarms(AlarmNames=[instance.physical_resource_id])


class CompositeAlarm(Alarm):
    """AWS::CloudWatch::CompositeAlarm."""

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self.client(context).put_composite_alarm(**{**properties, "AlarmName": name})


class ScheduleGroup(ApiType):
    """AWS::Scheduler::ScheduleGroup."""

    service = "scheduler"
    name = "Name"

    def identify(self, context: Context, name: str, properties: Properties) -> Instance:
        return Instance(name, {"Arn": self.arn(context, f"schedule-group/{name}"), "State": "ACTIVE"})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        if name not in self.client(context).list_schedule_groups()["ScheduleGroups"]:
            self.client(context).create_schedule_group(Name=name, Tags=properties.get("Tags", []))

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        return instance

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_schedule_group(Name=instance.physical_resource_id)


class Schedule(ApiType):
    """AWS::Scheduler::Schedule."""

    service = "scheduler"
    name = "Name"
    create_only = ("GroupName",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        self.client(context).create_schedule(**{**properties, "Name": name})
        group = properties.get("GroupName", "default")
        return Instance(name, {"Arn": self.arn(context, f"schedule/{group}/{name}")})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self.client(context).update_schedule(**{**properties, "Name": name})

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        group = {"GroupName": properties["GroupName"]} if "GroupName" in properties else {}
        self.client(context).delete_schedule(Name=instance.physical_resource_id, **group)


class Queue(ApiType):
    """AWS::SQS::Queue."""

    service = "sqs"
    name = "QueueName"
    create_only = ("FifoQueue",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        if properties.get("FifoQueue") in (True, "true") and not name.endswith(".fifo"):
            name = f"{name[:75]}.fifo"  # a generated name, which has to end so
        url = self.client(context).create_queue(
            QueueName=name[-80:], Attributes=_attributes(properties), tags=_tag_map(properties)
        )["QueueUrl"]
        name = name[-80:]
        return Instance(url, {"Arn": self.arn(context, name), "QueueName": name, "QueueUrl": url})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        attributes = _attributes(properties)
        attributes.pop("FifoQueue", None)
        self.client(context).set_queue_attributes(
            QueueUrl=instance.physical_resource_id, Attributes={**_QUEUE_DEFAULTS, **attributes}
        )

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_queue(QueueUrl=instance.physical_resource_id)


_QUEUE_DEFAULTS = {
    "DelaySeconds": "0",
    "MaximumMessageSize": "262144",
    "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0",
    "VisibilityTimeout": "30",
}
"""What an attribute goes back to when it leaves the template (API CreateQueue)."""


def _attributes(properties: Properties) -> dict[str, str]:
    """Return a queue's properties as the strings its operations take."""
    values = {key: value for key, value in properties.items() if key not in ("QueueName", "Tags")}
    return {key: json.dumps(value) if isinstance(value, (dict, bool)) else str(value) for key, value in values.items()}


class QueuePolicy(ApiType):
    """AWS::SQS::QueuePolicy."""

    service = "sqs"

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self._set(context, properties["Queues"], json.dumps(properties["PolicyDocument"]))

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self._set(context, properties["Queues"], "")

    def _set(self, context: Context, urls: Iterable[str], policy: str) -> None:
        for url in urls:
            self.client(context).set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})


class Topic(ApiType):
    """AWS::SNS::Topic."""

    service = "sns"
    name = "TopicName"
    create_only = ("FifoTopic",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        fifo = properties.get("FifoTopic") in (True, "true")
        name = f"{name}.fifo" if fifo and not name.endswith(".fifo") else name
        attributes = {"FifoTopic": "true"} if fifo else {}
        arn = self.client(context).create_topic(Name=name, Attributes=attributes, Tags=properties.get("Tags", []))[
            "TopicArn"
        ]
        for subscription in properties.get("Subscription", ()):
            self.client(context).subscribe(TopicArn=arn, **subscription)
        instance = Instance(arn, {"TopicArn": arn, "TopicName": name})
        self.put(context, instance, name, properties)
        return instance

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self.client(context).set_topic_attributes(
            TopicArn=instance.physical_resource_id,
            AttributeName="DisplayName",
            AttributeValue=properties.get("DisplayName", ""),
        )

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_topic(TopicArn=instance.physical_resource_id)


class TopicPolicy(ApiType):
    """AWS::SNS::TopicPolicy."""

    service = "sns"

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        policy = json.dumps(properties["PolicyDocument"])
        for arn in properties["Topics"]:
            self.client(context).set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=policy)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Leave it: a topic always has a policy, and goes with it."""


class Subscription(ApiType):
    """AWS::SNS::Subscription."""

    service = "sns"
    create_only = ("Endpoint", "Protocol", "TopicArn")

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        arn = self.client(context).subscribe(
            TopicArn=properties["TopicArn"],
            Protocol=properties["Protocol"],
            Endpoint=properties["Endpoint"],
            ReturnSubscriptionArn=True,
        )["SubscriptionArn"]
        instance = Instance(arn, {"Arn": arn})
        self.put(context, instance, name, properties)
        return instance

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        for key in ("FilterPolicy", "RawMessageDelivery"):
            if key in properties:
                value = properties[key]
                self.client(context).set_subscription_attributes(
                    SubscriptionArn=instance.physical_resource_id,
                    AttributeName=key,
                    AttributeValue=value if isinstance(value, str) else json.dumps(value),
                )

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).unsubscribe(SubscriptionArn=instance.physical_resource_id)


class LogGroup(ApiType):
    """AWS::Logs::LogGroup."""

    service = "logs"
    name = "LogGroupName"

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        self.client(context).create_log_group(logGroupName=name)
        instance = Instance(name, {"Arn": self.arn(context, f"log-group:{name}:*")})
        self.put(context, instance, name, properties)
        return instance

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        days = properties.get("RetentionInDays")
        if days is None:
            self.client(context).delete_retention_policy(logGroupName=name)
        else:
            self.client(context).put_retention_policy(logGroupName=name, retentionInDays=int(days))

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_log_group(logGroupName=instance.physical_resource_id)


class BucketPolicy(ApiType):
    """AWS::S3::BucketPolicy."""

    service = "s3"
    create_only = ("Bucket",)

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        policy = json.dumps(properties["PolicyDocument"])
        self.client(context).put_bucket_policy(Bucket=properties["Bucket"], Policy=policy)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_bucket_policy(Bucket=properties["Bucket"])


class LambdaPermission(ApiType):
    """AWS::Lambda::Permission."""

    service = "lambda"
    create_only = ("Action", "FunctionName", "Principal", "SourceArn", "SourceAccount")

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        statement = name[-100:]
        self.client(context).add_permission(**properties, StatementId=statement)
        return Instance(statement, {"Id": statement})

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).remove_permission(
            FunctionName=properties["FunctionName"], StatementId=instance.physical_resource_id
        )


class EventSourceMapping(ApiType):
    """AWS::Lambda::EventSourceMapping."""

    service = "lambda"
    create_only = ("EventSourceArn",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        made = self.client(context).create_event_source_mapping(**_untagged(properties))
        arn = self.arn(context, f"event-source-mapping:{made['UUID']}")
        return Instance(made["UUID"], {"Id": made["UUID"], "EventSourceMappingArn": arn})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        settable = {key: value for key, value in _untagged(properties).items() if key != "EventSourceArn"}
        self.client(context).update_event_source_mapping(UUID=instance.physical_resource_id, **settable)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_event_source_mapping(UUID=instance.physical_resource_id)


class EventInvokeConfig(ApiType):
    """AWS::Lambda::EventInvokeConfig."""

    service = "lambda"
    create_only = ("FunctionName", "Qualifier")

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        settable = {key: value for key, value in properties.items() if key != "Qualifier"}
        self.client(context).put_function_event_invoke_config(**settable)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_function_event_invoke_config(FunctionName=properties["FunctionName"])


def _tag_map(properties: Properties) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", ())}


def _untagged(properties: Properties) -> Properties:
    return {key: value for key, value in properties.items() if key != "Tags"}


API_TYPES: dict[str, Handler] = {
    **EVENT_TYPES,
    "AWS::CloudWatch::Alarm": Alarm(),
    "AWS::CloudWatch::CompositeAlarm": CompositeAlarm(),
    "AWS::DynamoDB::GlobalTable": GlobalTable(),
    "AWS::DynamoDB::Table": Table(),
    "AWS::IAM::ManagedPolicy": ManagedPolicy(),
    "AWS::IAM::Role": Role(),
    "AWS::Lambda::EventInvokeConfig": EventInvokeConfig(),
    "AWS::Lambda::EventSourceMapping": EventSourceMapping(),
    "AWS::Lambda::Permission": LambdaPermission(),
    "AWS::Logs::LogGroup": LogGroup(),
    "AWS::S3::BucketPolicy": BucketPolicy(),
    "AWS::SNS::Subscription": Subscription(),
    "AWS::SNS::Topic": Topic(),
    "AWS::SNS::TopicPolicy": TopicPolicy(),
    "AWS::SQS::Queue": Queue(),
    "AWS::SQS::QueuePolicy": QueuePolicy(),
    "AWS::Scheduler::Schedule": Schedule(),
    "AWS::Scheduler::ScheduleGroup": ScheduleGroup(),
}
