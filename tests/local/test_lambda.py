"""Lambda functions: their code runs, in a process of its own, and can call AWS."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from local.world import World

pytest.importorskip("awslambdaric", reason="needs awslambdaric")

ROLE = "arn:aws:iam::123456789012:role/role"
CODE = """
import json, os, sys, time
import boto3

calls = 0

def handler(event, context):
    global calls
    calls += 1
    print("called with", event)
    if event.get("raise"):
        raise ValueError(event["raise"])
    if event.get("exit"):
        os._exit(3)
    if event.get("sleep"):
        time.sleep(event["sleep"])
    if event.get("table"):
        boto3.client("dynamodb").put_item(TableName=event["table"], Item={"pk": {"S": context.aws_request_id}})
    return {"calls": calls, "name": context.function_name, "arn": context.invoked_function_arn,
            "variable": os.environ.get("VARIABLE"), "left": context.get_remaining_time_in_millis() > 0}
"""


def archive(**files: str) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as file:
        for name, text in files.items():
            file.writestr(name.replace("__", "/") + ".py", text)
    return body.getvalue()


@pytest.fixture
def function(world: World) -> Callable[..., Any]:
    """A function's call: event in, (answer, error) out."""
    lambda_ = world.client("lambda")
    world.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument="{}")
    lambda_.create_function(
        FunctionName="f",
        Runtime="python3.12",
        Role=ROLE,
        Handler="index.handler",
        Code={"ZipFile": archive(index=CODE)},
        Environment={"Variables": {"VARIABLE": "value"}},
        Timeout=5,
    )

    def call(**event: Any) -> tuple[Any, str | None]:
        answer = lambda_.invoke(FunctionName="f", Payload=json.dumps(event))
        return json.loads(answer["Payload"].read()), answer.get("FunctionError")

    return call


def test_it_runs_and_stays_warm(world: World, function: Callable[..., Any]) -> None:
    answer, error = function(a=1)
    assert error is None
    assert answer == {
        "calls": 1,
        "name": "f",
        "arn": "arn:aws:lambda:us-east-1:123456789012:function:f",
        "variable": "value",
        "left": True,
    }
    assert function()[0]["calls"] == 2
    logs = world.client("logs")
    streams = logs.describe_log_streams(logGroupName="/aws/lambda/f")["logStreams"]
    messages = [
        event["message"]
        for stream in streams
        for event in logs.get_log_events(logGroupName="/aws/lambda/f", logStreamName=stream["logStreamName"])["events"]
    ]
    assert "called with {'a': 1}" in messages


def test_it_calls_aws_in_this_endpoint(world: World, function: Callable[..., Any]) -> None:
    dynamodb = world.client("dynamodb")
    dynamodb.create_table(
        TableName="t",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    assert function(table="t")[1] is None
    assert dynamodb.scan(TableName="t")["Count"] == 1


def test_errors(function: Callable[..., Any]) -> None:
    answer, error = function(**{"raise": "no"})
    assert (error, answer["errorType"], answer["errorMessage"]) == ("Unhandled", "ValueError", "no")
    answer, error = function(exit=True)
    assert (error, answer["errorType"]) == ("Unhandled", "Runtime.ExitError")
    assert function()[0]["calls"] == 1  # in a new process


def test_timeout(world: World, function: Callable[..., Any]) -> None:
    world.client("lambda").update_function_configuration(FunctionName="f", Timeout=1)
    answer, error = function(sleep=30)
    assert (error, answer["errorType"]) == ("Unhandled", "Sandbox.Timedout")
    assert "Task timed out after 1.00 seconds" in answer["errorMessage"]


def test_new_code_and_configuration_are_used(world: World, function: Callable[..., Any]) -> None:
    function()
    lambda_ = world.client("lambda")
    lambda_.update_function_configuration(FunctionName="f", Environment={"Variables": {"VARIABLE": "other"}})
    assert function()[0]["variable"] == "other"
    code = archive(index="def handler(event, context): return 'new'")
    lambda_.update_function_code(FunctionName="f", ZipFile=code)
    assert function()[0] == "new"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import nothing_of_this_name", "Runtime.ImportModuleError"),
        ("def other(event, context): pass", "Runtime.HandlerNotFound"),
        ("def handler(:", "Runtime.UserCodeSyntaxError"),
    ],
)
def test_code_that_cannot_start(world: World, function: Callable[..., Any], code: str, kind: str) -> None:
    world.client("lambda").update_function_code(FunctionName="f", ZipFile=archive(index=code))
    answer, error = function()
    assert (error, answer["errorType"]) == ("Unhandled", kind)


