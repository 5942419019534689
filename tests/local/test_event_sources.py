"""SQS queues as event sources, and rules and schedules that call functions; the code really runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from local.test_lambda import ROLE, archive
from local.world import World, limits

from constructs_qm.local.schedule_expressions import next_time

pytest.importorskip("awslambdaric", reason="needs awslambdaric")

# remembers what it was called with, and reports or raises what it is told to
CODE = """
import json
calls = []

def handler(event, context):
    if event == "calls":
        return calls
    records = event.get("Records")
    if records is None:
        calls.append(event)
        return
    bodies = [json.loads(record["body"]) for record in records]
    calls.append(bodies)
    if any(body.get("raise") for body in bodies):
        raise ValueError("told to")
    if any(body.get("nonsense") for body in bodies):
        return {"batchItemFailures": [{"wrong": 1}]}
    return {"batchItemFailures": [
        {"itemIdentifier": record["messageId"]}
        for record, body in zip(records, bodies) if body.get("fail")
    ]}
"""


class _Function:
    """The function above, and a queue."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sqs, self.lambda_ = world.client("sqs"), world.client("lambda")
        world.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument="{}")
        self.arn = self.lambda_.create_function(
            FunctionName="f",
            Runtime="python3.12",
            Role=ROLE,
            Handler="index.handler",
            Code={"ZipFile": archive(index=CODE)},
            Timeout=10,
        )["FunctionArn"]

    def queue(self, name: str = "q", **attributes: str) -> str:
        return str(self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])

    def source(self, name: str = "q", **more: Any) -> str:
        made = self.lambda_.create_event_source_mapping(
            EventSourceArn=f"arn:aws:sqs:us-east-1:123456789012:{name}",
            FunctionName="f",
            **{"FunctionResponseTypes": ["ReportBatchItemFailures"], **more},
        )
        return str(made["UUID"])

    def send(self, url: str, *bodies: dict[str, Any], **more: str) -> None:
        for body in bodies:
            self.sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body), **more)

    def left(self, url: str) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        attributes = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(attributes[name]) for name in names)

    def calls(self) -> list[Any]:
        answer = self.lambda_.invoke(FunctionName="f", Payload=json.dumps("calls"))
        calls: list[Any] = json.loads(answer["Payload"].read())
        return calls


@pytest.fixture
def function(world: World) -> _Function:
    return _Function(world)


def test_messages_are_taken_in_batches(function: _Function) -> None:
    url = function.queue()
    bodies = [{"id": number} for number in range(25)]
    function.send(url, *bodies)
    function.source(BatchSize=10)
    assert function.calls() == [bodies[:10], bodies[10:20], bodies[20:]]
    assert function.left(url) == 0


def test_a_window_collects_a_batch(function: _Function) -> None:
    url = function.queue()
    function.source(MaximumBatchingWindowInSeconds=5)
    function.send(url, {"id": 1})
    function.world.advance(3)
    function.send(url, {"id": 2})
    assert function.calls() == []
    function.world.advance(2)
    assert function.calls() == [[{"id": 1}, {"id": 2}]]


def test_only_what_failed_comes_again(function: _Function) -> None:
    dead = function.queue("dead")
    arn = "arn:aws:sqs:us-east-1:123456789012:dead"
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 2})
    url = function.queue(VisibilityTimeout="30", RedrivePolicy=policy)
    function.send(url, {"id": 1}, {"id": 2, "fail": True}, {"id": 3})
    function.source()
    assert function.left(url) == 1
    function.world.advance(29)
    assert len(function.calls()) == 1
    function.world.advance(2)
    assert function.calls()[1:] == [[{"id": 2, "fail": True}]]
    function.world.advance(31)
    assert len(function.calls()) == 2
    assert (function.left(url), function.left(dead)) == (0, 1)


@pytest.mark.parametrize("what", ["raise", "nonsense"])
def test_a_batch_that_fails_comes_again_whole(function: _Function, what: str) -> None:
    url = function.queue(VisibilityTimeout="10")
    function.send(url, {"id": 1}, {"id": 2, what: True})
    function.source()
    assert function.left(url) == 2
    function.world.advance(11)
    assert len(function.calls()) == 2


def test_without_reports_what_the_function_returns_is_ignored(function: _Function) -> None:
    url = function.queue()
    function.send(url, {"id": 1, "fail": True})
    function.source(FunctionResponseTypes=[])
    assert function.left(url) == 0


