"""The deployed parts without AWS: ingest, and runs of the judge."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from support.histories import Shape, written
from support.recording import G5, QUEUE, Recording, job
from support.rogues import ROGUES, play

from preemption_auditor import AuditSettings, Delivery, Finding, audit
from preemption_auditor.ingest import PoisonError, ingest
from preemption_auditor.instants import parse_time
from preemption_auditor.live import finding_key, judge_queue
from preemption_auditor.snapshots import restore, take_snapshot
from preemption_auditor.stores import Head, LeaseLostError, MemoryStore, Store
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing, dump_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

POLICY = QuotaPolicy({G5: 1}, (QuotaShare("A", {G5: 1}, ResourceSharing.lend()),))
SETTINGS = AuditSettings(Delivery.COMPLETE, decision_lag=0, lateness=30, tolerance=1e6)
MINUTE = 60_000


def seconds(event: dict[str, Any]) -> int:
    return (parse_time(event["time"]) or 0) // 1000


def deliver(events: list[dict[str, Any]], store: Store, policy: QuotaPolicy, every: int = 60) -> None:
    """Let events be ingested as they come, and judged every minute, until all is judged."""
    due, runs = every, 0
    waiting = list(events)
    end = max(map(seconds, events)) + 5 * 3600
    while due <= end:
        while waiting and seconds(waiting[0]) <= due:
            ingest(waiting.pop(0), store, due * 1000)
        runs += 1
        judge_queue(store, QUEUE, f"run-{runs}", due * 1000, policy, SETTINGS)
        due += every if waiting else 1200


def keys(findings: Sequence[Finding]) -> list[str]:
    return sorted(finding_key(finding) for finding in findings)


def stored(store: MemoryStore) -> list[str]:
    return sorted(key for key, _ in store.unpublished(QUEUE))


@pytest.mark.parametrize("seed", range(6))
def test_runs_find_what_an_audit_of_the_recording_finds(seed: int) -> None:
    writer = play(seed, ROGUES["takes limits for larger"])
    store = MemoryStore()
    deliver(writer.recording.events, store, writer.first_policy)
    whole = audit(writer.recording.events, writer.first_policy, SETTINGS).findings
    assert stored(store) == keys(whole)


def test_two_judges_of_a_queue_do_not_work_at_once() -> None:
    store = MemoryStore()
    ingest(Recording(a=job("A")).script("0 a RUNNABLE")[0], store, 0)
    assert store.lease(QUEUE, "one", 0, MINUTE) is not None
    assert judge_queue(store, QUEUE, "two", 1000, POLICY, SETTINGS) is None
    assert judge_queue(store, QUEUE, "two", 2 * MINUTE, POLICY, SETTINGS) is not None
    with pytest.raises(LeaseLostError):
        store.commit(QUEUE, "one", Head(), [])


def test_a_preemption_finds_its_queue_even_before_its_job_is_known() -> None:
    events = Recording(a=job("A")).script("0 a RUNNABLE\n 0 a SCHEDULED\n 9 a STOPPING cross-share")
    store = MemoryStore()
    assert ingest(events[2], store, 0) == []
    assert ingest(events[0], store, 1) == [QUEUE]
    bodies = {json.loads(event.body)["detail-type"] for event in store.events(QUEUE, 0)}
    assert bodies == {"Batch Service Job Preemption Started", "Batch Service Job State Change"}


@pytest.mark.parametrize(
    ("name", "request_", "expected"),
    [
        ("UpdateServiceJob", {"jobId": "a", "schedulingPriority": 3}, [QUEUE]),
        ("TerminateServiceJobs", {"jobIds": ["a", "b", "unknown"]}, [QUEUE, "other"]),
        ("TerminateServiceJob", {"jobId": "b"}, ["other"]),
        ("UpdateQuotaShare", {"quotaShareArn": "arn:aws:batch:r:1:job-queue/other/quota-share/S"}, ["other"]),
        ("UpdateServiceEnvironment", {"serviceEnvironment": "e"}, ["other", QUEUE]),
        ("UpdateServiceJob", {"jobId": "nobody", "schedulingPriority": 3}, []),
        ("CreateSchedulingPolicy", {"name": "p"}, []),
    ],
)
def test_a_call_is_stored_with_every_queue_it_is_about(
    name: str, request_: dict[str, Any], expected: list[str]
) -> None:
    store = MemoryStore()
    store.settle("a", QUEUE, 0)
    store.settle("b", "other", 0)
    for queue in (QUEUE, "other"):
        store.add_event(queue, "x", "{}", 0)
    recording = Recording()
    recording.call(5, name, request_)
    assert ingest(recording.events[0], store, 0) == expected


def test_an_edit_of_a_job_finds_its_queue_even_before_its_job_is_known() -> None:
    recording = Recording(a=job("A"))
    recording.script("0 a RUNNABLE\n 1 a PRIORITY 7")
    store = MemoryStore()
    assert ingest(recording.events[1], store, 0) == []
    assert ingest(recording.events[0], store, 1) == [QUEUE]
    assert len(list(store.events(QUEUE, 0))) == 2


@pytest.mark.parametrize("event", [{}, {"detail": 3}, {"detail": {}, "time": "now"}])
def test_what_cannot_be_read_is_poison(event: dict[str, Any]) -> None:
    with pytest.raises(PoisonError):
        ingest(event, MemoryStore(), 0)


def test_what_the_auditor_does_not_need_is_left_out() -> None:
    event = {"detail": {}, "time": "2026-01-01T00:00:00Z", "source": "aws.ec2", "detail-type": "x"}
    assert ingest(event, MemoryStore(), 0) == []


def test_look_ups_are_of_the_jobs_that_hold() -> None:
    asked: list[list[str]] = []

    def look_up(jobs: list[str]) -> list[dict[str, Any]]:
        asked.append(jobs)
        return []

    store = MemoryStore()
    for event in Recording(a=job("A"), b=job("A")).script("0 a SCHEDULED\n 0 b RUNNABLE"):
        ingest(event, store, 0)
    for minute in (1, 2):
        judge_queue(store, QUEUE, "x", minute * MINUTE, POLICY, SETTINGS, look_up=look_up)
    assert asked == [["a"], ["a"]]


def _always(events: list[dict[str, Any]], jobs: list[str]) -> list[dict[str, Any]]:
    return events


@pytest.mark.parametrize("paused", [False, True])
def test_look_ups_of_the_policy_tell_whether_a_wait_is_the_schedulers_fault(paused: bool) -> None:
    """A job waits for free capacity; half an hour later the environment may have been DISABLED for a while."""
    store, settings = MemoryStore(), replace(SETTINGS, tolerance=900)
    found: list[tuple[int, str, str]] = []
    script = Recording(a=job("A")).script("130 a RUNNABLE")
    for minute in range(1, 60):
        now = minute * MINUTE
        while script and seconds(script[0]) * 1000 <= now:
            ingest(script.pop(0), store, now)
        recording = Recording()
        disabled = paused and minute in (10, 20)
        recording.look_up(minute * 60, [], {**dump_policy(POLICY), "paused": disabled, "serviceEnvironments": ["e"]})
        look_up = partial(_always, recording.events)
        run = judge_queue(store, QUEUE, "x", now, POLICY, settings, look_up=look_up)
        assert run is not None
        found += [(minute, finding.rule, finding.seen) for finding in run.news]
    seen = "a, first in A, waited 900 s for its own capacity, which was free (1 ml.g5.xlarge)"
    # it began when the job came, or with the look-up of minute 21; 15 minutes later a look-up must deny that anything
    # was DISABLED at the end, and be older than the lateness
    assert found == [(38 if paused else 19, "QM-A12", seen)]


def test_a_state_of_another_version_is_left_behind() -> None:
    store = MemoryStore()
    head = store.lease(QUEUE, "x", 0, MINUTE)
    assert head is not None
    store.commit(QUEUE, "x", Head(0, 0, b"not a state"), [])
    run = judge_queue(store, QUEUE, "x", MINUTE, POLICY, SETTINGS)
    assert run is not None
    assert run.fresh


def test_a_snapshot_restores_only_our_own_classes() -> None:
    assert restore(take_snapshot({"a": [1, {2}]})) == {"a": [1, {2}]}
    for forbidden in (print, random.Random(1), Exception("x")):
        with pytest.raises(ValueError, match="has no place in a snapshot"):
            restore(take_snapshot(forbidden))
    with pytest.raises(ValueError, match="can't be read"):
        restore(b"junk")


def test_a_faithful_stream_with_losses_and_look_ups_is_never_accused() -> None:
    for seed in range(4):
        writer = written(seed, Shape(edits="none", limit_changes=False, look_ups=60.0))
        store = MemoryStore()
        deliver(writer.recording.events, store, writer.first_policy)
        assert not store.findings(QUEUE)


def test_a_job_settled_while_its_orphan_is_stored_keeps_the_event() -> None:
    class Late(MemoryStore):
        """Another instance settles the job between the question and the orphan, and overlooks the orphan."""

        def add_orphan(self, job: str, identity: str, body: str, now: int) -> None:
            self.settle(job, QUEUE, now)
            super().add_orphan(job, identity, body, now)

    store = Late()
    (started,) = [
        event
        for event in Recording(a=job("A")).script("0 a SCHEDULED\n 9 a STOPPING cross-share")
        if "Preemption Started" in event["detail-type"]
    ]
    assert ingest(started, store, 0) == [QUEUE]
    assert len(list(store.events(QUEUE, 0))) == 1
