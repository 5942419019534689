"""What an event costs doesn't grow with the jobs that wait; what a run costs grows with the state it keeps."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from support.recording import G5, QUEUE, Recording, job
from support.stored import MemoryBackend, Stream, make_table, quiet

from preemption_auditor.ingest import ingest
from preemption_auditor.stores import Head
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")
from preemption_auditor.stores import dynamodb  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

POLICY = QuotaPolicy({G5: 1}, (QuotaShare("A", {G5: 1}, ResourceSharing.lend()),))
MINUTE = 60_000


class Cost(NamedTuple):
    """Requests to DynamoDB, and operations of the store's interface in a run."""

    ingest: list[str]
    run: list[str]
    interface: list[str]
    read: int
    """Parts of the state before the run."""
    written: int
    """Parts of it after the run."""


def waiting(count: int) -> Iterator[dict[str, Any]]:
    """Yield the events of jobs that wait for one that runs."""
    recording = Recording(running=job("A", 1, 9))
    recording.script("0 running RUNNABLE\n 0 running SCHEDULED\n 1 running RUNNING")
    yield from recording.events
    for index in range(count):
        recording.events = []
        recording.jobs = {f"w{index:06d}": job("A")}
        recording.record(2, f"w{index:06d}", "RUNNABLE")
        yield recording.events[0]


def cost_with(backlog: int, client: Any) -> Cost:
    """Return what four more events cost while jobs wait."""
    backend = MemoryBackend()
    stream = Stream(list(waiting(backlog)), POLICY)
    stream.ingest(backend.store, MINUTE)
    assert stream.judge(backend.store, "first", 5 * MINUTE)
    table = make_table(client, f"table-{backlog}")
    head = backend.store.lease(QUEUE, "copy", 5 * MINUTE, 1)
    assert head is not None
    copy = table.open(quiet)
    copy.lease(QUEUE, "copy", 5 * MINUTE, 1)
    copy.commit(QUEUE, "copy", Head(0, head.written, head.state), [])
    more = Recording(x=job("A", 1, 9)).script("310 x RUNNABLE\n 350 x SCHEDULED\n 351 x RUNNING\n 390 x SUCCEEDED")
    ingesting: list[str] = []
    running: list[str] = []
    interface: list[str] = []
    for event in more:
        ingest(event, backend.store, 400_000)
    into = table.open(ingesting.append)
    for event in more:
        ingest(event, into, 400_000)
    assert stream.judge(table.open(running.append), "next", 10 * MINUTE)
    assert stream.judge(backend.open(interface.append), "next", 10 * MINUTE)
    after = backend.store.lease(QUEUE, "look", 10 * MINUTE, 1)
    assert after is not None
    return Cost(ingesting, running, interface, parts_of(head), parts_of(after))


def parts_of(head: Head) -> int:
    return ceil(len(head.state or b"") / dynamodb._PART)


def assert_costs_alike(small: Cost, large: Cost) -> None:
    assert small.ingest == large.ingest
    assert len(small.ingest) <= 2 * 4 + 2
    assert small.interface == large.interface == ["lease", "events", "commit"]
    assert large.read > small.read
    for cost in (small, large):
        assert cost.run.count("get_item") == cost.read
        assert cost.run.count("put_item") <= cost.written + 2  # a summary and findings, too
    others = [[name for name in cost.run if name not in ("get_item", "put_item")] for cost in (small, large)]
    assert others[0] == others[1]
    assert len(others[0]) <= 6


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with moto.mock_aws():
        yield boto3.client("dynamodb", region_name="eu-west-1")


def test_the_cost_of_an_event_does_not_grow_with_the_backlog(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamodb, "_PART", 40_000)
    assert_costs_alike(cost_with(20, client), cost_with(1_000, client))


@pytest.mark.slow
def test_the_cost_of_an_event_is_the_same_with_100_000_jobs_waiting(client: Any) -> None:
    assert_costs_alike(cost_with(1_000, client), cost_with(100_000, client))
