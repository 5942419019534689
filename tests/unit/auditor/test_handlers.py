"""The two Lambda functions, with AWS Batch as the local endpoint answers it."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

boto3 = pytest.importorskip("boto3")
pytest.importorskip("moto")
pytest.importorskip("aws_lambda_powertools")

from local.world import LEND, RESERVE, World, limits  # noqa: E402

from constructs_qm.local import Rogue, Settings, mock_quota_management  # noqa: E402
from preemption_auditor.handlers import ingest, judge  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.local import Endpoint

REGION, TABLE = "us-east-1", "auditor"
CONTEXT: Any = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=128,
    invoked_function_arn="arn:aws:lambda:us-east-1:123456789012:function:f",
    aws_request_id="request",
)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    given = {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": REGION,
        "AUDITOR_TABLE": TABLE,
        "AUDITOR_DECISION_LAG": "0",
        "AUDITOR_LATENESS": "0",
        "AUDITOR_BUS": "findings",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with mock_quota_management(settings=Settings(running_seconds=None)) as endpoint:
        for module in (ingest, judge):
            monkeypatch.setattr(module, "time", SimpleNamespace(time=endpoint.clock.now))
        boto3.client("dynamodb").create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield endpoint
    for cached in (ingest._store, judge._environment, judge._client):
        cached.cache_clear()


def messages(bodies: list[str]) -> dict[str, Any]:
    """Return a batch as Lambda hands it over, with messages named by their place."""
    common = {"eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:q", "attributes": {}}
    return {"Records": [{"messageId": str(index), "body": body, **common} for index, body in enumerate(bodies)]}


def deliver(endpoint: Endpoint) -> None:
    answer = ingest.handler(messages([json.dumps(event) for event in endpoint.events]), CONTEXT)
    assert answer == {"batchItemFailures": []}


def overbooked(endpoint: Endpoint) -> None:
    """Let a scheduler dispatch two jobs in a share of one, which go on until another event shows that they do."""
    world = World(endpoint)
    world.make_queue(limits(g5=3))
    world.make_share("R", limits(g5=1), RESERVE)
    world.make_share("L", limits(g5=1), LEND)
    endpoint.clock.advance(4000)
    endpoint.rogue = Rogue("QM-A03")
    for number in range(2):
        world.submit(f"job-{number}", "R")
        endpoint.clock.advance(100)


def findings_bus(endpoint: Endpoint) -> str:
    """Make the bus findings go to, and return the URL of a queue that gets what arrives there."""
    events, sqs = boto3.client("events"), boto3.client("sqs")
    events.create_event_bus(Name="findings")
    events.put_rule(Name="all", EventBusName="findings", EventPattern='{"source": ["preemption-auditor"]}')
    target = {"Id": "queue", "Arn": "arn:aws:sqs:us-east-1:123456789012:arrived"}
    url = str(sqs.create_queue(QueueName="arrived")["QueueUrl"])
    events.put_targets(Rule="all", EventBusName="findings", Targets=[target])
    return url


def arrived(url: str) -> list[dict[str, Any]]:
    sqs, bodies = boto3.client("sqs"), []
    while found := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in found:
            bodies.append(json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return bodies


def test_a_message_that_cannot_be_read_fails_alone(endpoint: Endpoint) -> None:
    overbooked(endpoint)
    known = [json.dumps(event) for event in endpoint.events]
    broken = json.dumps({"source": "aws.batch", "detail-type": "Batch Service Job State Change", "detail": 3})
    answer = ingest.handler(messages([known[0], "{", *known[1:], broken]), CONTEXT)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "1"}, {"itemIdentifier": str(len(known) + 1)}]}
    assert ingest._store().queues() == ["queue"]


def test_a_violation_is_published_once(endpoint: Endpoint) -> None:
    url = findings_bus(endpoint)
    overbooked(endpoint)
    deliver(endpoint)
    assert judge.handler({}, CONTEXT) == {"judged": {"queue": 1}}
    (event,) = arrived(url)
    assert event["detail-type"] == "Preemption Auditor Finding"
    assert event["detail"]["rule"] == "QM-A03"
    assert event["detail"]["shares"] == ["R"]
    assert event["detail"]["revision"] == 0
    endpoint.clock.advance(300)
    deliver(endpoint)
    assert judge.handler({}, CONTEXT) == {"judged": {"queue": 0}}
    assert arrived(url) == []


def test_a_finding_that_could_not_be_published_is_published_by_the_next_run(endpoint: Endpoint) -> None:
    overbooked(endpoint)
    deliver(endpoint)
    with pytest.raises(RuntimeError, match="queue"):
        judge.handler({}, CONTEXT)  # there is no such bus yet
    url = findings_bus(endpoint)
    endpoint.clock.advance(300)
    assert judge.handler({}, CONTEXT) == {"judged": {"queue": 0}}
    assert [event["detail"]["rule"] for event in arrived(url)] == ["QM-A03"]


def test_violations_are_told_to_a_topic(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    sns, sqs = boto3.client("sns"), boto3.client("sqs")
    topic = sns.create_topic(Name="violations")["TopicArn"]
    url = sqs.create_queue(QueueName="told")["QueueUrl"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint="arn:aws:sqs:us-east-1:123456789012:told")
    monkeypatch.setenv("AUDITOR_TOPIC", topic)
    monkeypatch.setenv("AUDITOR_BUS", "")
    overbooked(endpoint)
    deliver(endpoint)
    judge.handler({}, CONTEXT)
    (told,) = arrived(url)
    assert told["Subject"] == "QM-A03 in queue"
    assert json.loads(told["Message"])["kind"] == "violation"


def test_metrics_tell_what_was_found_and_how_far_the_evidence_goes(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    findings_bus(endpoint)
    overbooked(endpoint)
    deliver(endpoint)
    judge.handler({}, CONTEXT)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if re.match(r"\{.*_aws", line)]
    total, found = [line for line in lines if "Violations" in line]
    assert total["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["JobQueueName"]]
    assert (found["JobQueueName"], found["QuotaShareName"], found["Rule"]) == ("queue", "R", "QM-A03")
    counts = {name: sum(sum(line.get(name, ())) for line in lines) for name in ("Decisions", "UnknownDecisions")}
    assert counts == {"Decisions": 2, "UnknownDecisions": 0}


def test_a_queue_that_cannot_be_judged_stops_no_other(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    url = findings_bus(endpoint)
    monkeypatch.setenv("AUDITOR_QUEUES", '["bad", "none", "queue"]')
    overbooked(endpoint)
    deliver(endpoint)
    look_up = judge.look_up_policy

    def failing(batch: Any, queue: str, now: int) -> dict[str, Any] | None:
        if queue == "bad":
            raise ConnectionError
        return look_up(batch, queue, now)

    monkeypatch.setattr(judge, "look_up_policy", failing)
    with pytest.raises(RuntimeError, match="bad"):
        judge.handler({}, CONTEXT)
    assert len(arrived(url)) == 1


def test_a_declared_policy_is_compared_with_the_one_in_force(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = findings_bus(endpoint)
    declared = {
        "environment": {"ml.g5.xlarge": 3},
        "shares": [
            {"name": "R", "limits": {"ml.g5.xlarge": 2}, "strategy": "RESERVE"},
            {"name": "L", "limits": {"ml.g5.xlarge": 1}, "strategy": "LEND"},
        ],
    }
    monkeypatch.setenv("AUDITOR_POLICIES", json.dumps({"queue": declared}))
    overbooked(endpoint)
    deliver(endpoint)
    judge.handler({}, CONTEXT)
    assert {event["detail"]["rule"] for event in arrived(url)} == {"QM-A03", "QM-A15"}