def test_fifo_keeps_its_order(function: _Function) -> None:
    url = function.queue("q.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    function.source("q.fifo", MaximumBatchingWindowInSeconds=1)
    function.send(url, *({"id": number} for number in range(5)), MessageGroupId="g")
    function.world.advance(1)
    assert [body["id"] for batch in function.calls() for body in batch] == [0, 1, 2, 3, 4]


def test_a_disabled_mapping_takes_nothing(function: _Function) -> None:
    url = function.queue()
    mapping = function.source(Enabled=False)
    function.send(url, {"id": 1})
    assert function.left(url) == 1
    function.lambda_.update_event_source_mapping(UUID=mapping, Enabled=True)
    assert function.calls() == [[{"id": 1}]]
    function.lambda_.delete_event_source_mapping(UUID=mapping)
    function.send(url, {"id": 2})
    assert function.left(url) == 1


def test_job_events_through_a_rule_and_a_queue_to_the_function(function: _Function) -> None:
    world = function.world
    world.make_queue(limits(g5=1))
    world.make_share("s")
    function.queue()
    function.source()
    events = world.client("events")
    events.put_rule(Name="r", EventPattern=json.dumps({"source": ["aws.batch"], "detail": {"jobName": ["job"]}}))
    events.put_targets(Rule="r", Targets=[{"Id": "q", "Arn": "arn:aws:sqs:us-east-1:123456789012:q"}])
    world.submit("job", "s")
    world.advance(1000)
    seen = [event for batch in function.calls() for event in batch]
    assert seen == [event for event in world.endpoint.events if event["detail"].get("jobName") == "job"]


def test_a_rule_calls_a_function(function: _Function) -> None:
    world = function.world
    events = world.client("events")
    events.put_rule(Name="r", EventPattern=json.dumps({"source": ["mine"]}))
    events.put_targets(Rule="r", Targets=[{"Id": "f", "Arn": function.arn}])
    events.put_events(Entries=[{"Source": "mine", "DetailType": "x", "Detail": "{}"}])
    assert [call["source"] for call in function.calls()] == ["mine"]


def _schedule(function: _Function, expression: str, **more: Any) -> None:
    target = {"Arn": function.arn, "RoleArn": ROLE, "Input": '{"at": "<aws.scheduler.scheduled-time>"}'}
    function.world.client("scheduler").create_schedule(
        Name="s",
        ScheduleExpression=expression,
        FlexibleTimeWindow={"Mode": "OFF"},
        Target=target,
        **more,
    )


def test_schedules_tick_with_the_clock(function: _Function) -> None:
    _schedule(function, "rate(1 minute)")
    function.world.advance(59)
    assert function.calls() == []
    function.world.advance(121)
    assert [call["at"] for call in function.calls()] == [
        "2026-01-01T00:01:00Z",
        "2026-01-01T00:02:00Z",
        "2026-01-01T00:03:00Z",
    ]
    scheduler = function.world.client("scheduler")
    schedule = scheduler.get_schedule(Name="s")
    request = {key: schedule[key] for key in ("ScheduleExpression", "FlexibleTimeWindow", "Target")}
    scheduler.update_schedule(Name="s", State="DISABLED", **request)
    function.world.advance(600)
    assert len(function.calls()) == 3


def test_scheduled_rules_tick_too(function: _Function) -> None:
    events = function.world.client("events")
    events.put_rule(Name="r", ScheduleExpression="rate(5 minutes)")
    events.put_targets(Rule="r", Targets=[{"Id": "f", "Arn": function.arn}])
    function.world.advance(301)
    [event] = function.calls()
    assert (event["detail-type"], event["time"]) == ("Scheduled Event", "2026-01-01T00:05:00Z")


def test_a_universal_target_calls_any_operation(function: _Function) -> None:
    url = function.queue()
    function.world.client("scheduler").create_schedule(
        Name="s",
        ScheduleExpression="at(2026-01-01T00:01:00)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": "arn:aws:scheduler:::aws-sdk:sqs:sendMessage",
            "RoleArn": ROLE,
            "Input": json.dumps({"QueueUrl": url, "MessageBody": "x"}),
        },
    )
    function.world.advance(3600)
    assert function.left(url) == 1


NEW_YEAR = 1_767_225_600  # a Thursday
MINUTE, HOUR, DAY = 60, 3600, 86_400


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("rate(1 minute)", 0, MINUTE),
        ("rate(1 minute)", 60, 2 * MINUTE),
        ("rate(2 hours)", 10, 2 * HOUR),
        ("rate(1 day)", DAY - 1, DAY),
        ("at(2026-01-01T01:00:00)", 0, HOUR),
        ("at(2026-01-01T01:00:00)", HOUR, None),
        ("cron(* * * * ? *)", 0, MINUTE),
        ("cron(*/15 * * * ? *)", 16 * MINUTE, 30 * MINUTE),
        ("cron(0 12 * * ? *)", 0, 12 * HOUR),
        ("cron(0 12 * * ? *)", 12 * HOUR, 12 * HOUR + DAY),
        ("cron(30 8-9 ? * MON-FRI *)", 0, 8.5 * HOUR),
        ("cron(30 8-9 ? * MON-FRI *)", 10 * HOUR, DAY + 8.5 * HOUR),
        ("cron(0 0 ? * SUN *)", 0, 3 * DAY),
        ("cron(0 0 ? * 2#1 *)", 0, 4 * DAY),
        ("cron(0 0 ? * FRIL *)", 0, 29 * DAY),
        ("cron(0 0 L * ? *)", 0, 30 * DAY),
        ("cron(0 0 1,15 FEB,3 ? *)", 0, 31 * DAY),
        ("cron(0 0 29 2 ? *)", 0, (365 + 365 + 31 + 28) * DAY),
        ("cron(0 0 1 1 ? 2025)", 0, None),
    ],
)
def test_next_time(expression: str, after: float, expected: float | None) -> None:
    due = next_time(expression, NEW_YEAR + after, NEW_YEAR)
    assert due == (None if expected is None else NEW_YEAR + expected)


def test_next_time_in_a_time_zone() -> None:
    assert next_time("cron(0 9 * * ? *)", NEW_YEAR, NEW_YEAR, "Europe/Berlin") == NEW_YEAR + 8 * HOUR


@pytest.mark.parametrize(
    "expression",
    ["", "rate(0 minutes)", "rate(5)", "cron(* * * *)", "cron(60 * * * ? *)", "cron(x * * * ? *)", "at(never)"],
)
def test_expressions_that_cannot_be_read(expression: str) -> None:
    with pytest.raises(ValueError, match=r"read|fields|allowed|invalid|Invalid"):
        next_time(expression, 0, 0)
