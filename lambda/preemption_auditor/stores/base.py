"""What a store of a deployed auditor does.

Ingest only adds events, each under its queue and the time it was written. The judge of a queue holds
a lease, reads what was written since it last did, and commits state, position and findings together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Head", "LeaseLostError", "Store", "StoredEvent"]


class LeaseLostError(Exception):
    """Somebody else judges the queue now; nothing was committed."""


class StoredEvent(NamedTuple):
    """An event as it was stored.

    Attributes
    ----------
    key : str
        Grows with the time it was written, in milliseconds, and ends in what identifies the event.
    body : str
        The event as JSON.
    """

    key: str
    body: str


@dataclass(frozen=True)
class Head:
    """How far the judge of a queue has come.

    Attributes
    ----------
    version : int
        Grows with every commit; 0 where there was none.
    written : int
        When events were last read: what was written before was, as far as it was there, in milliseconds.
    state : bytes or None
        What the judge needs to go on.
    summary : dict or None
        What a report says besides the findings of the rules, as JSON; a lease leaves it out.
    """

    version: int = 0
    written: int = 0
    state: bytes | None = None
    summary: dict[str, Any] | None = None


class Store(ABC):
    """Events, state and findings of queues."""

    # -- for ingest ------------------------------------------------------------------------

    @abstractmethod
    def add_event(self, queue: str, identity: str, body: str, now: int) -> None:
        """Store an event of a queue, written at `now` in milliseconds; doing so again changes nothing."""

    @abstractmethod
    def add_orphan(self, job: str, identity: str, body: str, now: int) -> None:
        """Store an event of a job whose queue isn't known yet."""

    @abstractmethod
    def settle(self, job: str, queue: str, now: int) -> None:
        """Note the queue of a job, and move what was stored of the job before to that queue."""

    @abstractmethod
    def home(self, job: str) -> str | None:
        """Return the queue of a job, or None where it isn't known."""

    @abstractmethod
    def queues(self) -> list[str]:
        """Return the queues that have events."""

    # -- for the judge ---------------------------------------------------------------------

    @abstractmethod
    def lease(self, queue: str, owner: str, now: int, milliseconds: int) -> Head | None:
        """Take the queue for a time; None where somebody else has it."""

    @abstractmethod
    def events(self, queue: str, since: int) -> Iterator[StoredEvent]:
        """Iterate over the events of a queue written at `since` or later, in the order they were written."""

    @abstractmethod
    def commit(self, queue: str, owner: str, head: Head, findings: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Store state, position and findings together, and give the queue back.

        Parameters
        ----------
        queue, owner : str
        head : Head
            With the version that was leased.
        findings : sequence of (str, dict)
            Key and document of each; a key that exists is replaced.

        Raises
        ------
        LeaseLostError
            The lease ran out and somebody else took it.
        """

    @abstractmethod
    def summary(self, queue: str) -> dict[str, Any] | None:
        """Return the summary of the last commit of a queue, or None where there is none."""

    @abstractmethod
    def findings(self, queue: str) -> list[dict[str, Any]]:
        """Return the findings of a queue, in order of their keys."""

    @abstractmethod
    def unpublished(self, queue: str) -> list[tuple[str, dict[str, Any]]]:
        """Return key and document of findings that weren't published as they are now."""

    @abstractmethod
    def mark_published(self, queue: str, key: str, revision: int) -> None:
        """Note that a revision of a finding was published."""
