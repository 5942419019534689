"""Take one event in: find out which queues it belongs to, and store it there. Nothing is judged here."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from preemption_auditor.api_calls import ApiCall, edited_priority, queue_of
from preemption_auditor.observations import Observation, job_id_of
from preemption_auditor.reading import Skipped, identity, read_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from preemption_auditor.stores import Store

__all__ = ["PoisonError", "ingest"]

_OF_EVERY_QUEUE = ("CreateServiceEnvironment", "UpdateServiceEnvironment")
"""Calls that name no queue, and may be about any."""


class PoisonError(Exception):
    """An event that can't be read: it goes where such messages go, and stops no other."""


def ingest(event: Mapping[str, Any], store: Store, now: int) -> list[str]:
    """Store an event under every queue it belongs to; doing so again changes nothing that counts.

    Parameters
    ----------
    event : mapping
        An EventBridge event.
    store : Store
    now : int
        Milliseconds.

    Returns
    -------
    list of str
        The queues; empty for an event the auditor doesn't need, or one that waits for its job's queue.

    Raises
    ------
    PoisonError
        It can't be read.
    """
    items = read_event(event)
    if items is Skipped.UNREADABLE:
        raise PoisonError(f"event {event.get('id')!r} of kind {event.get('detail-type')!r} can't be read")
    if isinstance(items, Skipped) or not items:
        return []
    item = items[0]
    body = json.dumps(event, separators=(",", ":"))
    name = blake2b(repr(identity(item)).encode(), digest_size=12).hexdigest()
    if isinstance(item, ApiCall):
        queues = list(dict.fromkeys(_queues_of(item, store, name, body, now)))
    elif isinstance(item, Observation):
        queues = _queue_of_job(item, store, name, body, now)
    else:
        queues = [item.queue] if item.queue is not None else store.queues()
    for queue in queues:
        store.add_event(queue, name, body, now)
    return queues


def _queue_of_job(item: Observation, store: Store, name: str, body: str, now: int) -> list[str]:
    queue = item.facts.queue if item.facts is not None else None
    if queue is not None:
        store.settle(item.job, queue, now)
        return [queue]
    return _home(item.job, store, name, body, now)


def _home(job: str, store: Store, name: str, body: str, now: int) -> list[str]:
    """Return the queue of a job; while none is known, the event waits for it."""
    known = store.home(job)
    if known is None:
        store.add_orphan(job, name, body, now)
        known = store.home(job)  # who settled it meanwhile may not have seen the orphan
    return [] if known is None else [known]


def _queues_of(call: ApiCall, store: Store, name: str, body: str, now: int) -> Iterator[str]:
    edit = edited_priority(call)
    jobs = [edit[0]] if edit is not None else []
    if call.name.startswith("TerminateServiceJob"):
        listed = call.request.get("jobIds")
        named = [call.request.get("jobId"), *(listed if isinstance(listed, list) else ())]
        jobs += [job for job in map(job_id_of, named) if job is not None]
    for job in jobs:
        yield from _home(job, store, name, body, now)
    about = queue_of(call)
    if about is not None:
        yield about
    elif call.name in _OF_EVERY_QUEUE:
        yield from store.queues()
