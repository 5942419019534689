"""Whatever dies between whichever two operations: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.histories import Shape, faithful
from support.recording import G5, QUEUE, Recording, job
from support.rogues import ROGUES, play
from support.stored import SETTINGS, Backend, MemoryBackend, Stream, crash_at, make_table, outcome, quiet

from preemption_auditor import audit
from preemption_auditor.ingest import ingest
from preemption_auditor.stores import dynamodb
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")


NOW = 4_000_000


def short() -> Stream:
    """A preemption for nobody, of a job that isn't known when its event comes, and a dispatch beyond the limit."""
    policy = QuotaPolicy({G5: 2}, (QuotaShare("A", {G5: 1}, ResourceSharing.reserve()), QuotaShare("B", {G5: 1})))
    recording = Recording(a=job("A"), b=job("A"))
    events = recording.script(
        """
        10 a RUNNABLE
        10 a SCHEDULED
        70 a STOPPING cross-share
        75 b SCHEDULED
        130 a STOPPED RUNNABLE
        """
    )
    first, dispatched, stopping, *rest = events
    return Stream([stopping, first, dispatched, *rest], policy)


def long(seed: int) -> Stream:
    writer = play(seed, ROGUES["takes limits for larger"])
    return Stream(writer.recording.events, writer.first_policy)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Backend]]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr(dynamodb, "_PART", 4_000)  # so that a state and the findings have several parts
    with moto.mock_aws():
        client = boto3.client("dynamodb", region_name="eu-west-1")
        made: list[str] = []

        def make() -> Backend:
            made.append(f"table-{len(made)}")
            return make_table(client, made[-1])

        yield make


def undisturbed(stream: Stream, backend: Backend) -> tuple[dict[str, Any], list[str]]:
    operations: list[str] = []
    assert stream.play(backend, operations.append) == 0
    return outcome(backend.open(quiet)), operations


def assert_survives(stream: Stream, make: Callable[[], Backend], *, step: int = 1) -> list[str]:
    """Crash before each operation in turn; return the operations there are."""
    expected, operations = undisturbed(stream, make())
    assert expected["findings"]
    for number in range(0, len(operations), step):
        backend = make()
        assert stream.play(backend, crash_at(number)) == 1, (number, operations[number])
        assert outcome(backend.open(quiet)) == expected, (number, operations[number])
    return operations


def test_a_stream_finds_what_an_audit_of_the_recording_finds() -> None:
    for stream in (short(), long(1)):
        whole = audit(stream.events, stream.policy, SETTINGS)
        found, _ = undisturbed(stream, MemoryBackend())
        about = [(f.rule, f.jobs, f.seen) for f in whole.findings]
        assert sorted((f["rule"], tuple(f["jobs"]), f["seen"]) for f in found["findings"]) == sorted(about)
        assert found["coverage"]["decisions"] == whole.coverage.decisions
        assert found["coverage"]["unknown"] == whole.coverage.unknown


def test_a_crash_between_any_two_operations_of_a_store() -> None:
    operations = assert_survives(short(), MemoryBackend)
    assert {"add_event", "add_orphan", "settle", "home", "lease", "events", "commit"} <= set(operations)


def test_a_crash_between_requests_to_dynamodb(tables: Callable[[], Backend]) -> None:
    operations = assert_survives(short(), tables, step=7)
    assert {"put_item", "get_item", "update_item", "query", "delete_item"} <= set(operations)


@pytest.mark.slow
def test_a_crash_between_any_two_requests_to_dynamodb(tables: Callable[[], Backend]) -> None:
    assert_survives(short(), tables)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_crash_between_any_two_operations_of_a_long_history(seed: int) -> None:
    assert_survives(long(seed), MemoryBackend)


@pytest.mark.slow
def test_a_crash_between_many_requests_of_a_long_history(tables: Callable[[], Backend]) -> None:
    assert_survives(long(1), tables, step=23)


@pytest.mark.slow
def test_a_faithful_history_is_not_accused_whatever_crashes() -> None:
    policy, events = faithful(3, Shape(actions=40))
    stream = Stream(events, policy)
    _, operations = undisturbed(stream, MemoryBackend())
    for number in range(len(operations)):
        backend = MemoryBackend()
        stream.play(backend, crash_at(number))
        assert not backend.store.findings(QUEUE)


def overtake(stream: Stream, last: dict[str, Any], backend: Backend) -> bool:
    """Let an event come in and another judge take over, after the lease of whoever judges now has run out."""
    ingest(last, backend.open(quiet), NOW + 3_000_000)
    return stream.judge(backend.open(quiet), "quick", NOW + 3_600_000)


@pytest.mark.parametrize("backed", ["memory", "dynamodb"])
def test_of_two_judges_at_once_only_one_commits(backed: str, tables: Callable[[], Backend]) -> None:
    """While one judge stands still before any of its operations, its lease runs out and another one judges."""
    make = MemoryBackend if backed == "memory" else tables
    stream = short()
    last = stream.events.pop()
    alone = make()
    stream.ingest(alone.open(quiet), 200_000)
    operations: list[str] = []
    assert stream.judge(alone.open(operations.append), "slow", NOW)
    assert overtake(stream, last, alone)
    assert stream.judge(alone.open(quiet), "after", NOW + 9_000_000)
    expected = outcome(alone.open(quiet))
    for number in range(1, len(operations)):
        backend = make()
        stream.ingest(backend.open(quiet), 200_000)
        done = iter(range(len(operations) * 2))
        overtaken: list[bool] = []

        def before(
            _: str, backend: Backend = backend, number: int = number, done: Any = done, overtaken: Any = overtaken
        ) -> None:
            if next(done) == number:
                overtaken.append(overtake(stream, last, backend))

        committed = stream.judge(backend.open(before), "slow", NOW)
        assert overtaken == [True]
        head = backend.open(quiet).lease(QUEUE, "after", NOW + 9_000_000, 1)
        assert head is not None
        assert head.version == 1 + committed, (number, operations[number])
        assert stream.judge(backend.open(quiet), "after", NOW + 9_000_000)
        assert outcome(backend.open(quiet)) == expected, (number, operations[number])
