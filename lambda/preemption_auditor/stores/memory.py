"""A store in memory: for tests, and to try the deployed parts out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from preemption_auditor.stores.base import Head, LeaseLostError, Store, StoredEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MemoryStore"]


class MemoryStore(Store):
    """Keeps everything in dictionaries."""

    def __init__(self) -> None:
        self._events: dict[str, dict[str, str]] = {}
        self._orphans: dict[str, dict[str, str]] = {}
        self._homes: dict[str, str] = {}
        self._heads: dict[str, Head] = {}
        self._leases: dict[str, tuple[str, int]] = {}
        self._findings: dict[str, dict[str, dict[str, Any]]] = {}
        self._published: dict[tuple[str, str], int] = {}

    def add_event(self, queue: str, identity: str, body: str, now: int) -> None:
        """Store an event of a queue."""
        self._events.setdefault(queue, {})[f"{now:015d}#{identity}"] = body

    def add_orphan(self, job: str, identity: str, body: str, now: int) -> None:
        """Store an event of a job whose queue isn't known yet."""
        self._orphans.setdefault(job, {})[identity] = body

    def settle(self, job: str, queue: str, now: int) -> None:
        """Note the queue of a job."""
        self._homes[job] = queue
        for identity, body in self._orphans.pop(job, {}).items():
            self.add_event(queue, identity, body, now)

    def home(self, job: str) -> str | None:
        """Return the queue of a job."""
        return self._homes.get(job)

    def queues(self) -> list[str]:
        """Return the queues that have events."""
        return sorted(self._events)

    def lease(self, queue: str, owner: str, now: int, milliseconds: int) -> Head | None:
        """Take the queue for a time."""
        holder, until = self._leases.get(queue, ("", 0))
        if holder not in ("", owner) and until > now:
            return None
        self._leases[queue] = owner, now + milliseconds
        return replace(self._heads.get(queue, Head()), summary=None)

    def events(self, queue: str, since: int) -> Iterator[StoredEvent]:
        """Iterate over the events of a queue."""
        for key, body in sorted(self._events.get(queue, {}).items()):
            if key >= f"{since:015d}":
                yield StoredEvent(key, body)

    def commit(self, queue: str, owner: str, head: Head, findings: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Store state, position and findings together."""
        known = self._heads.get(queue, Head())
        if self._leases.get(queue, ("", 0))[0] != owner or known.version != head.version:
            raise LeaseLostError(queue)
        self._heads[queue] = replace(head, version=head.version + 1)
        self._findings.setdefault(queue, {}).update(findings)
        del self._leases[queue]

    def summary(self, queue: str) -> dict[str, Any] | None:
        """Return the summary of the last commit of a queue."""
        return self._heads.get(queue, Head()).summary

    def findings(self, queue: str) -> list[dict[str, Any]]:
        """Return the findings of a queue."""
        return [document for _, document in sorted(self._findings.get(queue, {}).items())]

    def unpublished(self, queue: str) -> list[tuple[str, dict[str, Any]]]:
        """Return findings that weren't published as they are now."""
        found = sorted(self._findings.get(queue, {}).items())
        return [(key, doc) for key, doc in found if self._published.get((queue, key), -1) < doc["revision"]]

    def mark_published(self, queue: str, key: str, revision: int) -> None:
        """Note that a revision of a finding was published."""
        self._published[queue, key] = revision
