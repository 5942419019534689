"""For whom a job was preempted: the waiting jobs that explain it, and what confirms one of them."""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy

import pytest
from support.histories import Shape, Writer, step, writer_for
from support.recording import G5, Job, Recording, job

from preemption_auditor import AuditSettings, Delivery, audit
from quota_scheduler import Outcome, OutcomeKind, QuotaPolicy, QuotaShare, ResourceSharing

BORROW, LEND = ResourceSharing.lend_and_borrow(), ResourceSharing.lend()
POLICY = QuotaPolicy(
    {G5: 3},
    (
        QuotaShare("A", {G5: 1}, BORROW, in_share_preemption=True),
        QuotaShare("B", {G5: 1}, LEND),
        QuotaShare("C", {G5: 1}, LEND),
    ),
)
BORROWED = "0 a SCHEDULED\n 1 b SCHEDULED\n 2 c SCHEDULED\n"
JOBS = {"a": job("A"), "b": job("A"), "c": job("A")}


@pytest.mark.parametrize(
    ("more", "script", "delivery", "expected", "confidence"),
    [
        ({"d": job("B")}, "5 d RUNNABLE\n 5 c STOPPING cross-share", "complete", ["d"], "certain"),
        ({"d": job("B")}, "5 d RUNNABLE\n 5 c STOPPING cross-share", "lossy", ["d"], "likely"),
        ({"d": job("B"), "e": job("C")},
         "5 d RUNNABLE\n 5 e RUNNABLE\n 5 c STOPPING cross-share", "complete", ["d", "e"], "open"),
        ({"d": job("B"), "e": job("C")},
         "5 d RUNNABLE\n 5 e RUNNABLE\n 5 c STOPPING cross-share\n 9 c STOPPED RUNNABLE\n 9 e SCHEDULED",
         "complete", ["e"], "confirmed"),
        ({"d": job("B", priority=1), "e": job("B", priority=2)},
         "5 d RUNNABLE\n 5 e RUNNABLE\n 5 c STOPPING cross-share", "complete", ["e"], "likely"),
        ({"d": job("A", priority=5)}, "5 d RUNNABLE\n 5 c STOPPING in-share", "complete", ["d"], "certain"),
        ({"d": job("A", priority=5), "e": job("B")},
         "5 d RUNNABLE\n 5 e RUNNABLE\n 5 c STOPPING new-text", "complete", ["d", "e"], "open"),
        ({}, "5 c STOPPING cross-share", "complete", [], "none"),
    ],
)  # fmt: skip
def test_beneficiary(more: dict[str, Job], script: str, delivery: str, expected: list[str], confidence: str) -> None:
    events = Recording(**deepcopy(JOBS | more)).script(BORROWED + script)
    (inference,) = audit(events, POLICY, AuditSettings(Delivery(delivery), decision_lag=2)).preemptions
    document = inference.to_document()
    assert [entry["job"] for entry in document["for"]] == expected
    assert document["confidence"] == confidence
    assert document["job"] == "c"


class Noting(Writer):
    """Notes for whom the reference scheduler really stops each job."""

    truth: dict[tuple[str, int], str]

    def show(self, outcome: Outcome) -> None:
        if outcome.kind is OutcomeKind.PREEMPTING and outcome.decision is not None:
            self.truth[outcome.job.id, int(outcome.at)] = outcome.decision.job
        super().show(outcome)


def test_inferences_name_the_job_the_scheduler_meant() -> None:
    right: Counter[tuple[str, bool]] = Counter()
    for seed in range(80):
        rng, shape = random.Random(seed), Shape(edits="logged", stops=(1, 5))
        writer = writer_for(rng, shape)
        writer.__class__ = Noting
        writer.truth = {}  # type: ignore[attr-defined]
        for index in range(60):
            writer.wait(1.5)
            step(writer, rng, shape, index)
        report = audit(writer.recording.events, writer.first_policy, AuditSettings(Delivery.COMPLETE, decision_lag=0))
        for inference in report.preemptions:
            meant = writer.truth[inference.victim, inference.at.lo // 1000]  # type: ignore[attr-defined]
            named = {name for name, _ in inference.beneficiaries}
            right[inference.confidence.value, meant in named] += 1
    assert right["certain", True] > 50
    assert right["certain", False] == 0
    assert right["confirmed", True] > 5 * right["confirmed", False]
