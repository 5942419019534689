"""What the deployed auditor asks of DynamoDB: as much as docs/auditor.md says that it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from support.counting import Counting

from preemption_auditor.ingest import ingest

if TYPE_CHECKING:
    from collections.abc import Iterator

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")
from benchmarks.audit_costs import TABLE, make_table, measure  # noqa: E402
from benchmarks.audit_speed import history  # noqa: E402
from preemption_auditor.stores.dynamodb import DynamoDBStore  # noqa: E402


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with moto.mock_aws():
        client = boto3.client("dynamodb")
        make_table(client)
        yield client


def test_ingest_writes_once_for_each_event_and_once_for_each_job(client: Any) -> None:
    counting = Counting(client)
    store = DynamoDBStore(counting, TABLE)
    events = history(60)
    for event in events:
        ingest(event, store, 0)
    of_jobs = {event["detail"]["jobArn"] for event in events if "jobArn" in event["detail"]}
    of_no_queue = [event for event in events if "preemptedJobArn" in event["detail"]]
    assert of_no_queue
    assert counting.writes == len(events) + len(of_jobs) + 1  # one for the queue
    assert counting.reads == len(of_jobs) + len(of_no_queue)


def test_a_run_of_the_judge_pays_for_its_state_and_the_events_it_reads(client: Any) -> None:
    costs = measure(client, 30, minutes=1)
    assert costs.runs >= 2
    # each state is written, and the one before it deleted; the lease and the commit are small
    assert costs.judge_writes <= costs.runs * (2 * math.ceil(costs.state / 1024) + 10)
    # a state is read and looked over once; an event is read twice at most, by 4 KB
    assert costs.judge_reads <= costs.runs * (2 * math.ceil(costs.state / 4096) + 10) + 0.3 * costs.events