def test_own_layers_are_used_and_public_ones_noted(
    world: World, function: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    lambda_ = world.client("lambda")
    layer = lambda_.publish_layer_version(
        LayerName="l", Content={"ZipFile": archive(python__from_layer="VALUE = 'layered'")}
    )["LayerVersionArn"]
    public = "arn:aws:lambda:us-east-1:017000801446:layer:AWSLambdaPowertoolsPythonV3-python312-x86_64:7"
    lambda_.update_function_configuration(FunctionName="f", Layers=[layer, public])
    code = archive(index="from from_layer import VALUE\ndef handler(event, context): return VALUE")
    lambda_.update_function_code(FunctionName="f", ZipFile=code)
    assert function()[0] == "layered"
    assert f"layer {public} is ignored" in caplog.text


def test_an_asynchronous_call_that_fails_is_retried_twice(world: World, function: Callable[..., Any]) -> None:
    function()
    lambda_ = world.client("lambda")
    answer = lambda_.invoke(FunctionName="f", InvocationType="Event", Payload=json.dumps({"raise": "no"}))
    assert answer["StatusCode"] == 202
    seen = [function()[0]["calls"]]
    for seconds in (59, 1, 119, 1, 10_000):
        world.advance(seconds)
        seen.append(function()[0]["calls"])
    # each look is a call as well
    assert [call - index for index, call in enumerate(seen)] == [3, 3, 4, 4, 5, 5]


EMBEDDED = """
import json, time

def handler(event, context):
    print("no metric: CloudWatchMetrics")
    print(json.dumps({"_aws": {"CloudWatchMetrics": "broken"}}))
    metrics = [{"Name": "Found", "Unit": "Count"}, {"Name": "Seconds"}]
    directive = {"Namespace": "N", "Dimensions": [["Queue"], ["Queue", "Rule"]], "Metrics": metrics}
    document = {"Queue": "q", "Rule": event["rule"], "Found": [1, 2], "Seconds": 0.5}
    print(json.dumps({"_aws": {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}, **document}))
"""


def test_metrics_embedded_in_the_log_are_published(world: World, function: Callable[..., Any]) -> None:
    world.client("lambda").update_function_code(FunctionName="f", ZipFile=archive(index=EMBEDDED))
    for rule in ("A", "B"):
        assert function(rule=rule) == (None, None)

    def total(metric: str, **dimensions: str) -> float:
        now = datetime.now(tz=timezone.utc)
        answer = world.client("cloudwatch").get_metric_statistics(
            Namespace="N",
            MetricName=metric,
            Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
            StartTime=now - timedelta(hours=1),
            EndTime=now + timedelta(minutes=1),
            Period=3600,
            Statistics=["Sum"],
        )
        return float(sum(point["Sum"] for point in answer["Datapoints"]))

    assert total("Found", Queue="q") == 6
    assert total("Found", Queue="q", Rule="B") == 3
    assert total("Seconds", Queue="q", Rule="A") == 0.5
    assert total("Found", Queue="other") == 0


ASKS_BATCH = """
import boto3
from botocore.config import Config

batch = boto3.client("batch", config=Config(read_timeout=2, retries={"total_max_attempts": 1}))

def handler(event, context):
    print("queues:", len(batch.describe_job_queues()["jobQueues"]))
"""


def test_everything_printed_is_in_the_log_of_the_call(world: World, function: Callable[..., Any]) -> None:
    code = "def handler(event, context):\n    for number in range(3000): print(event['call'], number)"
    world.client("lambda").update_function_code(FunctionName="f", ZipFile=archive(index=code))
    logs = world.client("logs")
    for call in range(3):
        function(call=call)
        streams = logs.describe_log_streams(logGroupName="/aws/lambda/f")["logStreams"]
        names = [stream["logStreamName"] for stream in streams]
        found = [logs.get_log_events(logGroupName="/aws/lambda/f", logStreamName=name)["events"] for name in names]
        lines = {event["message"] for events in found for event in events}
        assert {f"{call} {number}" for number in range(3000)} <= lines


def test_a_scheduled_function_can_call_batch(world: World, function: Callable[..., Any]) -> None:
    """It is called by the clock, which must not hold what Batch needs."""
    world.make_article_queue()
    world.client("lambda").update_function_code(FunctionName="f", ZipFile=archive(index=ASKS_BATCH))
    world.client("scheduler").create_schedule(
        Name="tick",
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "arn:aws:lambda:us-east-1:123456789012:function:f", "RoleArn": ROLE},
    )
    world.advance(60)
    logs = world.client("logs")
    [stream] = logs.describe_log_streams(logGroupName="/aws/lambda/f")["logStreams"]
    events = logs.get_log_events(logGroupName="/aws/lambda/f", logStreamName=stream["logStreamName"])["events"]
    assert [event["message"] for event in events] == ["queues: 1"]


def test_other_runtimes_are_refused(world: World, function: Callable[..., Any]) -> None:
    world.client("lambda").update_function_configuration(FunctionName="f", Runtime="nodejs20.x")
    answer, error = function()
    assert error == "Unhandled"
    assert "use a Python runtime" in answer["errorMessage"]


def test_unknown_function(world: World) -> None:
    with pytest.raises(ClientError, match="not found"):
        world.client("lambda").invoke(FunctionName="nowhere")
