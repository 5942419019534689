"""EventBridge: which events reach which targets, and in what form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from local.world import World, limits

PATTERN = {"source": ["aws.batch"], "detail-type": [{"prefix": "Batch Service Job"}]}


class _Bus:
    """A rule for a queue, and what arrives there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.events, self.sqs = world.client("events"), world.client("sqs")

    def queue(self, name: str = "q", **attributes: str) -> tuple[str, str]:
        url = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        return url, f"arn:aws:sqs:us-east-1:123456789012:{name}"

    def rule(self, target: dict[str, Any], pattern: dict[str, Any] | None = None, **more: Any) -> None:
        name = more.pop("Name", "rule")
        bus = {"EventBusName": more["EventBusName"]} if "EventBusName" in more else {}
        self.events.put_rule(Name=name, EventPattern=json.dumps(pattern or PATTERN), **more)
        self.events.put_targets(Rule=name, Targets=[{"Id": "target", **target}], **bus)

    def arrived(self, url: str) -> list[Any]:
        bodies: list[Any] = []
        while messages := self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                bodies.append(json.loads(message["Body"]))
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return bodies


@pytest.fixture
def bus(world: World) -> _Bus:
    world.make_queue(limits(g5=2))
    world.make_share("s", limits(g5=2))
    return _Bus(world)


def _run_job(world: World, name: str = "job") -> list[Any]:
    world.submit(name, "s")
    world.advance(1000)
    return [event for event in world.endpoint.events if event["detail-type"].startswith("Batch Service Job")]


@pytest.mark.parametrize("fifo", [False, True])
def test_job_events_arrive_in_a_queue_as_they_are(bus: _Bus, fifo: bool) -> None:
    if fifo:
        url, arn = bus.queue("q.fifo", FifoQueue="true", ContentBasedDeduplication="true")
        bus.rule({"Arn": arn, "SqsParameters": {"MessageGroupId": "g"}})
    else:
        url, arn = bus.queue()
        bus.rule({"Arn": arn})
    events = _run_job(bus.world)
    assert len(events) == 5
    assert bus.arrived(url) == events
    assert events[0]["account"] == "123456789012"


@pytest.mark.parametrize(
    ("pattern", "statuses"),
    [
        ({"detail": {"status": ["RUNNING"]}}, ["RUNNING"]),
        ({"detail": {"status": [{"anything-but": ["RUNNABLE", "SCHEDULED", "STARTING"]}]}}, ["RUNNING", "SUCCEEDED"]),
        ({"detail": {"stoppedAt": [{"exists": True}]}}, ["SUCCEEDED"]),
        ({"detail": {"startedAt": [{"exists": False}], "status": ["STARTING", "RUNNING"]}}, ["STARTING"]),
        ({"source": ["aws.batch"], "detail-type": [{"prefix": "Batch Service Job Preempt"}]}, []),
        ({"account": ["123456789012"], "detail": {"quotaShareName": ["other"]}}, []),
        ({"detail": {"createdAt": [{"numeric": [">", 0]}], "status": ["SCHEDULED"]}}, ["SCHEDULED"]),
        (
            {"$or": [{"detail": {"status": ["RUNNABLE"]}}, {"detail": {"status": ["SUCCEEDED"]}}]},
            ["RUNNABLE", "SUCCEEDED"],
        ),
    ],
)
def test_patterns_are_honoured(bus: _Bus, pattern: dict[str, Any], statuses: list[str]) -> None:
    url, arn = bus.queue()
    bus.rule({"Arn": arn}, {"detail-type": ["Batch Service Job State Change"], **pattern})
    _run_job(bus.world)
    assert [event["detail"]["status"] for event in bus.arrived(url)] == statuses


def test_disabled_and_scheduled_rules_take_no_events(bus: _Bus) -> None:
    url, arn = bus.queue()
    bus.rule({"Arn": arn}, Name="disabled", State="DISABLED")
    bus.events.put_rule(Name="scheduled", ScheduleExpression="rate(365 days)")
    bus.events.put_targets(Rule="scheduled", Targets=[{"Id": "target", "Arn": arn}])
    _run_job(bus.world)
    assert bus.arrived(url) == []
    bus.events.enable_rule(Name="disabled")
    _run_job(bus.world)
    assert len(bus.arrived(url)) == 5


def test_another_bus_gets_the_event_unchanged(bus: _Bus) -> None:
    arn = bus.events.create_event_bus(Name="other")["EventBusArn"]
    url, queue = bus.queue()
    bus.rule({"Arn": arn}, Name="forward")
    bus.rule({"Arn": queue}, EventBusName="other")
    assert bus.arrived(url) == []
    events = _run_job(bus.world)
    assert bus.arrived(url) == events


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"Input": '{"fixed": 1}'}, {"fixed": 1}),
        ({"InputPath": "$.detail.jobName"}, "job"),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": {"name": "$.detail.jobName", "status": "$.detail.status"},
                    "InputTemplate": '{"text": "<name> is <status>"}',
                }
            },
            {"text": "job is RUNNING"},
        ),
    ],
)
def test_what_a_rule_makes_of_an_event(bus: _Bus, target: dict[str, Any], message: Any) -> None:
    url, arn = bus.queue()
    bus.rule({"Arn": arn, **target}, {"detail": {"status": ["RUNNING"]}})
    _run_job(bus.world)
    assert bus.arrived(url) == [message]


def test_own_events_are_delivered_the_same_way(bus: _Bus) -> None:
    url, arn = bus.queue()
    bus.rule({"Arn": arn}, {"source": ["mine"]})
    entry = {"Source": "mine", "DetailType": "Finding", "Detail": '{"rule": "QM-A06"}', "Resources": ["r"]}
    bus.events.put_events(Entries=[entry])
    [event] = bus.arrived(url)
    assert set(event) == {
        "version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail"
    }  # fmt: skip
    assert event["account"] == "123456789012"
    assert event["time"].endswith("Z")
    assert event["detail"] == {"rule": "QM-A06"}


def test_topics_and_log_groups(bus: _Bus) -> None:
    topic = bus.world.client("sns").create_topic(Name="t")["TopicArn"]
    url, arn = bus.queue()
    bus.world.client("sns").subscribe(
        TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"}
    )
    logs = bus.world.client("logs")
    logs.create_log_group(logGroupName="/events")
    bus.rule({"Arn": topic}, {"detail": {"status": ["RUNNING"]}})
    group = "arn:aws:logs:us-east-1:123456789012:log-group:/events"
    bus.rule({"Arn": group}, {"detail": {"status": ["RUNNING"]}}, Name="logged")
    _run_job(bus.world)
    assert [event["detail"]["status"] for event in bus.arrived(url)] == ["RUNNING"]
    assert len(logs.describe_log_streams(logGroupName="/events")["logStreams"]) == 1


def test_a_target_that_is_missing_gets_what_it_missed(bus: _Bus) -> None:
    """A delivery is tried again for a while, then goes to the dead-letter queue."""
    dead, dead_arn = bus.queue("dead")
    arn = "arn:aws:sqs:us-east-1:123456789012:late"
    bus.rule({"Arn": arn, "DeadLetterConfig": {"Arn": dead_arn}}, {"detail": {"status": ["RUNNING"]}})
    bus.world.submit("job", "s")
    bus.world.advance(10)
    url, _ = bus.queue("late")
    bus.world.advance(10)
    assert len(bus.arrived(url)) == 1
    bus.sqs.delete_queue(QueueUrl=url)
    bus.world.submit("job", "s")
    bus.world.advance(100)
    assert [event["detail"]["status"] for event in bus.arrived(dead)] == ["RUNNING"]
