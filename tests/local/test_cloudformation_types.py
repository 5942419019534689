"""Types an auditor's stack is made of: created, updated in place, and deleted."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from local.world import World

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}],
}
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}
ALARM = {
    "MetricName": "JobsPreempted",
    "Namespace": "AWS/Batch",
    "ComparisonOperator": "GreaterThanThreshold",
    "EvaluationPeriods": 1,
    "Period": 60,
    "Statistic": "Sum",
    "Threshold": 1,
}
TARGET = {"Arn": "arn:aws:lambda:us-east-1:123456789012:function:f", "RoleArn": "arn:aws:iam::123456789012:role/r"}
SCHEDULE = {"FlexibleTimeWindow": {"Mode": "OFF"}, "ScheduleExpression": "rate(1 minute)", "Target": TARGET}
EVENTS = "arn:aws:events:us-east-1:123456789012"
ARCHIVE = {"SourceArn": f"{EVENTS}:event-bus/default", "EventPattern": {"source": ["other"]}, "RetentionDays": 30}
TABLE = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
INDEX = {
    "IndexName": "by-sk",
    "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


def _queue(world: World, name: str) -> dict[str, str]:
    attributes: dict[str, str] = world.client("sqs").get_queue_attributes(QueueUrl=name, AttributeNames=["All"])[
        "Attributes"
    ]
    return attributes


def _role(world: World, name: str) -> dict[str, Any]:
    iam = world.client("iam")
    role = iam.get_role(RoleName=name)["Role"]
    return {
        "description": role.get("Description", ""),
        "duration": role["MaxSessionDuration"],
        "service": role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"],
        "inline": iam.list_role_policies(RoleName=name)["PolicyNames"],
    }


def _table(world: World, name: str) -> dict[str, Any]:
    dynamodb = world.client("dynamodb")
    table = dynamodb.describe_table(TableName=name)["Table"]
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    return {
        "ttl": dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["TimeToLiveStatus"],
        "recovery": backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
        "indexes": [index["IndexName"] for index in table.get("GlobalSecondaryIndexes", [])],
    }


def _alarm(world: World, name: str) -> float:
    [alarm] = world.client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return float(alarm["Threshold"])


def _schedule(world: World, name: str) -> str:
    return str(world.client("scheduler").get_schedule(Name=name)["ScheduleExpression"])


def _log_group(world: World, name: str) -> int | None:
    groups = world.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    [group] = groups
    days: int | None = group.get("retentionInDays")
    return days


def _topic(world: World, arn: str) -> str:
    return str(world.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]["DisplayName"])


def _managed_policy(world: World, arn: str) -> str:
    iam = world.client("iam")
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    return str(document["Statement"][0]["Action"])


def _bus(world: World, name: str) -> str:
    return str(world.client("events").describe_event_bus(Name=name)["Arn"]).split(":event-bus/")[0]


def _archive(world: World, name: str) -> tuple[str, bool]:
    archive = world.client("events").describe_archive(ArchiveName=name)
    return archive["Description"], "aws.batch" in archive["EventPattern"]


Case = tuple[str, dict[str, Any], dict[str, Any], "Callable[[World, str], Any]", Any, Any]
"""Type, properties before and after an update, how to look, what is seen before and after."""

CASES: list[Case] = [
    (
        "AWS::SQS::Queue",
        {"VisibilityTimeout": 90, "MessageRetentionPeriod": 600},
        {"VisibilityTimeout": 60},
        lambda world, url: (_queue(world, url)["VisibilityTimeout"], _queue(world, url)["MessageRetentionPeriod"]),
        ("90", "600"),
        ("60", "345600"),
    ),
    (
        "AWS::SQS::Queue",
        {"FifoQueue": True, "ContentBasedDeduplication": True},
        {"FifoQueue": True, "ContentBasedDeduplication": False},
        lambda world, url: (url.endswith(".fifo"), _queue(world, url)["ContentBasedDeduplication"]),
        (True, "true"),
        (True, "false"),
    ),
    (
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": TRUST,
            "Policies": [{"PolicyName": "a", "PolicyDocument": POLICY}],
            "ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"],
        },
        {
            "AssumeRolePolicyDocument": json.loads(json.dumps(TRUST).replace("lambda", "scheduler")),
            "Policies": [{"PolicyName": "b", "PolicyDocument": POLICY}],
            "Description": "changed",
            "MaxSessionDuration": 7200,
        },
        _role,
        {"description": "", "duration": 3600, "service": "lambda.amazonaws.com", "inline": ["a"]},
        {"description": "changed", "duration": 7200, "service": "scheduler.amazonaws.com", "inline": ["b"]},
    ),
    (
        "AWS::IAM::ManagedPolicy",
        {"PolicyDocument": POLICY},
        {"PolicyDocument": json.loads(json.dumps(POLICY).replace("GetObject", "PutObject"))},
        _managed_policy,
        "s3:GetObject",
        "s3:PutObject",
    ),
    (
        "AWS::DynamoDB::Table",
        {**TABLE, "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}},
        {
            **TABLE,
            "AttributeDefinitions": [*TABLE["AttributeDefinitions"], {"AttributeName": "sk", "AttributeType": "S"}],  # type: ignore[list-item]
            "GlobalSecondaryIndexes": [INDEX],
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
        _table,
        {"ttl": "ENABLED", "recovery": "DISABLED", "indexes": []},
        {"ttl": "DISABLED", "recovery": "ENABLED", "indexes": ["by-sk"]},
    ),
    (
        "AWS::DynamoDB::GlobalTable",
        {**TABLE, "Replicas": [{"Region": "us-east-1"}]},
        {
            **TABLE,
            "Replicas": [
                {"Region": "us-east-1", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
            ],
        },
        _table,
        {"ttl": "DISABLED", "recovery": "DISABLED", "indexes": []},
        {"ttl": "DISABLED", "recovery": "ENABLED", "indexes": []},
    ),
    ("AWS::CloudWatch::Alarm", ALARM, {**ALARM, "Threshold": 5}, _alarm, 1, 5),
    (
        "AWS::Scheduler::Schedule",
        SCHEDULE,
        {**SCHEDULE, "ScheduleExpression": "rate(5 minutes)"},
        _schedule,
        "rate(1 minute)",
        "rate(5 minutes)",
    ),
    ("AWS::Events::EventBus", {"Name": "own"}, {"Name": "own", "Description": "d"}, _bus, EVENTS, EVENTS),
    (
        "AWS::Events::Archive",
        {**ARCHIVE, "Description": "a"},
        {**ARCHIVE, "Description": "b", "EventPattern": {"source": ["aws.batch"]}},
        _archive,
        ("a", False),
        ("b", True),
    ),
    ("AWS::Logs::LogGroup", {"RetentionInDays": 7}, {}, _log_group, 7, None),
    ("AWS::SNS::Topic", {"DisplayName": "a"}, {"DisplayName": "b"}, _topic, "a", "b"),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case[0]}-{index}") for index, case in enumerate(CASES)])
def test_type(world: World, case: Case) -> None:
    kind, before, after, look, seen_before, seen_after = case
    cloudformation = world.client("cloudformation")

    def template(properties: dict[str, Any]) -> str:
        return json.dumps({"Resources": {"It": {"Type": kind, "Properties": properties}}})

    def physical_id() -> str:
        found = cloudformation.describe_stack_resource(StackName="stack", LogicalResourceId="It")
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    cloudformation.create_stack(StackName="stack", TemplateBody=template(before))
    first = physical_id()
    assert look(world, first) == seen_before
    cloudformation.update_stack(StackName="stack", TemplateBody=template(after))
    events = cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
    assert [event["ResourceStatusReason"] for event in events if "FAILED" in event["ResourceStatus"]] == []
    assert physical_id() == first
    assert look(world, first) == seen_after
    cloudformation.delete_stack(StackName="stack")
    with pytest.raises((ClientError, ValueError)):
        look(world, first)


def test_an_update_keeps_what_is_in_a_table_and_a_queue(world: World) -> None:
    cloudformation, dynamodb, sqs = (world.client(name) for name in ("cloudformation", "dynamodb", "sqs"))

    def template(seconds: int, ttl: bool) -> str:
        ttl_ = {"TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}} if ttl else {}
        table = {"Type": "AWS::DynamoDB::Table", "Properties": {**TABLE, **ttl_, "TableName": "t"}}
        queue = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "q", "DelaySeconds": seconds}}
        return json.dumps({"Resources": {"Table": table, "Queue": queue}})

    cloudformation.create_stack(StackName="stack", TemplateBody=template(0, False))
    url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="still here")
    dynamodb.put_item(TableName="t", Item={"pk": {"S": "still here"}})
    cloudformation.update_stack(StackName="stack", TemplateBody=template(5, True))
    assert dynamodb.scan(TableName="t")["Count"] == 1
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "still here"


def test_lambda_with_its_permission_and_event_source(world: World) -> None:
    cloudformation, lambda_ = world.client("cloudformation"), world.client("lambda")
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("index.py", "def handler(event, context): return event")
    world.client("s3").create_bucket(Bucket="assets")
    world.client("s3").put_object(Bucket="assets", Key="code.zip", Body=code.getvalue())

    def template(batch: int, principal: str) -> str:
        return json.dumps(
            {
                "Resources": {
                    "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}},
                    "Queue": {"Type": "AWS::SQS::Queue"},
                    "Function": {
                        "Type": "AWS::Lambda::Function",
                        "Properties": {
                            "Code": {"S3Bucket": "assets", "S3Key": "code.zip"},
                            "Handler": "index.handler",
                            "Runtime": "python3.12",
                            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
                        },
                    },
                    "Permission": {
                        "Type": "AWS::Lambda::Permission",
                        "Properties": {
                            "Action": "lambda:InvokeFunction",
                            "FunctionName": {"Fn::GetAtt": ["Function", "Arn"]},
                            "Principal": principal,
                        },
                    },
                    "Source": {
                        "Type": "AWS::Lambda::EventSourceMapping",
                        "Properties": {
                            "BatchSize": batch,
                            "EventSourceArn": {"Fn::GetAtt": ["Queue", "Arn"]},
                            "FunctionName": {"Ref": "Function"},
                            "FunctionResponseTypes": ["ReportBatchItemFailures"],
                        },
                    },
                },
                "Outputs": {"Source": {"Value": {"Ref": "Source"}}, "Function": {"Value": {"Ref": "Function"}}},
            }
        )

    cloudformation.create_stack(StackName="stack", TemplateBody=template(5, "events.amazonaws.com"))
    [stack] = cloudformation.describe_stacks(StackName="stack")["Stacks"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    cloudformation.update_stack(StackName="stack", TemplateBody=template(7, "scheduler.amazonaws.com"))
    events = cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
    assert [event["ResourceStatusReason"] for event in events if "FAILED" in event["ResourceStatus"]] == []
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    assert lambda_.get_event_source_mapping(UUID=outputs["Source"])["BatchSize"] == 7
    statements = json.loads(lambda_.get_policy(FunctionName=outputs["Function"])["Policy"])["Statement"]
    assert [statement["Principal"]["Service"] for statement in statements] == ["scheduler.amazonaws.com"]
    cloudformation.delete_stack(StackName="stack")
    assert lambda_.list_functions()["Functions"] == []
    assert lambda_.list_event_source_mappings()["EventSourceMappings"] == []


def test_conditions_may_hold_numbers(world: World) -> None:
    """IAM takes them; moto calls them a syntax error."""
    statement = {
        "Effect": "Allow",
        "Action": "batch:SubmitServiceJob",
        "Resource": "*",
        "Condition": {"NumericLessThanEquals": {"batch:SchedulingPriority": 100}},
    }
    iam = world.client("iam")
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    arn = iam.create_policy(PolicyName="numbers", PolicyDocument=document)["Policy"]["Arn"]
    kept = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
    assert kept["Statement"][0] == statement
    statement["Condition"] = {"NumericLessThanEquals": 100}
    with pytest.raises(iam.exceptions.MalformedPolicyDocumentException):
        iam.create_policy(
            PolicyName="nonsense", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        )
