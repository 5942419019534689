"""The DynamoDB store does what the one in memory does, on the table a deployment makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.histories import Shape, faithful
from support.recording import G5, QUEUE
from support.rogues import ROGUES, play

from preemption_auditor import AuditSettings, Delivery, audit
from preemption_auditor.ingest import ingest
from preemption_auditor.instants import parse_time
from preemption_auditor.live import finding_key, judge_queue
from preemption_auditor.stores import Head, LeaseLostError, MemoryStore, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler import QuotaPolicy

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")
from preemption_auditor.stores.dynamodb import DynamoDBStore  # noqa: E402

SETTINGS = AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=30, tolerance=1e6)
TABLE = "auditor"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with moto.mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "memory":
        return MemoryStore()
    return DynamoDBStore(request.getfixturevalue("client"), TABLE)


def test_events_come_in_the_order_they_were_written(store: Store) -> None:
    for identity, now in (("b", 2), ("a", 1), ("c", 30), ("a", 1)):
        store.add_event("q", identity, identity * 3, now)
    store.add_event("other", "x", "x", 5)
    assert [event.body for event in store.events("q", 0)] == ["aaa", "bbb", "ccc"]
    assert [event.body for event in store.events("q", 2)] == ["bbb", "ccc"]
    assert store.queues() == ["other", "q"]


def test_orphans_move_when_their_job_is_known(store: Store) -> None:
    store.add_orphan("j", "x", "lost", 3)
    assert store.home("j") is None
    store.settle("j", "q", 7)
    store.settle("j", "q", 8)
    assert store.home("j") == "q"
    assert [event.body for event in store.events("q", 0)] == ["lost"]


def test_a_lease_keeps_others_out_until_it_ends(store: Store) -> None:
    assert store.lease("q", "one", 0, 100) == Head()
    assert store.lease("q", "two", 50, 100) is None
    assert store.lease("q", "one", 60, 100) == Head()
    assert store.lease("q", "two", 160, 100) == Head()
    with pytest.raises(LeaseLostError):
        store.commit("q", "one", Head(), [("k", {"revision": 0})])
    assert store.findings("q") == []


@pytest.mark.parametrize("size", [0, 10, 800_000])
def test_a_commit_keeps_state_and_findings_together(store: Store, size: int) -> None:
    state = bytes(index % 251 for index in range(size)) or b"x"
    head = store.lease("q", "one", 0, 100)
    assert head is not None
    findings = [(f"k{index}", {"revision": 0, "n": index}) for index in range(120)]
    store.commit("q", "one", Head(head.version, 5, state), findings)
    assert len(store.findings("q")) == 120
    assert store.lease("q", "two", 1, 100) == Head(1, 5, state)
    store.commit("q", "two", Head(1, 9, b"next"), [("k0", {"revision": 1, "n": 0})])
    assert store.lease("q", "three", 2, 100) == Head(2, 9, b"next")
    assert {"revision": 1, "n": 0} in store.findings("q")


def test_each_revision_of_a_finding_is_published_once(store: Store) -> None:
    for version, revision in enumerate((0, 1)):
        store.lease("q", "one", 0, 100)
        store.commit("q", "one", Head(version, 0, b""), [("k", {"revision": revision})])
        assert store.unpublished("q") == [("k", {"revision": revision})]
        store.mark_published("q", "k", revision)
        assert store.unpublished("q") == []


def test_a_summary_is_that_of_the_last_commit(store: Store) -> None:
    assert store.summary("q") is None
    for version, summary in enumerate(({"n": 1}, None, {"n": 3})):
        store.lease("q", "one", 0, 100)
        assert store.summary("q") == (None if version == 0 else {"n": 1} if version == 1 else None)
        store.commit("q", "one", Head(version, 0, b"x", summary), [])
    assert store.summary("q") == {"n": 3}


def test_parts_of_a_state_expire_by_themselves(client: Any) -> None:
    store = DynamoDBStore(client, TABLE, event_days=7)
    now = 1_800_000_000_000
    for version in range(2):
        store.lease("q", "one", now, 100)
        store.commit("q", "one", Head(version, now, b"x" * 800_000), [("k", {"revision": 0})])
    items = client.scan(TableName=TABLE, ProjectionExpression="sk, #ttl", ExpressionAttributeNames={"#ttl": "ttl"})
    ends = {item["sk"]["S"]: item.get("ttl", {}).get("N") for item in items["Items"]}
    assert {end for sk, end in ends.items() if sk.startswith("PART#")} == {str(now // 1000 + 7 * 86_400)}
    assert ends["HEAD"] is ends["k"] is None


def test_a_state_that_expired_is_left_behind(client: Any) -> None:
    store = DynamoDBStore(client, TABLE)
    store.lease("q", "one", 0, 100)
    store.commit("q", "one", Head(0, 5, b"x" * 800_000), [])
    part = next(i for i in client.scan(TableName=TABLE)["Items"] if i["sk"]["S"].endswith("STATE#0001"))
    client.delete_item(TableName=TABLE, Key={"pk": part["pk"], "sk": part["sk"]})
    assert store.lease("q", "two", 1, 100) == Head(1, 5, None)


def deliver(events: list[dict[str, Any]], store: Store, policy: QuotaPolicy) -> None:
    for event in events:
        ingest(event, store, parse_time(event["time"]) or 0)
    end = parse_time(events[-1]["time"]) or 0
    for run, now in enumerate(range(60_000, end + 4 * 3_600_000, 1_800_000)):
        assert judge_queue(store, QUEUE, f"run-{run}", now, policy, SETTINGS) is not None


def test_judging_from_the_table_finds_what_an_audit_finds(client: Any) -> None:
    writer = play(1, ROGUES["takes limits for larger"])
    store = DynamoDBStore(client, TABLE)
    deliver(writer.recording.events, store, writer.first_policy)
    whole = audit(writer.recording.events, writer.first_policy, SETTINGS).findings
    assert sorted(key for key, _ in store.unpublished(QUEUE)) == sorted(map(finding_key, whole))
    assert whole


def test_a_faithful_history_leaves_no_finding_in_the_table(client: Any) -> None:
    policy, events = faithful(3, Shape(actions=40))
    store = DynamoDBStore(client, TABLE)
    deliver(events, store, policy)
    assert store.findings(QUEUE) == []
    assert G5 in policy.environment
