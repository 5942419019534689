"""Stores to be disturbed: what happens before each of their operations is for a test to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from support.recording import QUEUE

from preemption_auditor import AuditSettings, Delivery
from preemption_auditor.ingest import ingest
from preemption_auditor.instants import parse_time
from preemption_auditor.live import judge_queue
from preemption_auditor.stores import LeaseLostError, MemoryStore, Store
from preemption_auditor.stores.dynamodb import DynamoDBStore

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy

__all__ = [
    "SETTINGS",
    "Backend",
    "CrashError",
    "DynamoDBBackend",
    "MemoryBackend",
    "Stream",
    "crash_at",
    "make_table",
    "outcome",
    "quiet",
]

SETTINGS = AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=30, tolerance=1e6)
LEASE = 16 * 60
"""Seconds after which a judge that crashed is taken over."""

Before = Callable[[str], None]
"""Called with the name of each operation before it is carried out."""


class CrashError(Exception):
    """The process died."""


def crash_at(number: int) -> Before:
    """Die instead of the operation with a number, counted from 0; those before and after it are carried out."""
    done = -1

    def before(_: str) -> None:
        nonlocal done
        done += 1
        if done == number:
            raise CrashError

    return before


@dataclass
class _Told:
    """Passes every call on, and tells of it before."""

    inner: Any
    before: Before

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if name == "exceptions" or not callable(value):
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            self.before(name)
            return value(*arguments, **named)

        return call


def quiet(_: str) -> None:
    """Let everything happen."""


class Backend:
    """What survives the processes that use it."""

    def open(self, before: Before) -> Store:
        """Return the store as a new process sees it."""
        raise NotImplementedError


@dataclass
class MemoryBackend(Backend):
    """Operations are those of the store's interface."""

    store: MemoryStore = field(default_factory=MemoryStore)

    def open(self, before: Before) -> Any:
        return _Told(self.store, before)


@dataclass
class DynamoDBBackend(Backend):
    """Operations are requests to DynamoDB, of which one operation of the store may take several."""

    client: Any
    table: str

    def open(self, before: Before) -> Store:
        return DynamoDBStore(_Told(self.client, before), self.table)


def make_table(client: Any, name: str) -> DynamoDBBackend:
    """Make a table as a deployment does."""
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return DynamoDBBackend(client, name)


@dataclass
class Stream:
    """Events of a queue that come in while its judge runs every so often."""

    events: list[dict[str, Any]]
    policy: QuotaPolicy
    every: int = 120
    """Seconds between two runs."""

    def play(self, backend: Backend, before: Before) -> int:
        """Let everything be ingested and judged, whatever crashes; return how often something did."""
        store, crashes, due, runs, written = backend.open(before), 0, self.every, 0, 0
        waiting = list(self.events)
        rests = [4 * 3600, 3600]  # when all is in: what waits for more evidence is given up, and forgotten
        while True:
            while waiting and _second(waiting[0]) <= due:
                try:
                    ingest(waiting[0], store, max(written, _second(waiting[0]) * 1000))
                except CrashError:
                    store, crashes = backend.open(before), crashes + 1
                    continue  # the message is delivered again
                written = max(written, _second(waiting.pop(0)) * 1000)
            runs += 1
            try:
                judge_queue(store, QUEUE, f"run-{runs}", due * 1000, self.policy, SETTINGS)
            except CrashError:
                store, crashes, due = backend.open(before), crashes + 1, due + LEASE
                continue
            if not waiting and not rests:
                return crashes
            due += self.every if waiting else rests.pop()

    def ingest(self, store: Store, now: int) -> None:
        """Let everything be ingested, and judge nothing."""
        for event in self.events:
            ingest(event, store, now)

    def judge(self, store: Store, owner: str, now: int) -> bool:
        """Judge once; return whether it was committed."""
        try:
            return judge_queue(store, QUEUE, owner, now, self.policy, SETTINGS) is not None
        except LeaseLostError:
            return False


def outcome(store: Store) -> dict[str, Any]:
    """Return what was found, and how much was judged; events delivered again don't count."""
    summary = store.summary(QUEUE) or {}
    coverage = dict(summary.get("coverage", {}))
    read = coverage.pop("read", 0) - coverage.pop("duplicate", 0)
    notes = [note for note in summary.get("findings", ()) if note["rule"] != "QM-Q01"]
    kept = {name: summary.get(name) for name in ("preemptions", "unknown", "rules")}
    return {"findings": store.findings(QUEUE), "notes": notes, "coverage": {**coverage, "new": read}, **kept}


def _second(event: dict[str, Any]) -> int:
    return (parse_time(event["time"]) or 0) // 1000
