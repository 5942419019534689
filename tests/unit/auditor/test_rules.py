"""The truth table of the rules: each with histories that pass, break it, and leave it open."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.recording import G5, P4, Job, Recording, job

from preemption_auditor import (
    Answer,
    AuditSettings,
    Delivery,
    Finding,
    Kind,
    PolicyTimeline,
    Report,
    audit,
    only_events,
)
from preemption_auditor.moments import Comparison, Quality
from preemption_auditor.rules import RULES
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing
from quota_scheduler.blocked import BlockedReason

BORROW_200 = ResourceSharing.lend_and_borrow(limit_percent=200)


def share(
    name: str, limit: int | dict[str, int] = 1, sharing: ResourceSharing = BORROW_200, in_share: bool = True
) -> QuotaShare:
    return QuotaShare(name, limit if isinstance(limit, dict) else {G5: limit}, sharing, in_share)


def policy(*shares: QuotaShare, **environment: int) -> QuotaPolicy:
    return QuotaPolicy({G5: environment.get("g5", 3), P4: environment.get("p4", 2)}, shares)


ARTICLE = policy(
    share("A"),
    share("B", sharing=ResourceSharing.lend(), in_share=False),
    share("C", sharing=ResourceSharing.reserve(), in_share=False),
)
"""A borrows, B lends, C keeps: one instance each of three."""


@dataclass
class Row:
    """A history, and what one rule says of it."""

    name: str
    rule: str
    answer: Answer
    jobs: dict[str, Job]
    script: str
    under: QuotaPolicy | PolicyTimeline = field(default_factory=lambda: ARTICLE)
    delivery: Delivery = Delivery.COMPLETE
    accused: tuple[str, ...] = ()
    change: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Index of an event to fields of its detail that are replaced; None drops one."""

    def events(self) -> list[dict[str, Any]]:
        events = Recording(**deepcopy(self.jobs)).script(self.script)
        for index, fields in self.change.items():
            detail = {**events[index]["detail"], **fields}
            events[index]["detail"] = {key: value for key, value in detail.items() if value is not None}
        return events


BORROWED = """
 0 a RUNNABLE
 0 a SCHEDULED
 1 b RUNNABLE
 1 b SCHEDULED
"""
"""a runs on A's own instance, b on the one B lends."""

THREE_BORROW = policy(*(share(name, sharing=ResourceSharing.lend_and_borrow()) for name in "ABC"))

ORDER = """
 0 a SCHEDULED
 0 b SCHEDULED
 0 e SCHEDULED
 1 c RUNNABLE
 2 d RUNNABLE
"""
"""Everything is taken; c waits in A since before d in B."""

ROWS = [
    # -- QM-A01 -----------------------------------------------------------------------
    Row("a whole life", "QM-A01", Answer.PASS, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 1 a STARTING\n 2 a RUNNING\n 9 a SUCCEEDED"),
    Row("skipped states are a gap", "QM-A01", Answer.PASS, {"a": job("A")}, "0 a RUNNABLE\n 5 a RUNNING\n 9 a FAILED"),
    Row("back to RUNNABLE for lack of capacity", "QM-A01", Answer.PASS, {"a": job("A")},
        "0 a RUNNABLE\n 1 a SCHEDULED\n 2 a RUNNABLE\n 3 a SCHEDULED"),
    Row("one second, any order", "QM-A01", Answer.PASS, {"a": job("A")},
        "0 a RUNNABLE\n 1 a RUNNING\n 1 a STARTING\n 1 a SUCCEEDED\n 1 a SCHEDULED"),
    Row("something after the end", "QM-A01", Answer.VIOLATION, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 3 a SUCCEEDED\n 9 a RUNNING", accused=("a",)),
    Row("an end after another end", "QM-A01", Answer.VIOLATION, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 3 a SUCCEEDED\n 9 a FAILED", accused=("a",)),
    Row("back to SUBMITTED", "QM-A01", Answer.VIOLATION, {"a": job("A")},
        "0 a RUNNABLE\n 5 a SUBMITTED", accused=("a",)),
    Row("backwards in one attempt", "QM-A01", Answer.VIOLATION, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 3 a RUNNING\n 9 a STARTING", accused=("a",)),
    Row("backwards in another attempt is a gap", "QM-A01", Answer.PASS, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 3 a RUNNING\n 9 a SCHEDULED\n 10 a STARTING"),
    Row("stopping what has ended", "QM-A01", Answer.VIOLATION, {"a": job("A")},
        "0 a RUNNABLE\n 0 a SCHEDULED\n 3 a SUCCEEDED\n 90 a STOPPING cross-share", accused=("a",)),
    # -- QM-A02 -----------------------------------------------------------------------
    Row("the environment is full, not more", "QM-A02", Answer.PASS,
        {"a": job("A"), "b": job("B"), "c": job("C")},
        "0 a SCHEDULED\n 0 b SCHEDULED\n 0 c SCHEDULED"),
    Row("capacity changes hands in one instant", "QM-A02", Answer.PASS,
        {"a": job("A", 3), "b": job("B")},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 7 a SUCCEEDED\n 7 b SCHEDULED"),
    Row("more than the environment has", "QM-A02", Answer.VIOLATION,
        {"a": job("A", 3), "b": job("B")}, "0 a SCHEDULED\n 5 b SCHEDULED", accused=("b", "a")),
    Row("more than the environment has, by milliseconds", "QM-A02", Answer.VIOLATION,
        {"a": job("A", 3), "b": job("B")},
        "0 a SCHEDULED\n 5.200 b SCHEDULED\n 5.900 a SUCCEEDED", accused=("b", "a")),
    Row("demand that isn't shown", "QM-A02", Answer.UNKNOWN, {"a": job("A")}, "0 a SCHEDULED",
        change={0: {"capacityUsage": None}}),
    Row("the environment was larger a moment ago", "QM-A02", Answer.PASS, {"a": job("A", 3)}, "100 a SCHEDULED",
        under=PolicyTimeline([(0, ARTICLE), (99.5, policy(*ARTICLE.shares, g5=2))])),
    Row("the environment was larger long ago", "QM-A02", Answer.VIOLATION, {"a": job("A", 3)}, "200 a SCHEDULED",
        under=PolicyTimeline([(0, ARTICLE), (100, policy(*ARTICLE.shares, g5=2))]), accused=("a",)),
    # -- QM-A03 -----------------------------------------------------------------------
    Row("a share at its limit", "QM-A03", Answer.PASS, {"b": job("B")}, "0 b SCHEDULED"),
    Row("LEND over its limit", "QM-A03", Answer.VIOLATION, {"b": job("B"), "c": job("B")},
        "0 b SCHEDULED\n 3 c SCHEDULED", accused=("c", "b")),
    Row("RESERVE over its limit", "QM-A03", Answer.VIOLATION, {"c": job("C", 2)}, "0 c SCHEDULED", accused=("c",)),
    Row("the limit was lowered under running jobs", "QM-A03", Answer.PASS, {"a": job("A", 2)},
        "0 a SCHEDULED\n 9 a STARTING", under=PolicyTimeline(
            [(0, policy(share("A", 2, ResourceSharing.lend()))), (5, policy(share("A", 1, ResourceSharing.lend())))])),
    Row("a dispatch on top of a lowered limit", "QM-A03", Answer.VIOLATION, {"a": job("A", 2), "b": job("A")},
        "0 a SCHEDULED\n 90 b SCHEDULED", under=PolicyTimeline(
            [(0, policy(share("A", 2, ResourceSharing.lend()))), (5, policy(share("A", 1, ResourceSharing.lend())))]),
        accused=("b", "a")),
    Row("share that isn't shown", "QM-A03", Answer.UNKNOWN, {"b": job("B")}, "0 b SCHEDULED",
        change={0: {"quotaShareName": None}}),
    # -- QM-A04 -----------------------------------------------------------------------
    Row("borrowing up to the limit", "QM-A04", Answer.PASS, {"a": job("A", 3)}, "0 a SCHEDULED",
        under=policy(share("A"), share("B", 2, ResourceSharing.lend()))),
    Row("borrowing beyond the limit", "QM-A04", Answer.VIOLATION, {"a": job("A", 4)}, "0 a SCHEDULED",
        under=policy(share("A"), share("B", 3, ResourceSharing.lend()), g5=4), accused=("a",)),
    Row("the percentage is rounded down", "QM-A04", Answer.VIOLATION, {"a": job("A", 5)}, "0 a SCHEDULED",
        under=policy(share("A", 3, ResourceSharing.lend_and_borrow(limit_percent=50)),
                     share("B", 3, ResourceSharing.lend()), g5=6), accused=("a",)),
    Row("a unit it has no limit for, borrowed without limit", "QM-A04", Answer.DIVERGENCE,
        {"a": job("A", {P4: 1})}, "0 a SCHEDULED",
        under=policy(share("A", sharing=ResourceSharing.lend_and_borrow()),
                     share("B", {P4: 2}, ResourceSharing.lend()))),
    Row("demand that can't be read", "QM-A04", Answer.UNKNOWN, {"a": job("A")}, "0 a SCHEDULED",
        change={0: {"capacityUsage": [{"capacityUnit": G5, "quantity": 0.5}]}}),
    # -- QM-A05 -----------------------------------------------------------------------
    Row("idle lendable capacity is borrowed", "QM-A05", Answer.PASS, {"a": job("A"), "b": job("A")}, BORROWED),
    Row("reserved capacity is lent", "QM-A05", Answer.VIOLATION, {"a": job("A", 3)}, "0 a SCHEDULED", accused=("a",)),
    Row("the lender gets its own before it is free", "QM-A05", Answer.VIOLATION,
        {"a": job("A"), "b": job("A"), "c": job("B")}, BORROWED + "5 c SCHEDULED"),
    Row("a reserving share's own job when a limit was lowered", "QM-A05", Answer.PASS,
        {"a": job("A", 2), "c": job("C")}, "0 a SCHEDULED\n 90 c SCHEDULED", under=PolicyTimeline(
            [(0, policy(share("A", 2), share("C", 1, ResourceSharing.reserve()))),
             (5, policy(share("A", 1), share("C", 1, ResourceSharing.reserve())))])),
    Row("capacity of no share is lent", "QM-A05", Answer.DIVERGENCE, {"a": job("A", 2)}, "0 a SCHEDULED",
        under=policy(share("A"), g5=2)),
    Row("lent, but an end may be lost", "QM-A05", Answer.UNKNOWN, {"a": job("A"), "b": job("A", 2)},
        "0 a SCHEDULED\n 100 b SCHEDULED", delivery=Delivery.LOSSY),
    # -- QM-A06 -----------------------------------------------------------------------
    Row("the borrower is stopped", "QM-A06", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share"),
    Row("a protected job is stopped", "QM-A06", Answer.VIOLATION, {"b": job("B"), "a": job("A")},
        "0 b SCHEDULED\n 5 a RUNNABLE\n 5 b STOPPING cross-share", accused=("b",)),
    Row("over the limit in another unit only", "QM-A06", Answer.VIOLATION,
        {"a": job("A", 2), "b": job("A", {P4: 1}), "c": job("B", {P4: 1})},
        "0 a SCHEDULED\n 0 b SCHEDULED\n 5 c RUNNABLE\n 5 b STOPPING cross-share",
        under=policy(share("A", {G5: 1, P4: 1}), share("B", {G5: 1, P4: 1})), accused=("b",)),
    Row("the excess is being given back already", "QM-A06", Answer.VIOLATION,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share\n 9 a STOPPING cross-share", accused=("a",)),
    Row("the excess ended in the same second", "QM-A06", Answer.PASS,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b SUCCEEDED\n 5 a STOPPING cross-share"),
    Row("the limit was lowered", "QM-A06", Answer.PASS, {"a": job("A", 2), "b": job("B")},
        "0 a SCHEDULED\n 9 b RUNNABLE\n 9 a STOPPING cross-share", under=PolicyTimeline(
            [(0, policy(share("A", 2), share("B"))), (8, policy(share("A", 1), share("B")))])),
    Row("a victim nobody saw", "QM-A06", Answer.UNKNOWN, {"a": job("A")}, "5 a STOPPING cross-share"),
    Row("protected as far as seen, but events may be lost", "QM-A06", Answer.UNKNOWN,
        {"b": job("B"), "a": job("A")}, "0 b SCHEDULED\n 5 b STOPPING cross-share", delivery=Delivery.LOSSY),
    # -- QM-A07 -----------------------------------------------------------------------
    Row("for an entitled job", "QM-A07", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share"),
    Row("for an entitled job that is dispatched in the same second", "QM-A07", Answer.PASS,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5.1 c RUNNABLE\n 5.1 b STOPPING cross-share\n 5.1 b STOPPED RUNNABLE\n 5.1 c SCHEDULED"),
    Row("for nobody", "QM-A07", Answer.VIOLATION, {"a": job("A"), "b": job("A")},
        BORROWED + "5 b STOPPING cross-share", accused=("b",)),
    Row("for a job of its own share", "QM-A07", Answer.VIOLATION, {"a": job("A"), "b": job("A"), "c": job("A")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share", accused=("b",)),
    Row("for a job beyond its share's limit", "QM-A07", Answer.VIOLATION,
        {"a": job("A"), "b": job("A"), "c": job("B", 2)},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share", accused=("b",)),
    Row("for a job that needs another unit", "QM-A07", Answer.VIOLATION,
        {"a": job("A"), "b": job("A"), "c": job("B", {P4: 1})},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share",
        under=policy(share("A"), share("B", {G5: 1, P4: 1})), accused=("b",)),
    Row("for a job whose share is full", "QM-A07", Answer.VIOLATION,
        {"a": job("A", 2), "b": job("B"), "c": job("B")},
        "0 b SCHEDULED\n 0 a SCHEDULED\n 5 c RUNNABLE\n 5 a STOPPING cross-share", accused=("a",)),
    Row("entitled once its own share's victim has stopped", "QM-A07", Answer.PASS,
        {"a": job("A", 2), "b": job("B", priority=1), "c": job("B", priority=2)},
        "0 b SCHEDULED\n 0 a SCHEDULED\n 5 c RUNNABLE\n 5 b STOPPING in-share\n 5 a STOPPING cross-share",
        under=policy(share("A"), share("B"))),
    Row("a waiting job whose demand isn't shown", "QM-A07", Answer.UNKNOWN,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share", change={4: {"capacityUsage": None}}),
    Row("lowered below use, and stopped for nobody", "QM-A07", Answer.DIVERGENCE, {"b": job("B", 2)},
        "0 b SCHEDULED\n 9 b STOPPING cross-share", under=PolicyTimeline(
            [(0, policy(share("B", 2, ResourceSharing.lend()))), (8, policy(share("B", 1, ResourceSharing.lend())))])),
    # -- QM-A08 -----------------------------------------------------------------------
    Row("where it is enabled", "QM-A08", Answer.PASS, {"a": job("A"), "b": job("A", priority=2)},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share"),
    Row("where it is disabled", "QM-A08", Answer.VIOLATION, {"a": job("B"), "b": job("B", priority=2)},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share", accused=("a",)),
    Row("where it is disabled, events lost or not", "QM-A08", Answer.VIOLATION,
        {"a": job("B"), "b": job("B", priority=2)}, "0 a SCHEDULED\n 5 a STOPPING in-share",
        delivery=Delivery.LOSSY, accused=("a",)),
    Row("an unknown reason may mean the other kind", "QM-A08", Answer.PASS,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING something-new",
        under=policy(share("A", in_share=False), share("B"), share("C", sharing=ResourceSharing.reserve()))),
    Row("an unknown reason, but legal as neither kind", "QM-A08", Answer.VIOLATION, {"b": job("B")},
        "0 b SCHEDULED\n 5 b STOPPING something-new", accused=("b",)),
    Row("a share the policy doesn't have", "QM-A08", Answer.UNKNOWN, {"a": job("X")},
        "0 a SCHEDULED\n 5 a STOPPING in-share"),
    # -- QM-A09 -----------------------------------------------------------------------
    Row("for a job of higher priority", "QM-A09", Answer.PASS, {"a": job("A"), "b": job("A", priority=2)},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share"),
    Row("for a job of equal priority", "QM-A09", Answer.VIOLATION, {"a": job("A"), "b": job("A")},
        "0 a SUBMIT\n 0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share", accused=("a",)),
    Row("equal priority, as later events show", "QM-A09", Answer.VIOLATION, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share\n 9 a STOPPED RUNNABLE\n 9 b SCHEDULED", accused=("a",)),
    Row("equal priority, but nobody recorded edits", "QM-A09", Answer.UNKNOWN, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share"),
    Row("for a job of higher priority elsewhere", "QM-A09", Answer.VIOLATION,
        {"a": job("A"), "b": job("B", priority=2)},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share", accused=("a",)),
    Row("the waiting job was raised", "QM-A09", Answer.PASS, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 5 b PRIORITY 2\n 5 a STOPPING in-share"),
    Row("the running job was lowered", "QM-A09", Answer.PASS, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 5 a PRIORITY 0\n 5 a STOPPING in-share"),
    Row("the waiting job was lowered before", "QM-A09", Answer.VIOLATION, {"a": job("A"), "b": job("A", priority=2)},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 5 b PRIORITY 1\n 90 a STOPPING in-share", accused=("a",)),
    Row("priorities change without a call in the recording", "QM-A09", Answer.UNKNOWN,
        {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 5 a STOPPING in-share\n 9 b SCHEDULED",
        change={3: {"schedulingPriority": 3}}),
    Row("a job without a priority", "QM-A09", Answer.DIVERGENCE,
        {"a": job("A", priority=0), "b": job("A", priority=None)},
        "0 a SCHEDULED\n 5 b RUNNABLE\n 5 a STOPPING in-share"),
    # -- QM-A10 -----------------------------------------------------------------------
    Row("without limit: waits again", "QM-A10", Answer.PASS, {"a": job("A")},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED RUNNABLE"),
    Row("retries left: waits again", "QM-A10", Answer.PASS, {"a": job("A", retries=1)},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED RUNNABLE"),
    Row("none left: fails", "QM-A10", Answer.PASS, {"a": job("A", retries=0)},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED FAILED"),
    Row("without limit, but fails", "QM-A10", Answer.VIOLATION, {"a": job("A")},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED FAILED", accused=("a",)),
    Row("none left, but waits again", "QM-A10", Answer.VIOLATION, {"a": job("A", retries=0)},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED RUNNABLE", accused=("a",)),
    Row("fails since its termination was asked for", "QM-A10", Answer.PASS, {"a": job("A")},
        "0 a SCHEDULED\n 5 a STOPPING cross-share\n 9 a STOPPED FAILED", change={2: {"isTerminated": True}}),
    Row("a job nobody described", "QM-A10", Answer.UNKNOWN, {"a": job("A", retries=0)},
        "9 a STOPPED RUNNABLE", change={0: {"jobArn": "service-job/other"}}),
    # -- QM-A11 -----------------------------------------------------------------------
    Row("gets back what was lent", "QM-A11", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 105 b STOPPING cross-share\n 125 b STOPPED RUNNABLE\n 125 c SCHEDULED"),
    Row("waits while others borrow", "QM-A11", Answer.VIOLATION, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c SUBMIT\n 5 c RUNNABLE\n 1000 a STARTING", accused=("c",)),
    Row("waits, but the environment may be disabled", "QM-A11", Answer.UNKNOWN,
        {"a": job("A"), "b": job("A"), "c": job("B")}, BORROWED + "5 c RUNNABLE\n 1000 a STARTING"),
    Row("nobody is stopped for a borrower", "QM-D03", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("A")},
        BORROWED + "5 c RUNNABLE\n 100 b SUCCEEDED\n 102 c SCHEDULED\n 3000 a STARTING"),
    Row("a victim takes long to stop", "QM-A11", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 55 b STOPPING cross-share\n 3000 a STARTING"),
    Row("waits, but events may be missing", "QM-A11", Answer.UNKNOWN,
        {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 1000 a STARTING", delivery=Delivery.LOSSY),
    # -- QM-A12 -----------------------------------------------------------------------
    Row("dispatched when its capacity is free", "QM-A12", Answer.PASS, {"b": job("B")},
        "0 b RUNNABLE\n 300 b SCHEDULED"),
    Row("waits although its capacity is free", "QM-A12", Answer.VIOLATION, {"b": job("B")},
        "0 b SUBMIT\n 0 b RUNNABLE\n 1000 b SCHEDULED", accused=("b",)),
    Row("free, but the environment may be disabled", "QM-A12", Answer.UNKNOWN, {"b": job("B")},
        "0 b RUNNABLE\n 1000 b SCHEDULED"),
    Row("lent at first, free later", "QM-A12", Answer.VIOLATION, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c SUBMIT\n 5 c RUNNABLE\n 500 b SUCCEEDED\n 1000 a STARTING", accused=("c",)),
    Row("behind another job of its share", "QM-A12", Answer.PASS,
        {"a": job("B", 2, priority=2), "b": job("B"), "c": job("C")},
        "0 a RUNNABLE\n 0 b RUNNABLE\n 0 c RUNNABLE\n 1 c SCHEDULED\n 3000 c SUCCEEDED\n 3000 b SCHEDULED"),
    Row("SageMaker had no capacity for it", "QM-A12", Answer.PASS, {"b": job("B"), "c": job("C")},
        "0 b RUNNABLE\n 1 b SCHEDULED\n 9 b RUNNABLE\n 0 c RUNNABLE\n 2 c SCHEDULED\n 3000 c SUCCEEDED"),
    Row("free, but events may be missing", "QM-A12", Answer.UNKNOWN, {"b": job("B")},
        "0 b RUNNABLE\n 1000 b SCHEDULED", delivery=Delivery.LOSSY),
    # -- QM-A13 -----------------------------------------------------------------------
    Row("by priority", "QM-A13", Answer.PASS, {"a": job("A", priority=2), "b": job("A", priority=1)},
        "0 a RUNNABLE\n 0 b RUNNABLE\n 9 a SCHEDULED"),
    Row("against priority", "QM-A13", Answer.VIOLATION, {"a": job("A", priority=2), "b": job("A", priority=1)},
        "0 a SUBMIT\n 0 a RUNNABLE\n 0 b RUNNABLE\n 9 b SCHEDULED", accused=("b", "a")),
    Row("against priority, but nobody recorded edits", "QM-A13", Answer.UNKNOWN,
        {"a": job("A", priority=2), "b": job("A", priority=1)}, "0 a RUNNABLE\n 0 b RUNNABLE\n 9 b SCHEDULED"),
    Row("the better one needs more", "QM-A13", Answer.PASS,
        {"a": job("A", 2, priority=2), "b": job("A", priority=1)}, "0 a RUNNABLE\n 0 b RUNNABLE\n 9 b SCHEDULED"),
    Row("the better one needs another unit", "QM-A13", Answer.PASS,
        {"a": job("A", {P4: 1}, priority=2), "b": job("A", priority=1)},
        "0 a RUNNABLE\n 0 b RUNNABLE\n 9 b SCHEDULED"),
    Row("the better one came in the same second", "QM-A13", Answer.PASS,
        {"a": job("A", priority=2), "b": job("A", priority=1)}, "0 b RUNNABLE\n 9.1 a RUNNABLE\n 9.7 b SCHEDULED"),
    Row("raised just before", "QM-A13", Answer.PASS, {"a": job("A", priority=2), "b": job("A", priority=1)},
        "0 a RUNNABLE\n 0 b RUNNABLE\n 9 b PRIORITY 3\n 9 b SCHEDULED"),
    Row("against priority as far as seen", "QM-A13", Answer.UNKNOWN,
        {"a": job("A", priority=2), "b": job("A", priority=1)},
        "0 a RUNNABLE\n 0 b RUNNABLE\n 9 b SCHEDULED", delivery=Delivery.LOSSY),
    # -- QM-A14 -----------------------------------------------------------------------
    Row("the reason the policy gives", "QM-A14", Answer.PASS, {"b": job("B", 2)},
        f"0 b RUNNABLE\n 1 b BLOCKED {BlockedReason.LIMIT}"),
    Row("another wording of the right reason", "QM-A14", Answer.PASS, {"b": job("B", 2)},
        "0 b RUNNABLE\n 1 b BLOCKED MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Ask for less."),
    Row("SageMaker's own lack", "QM-A14", Answer.PASS, {"b": job("B")},
        "0 b RUNNABLE\n 1 b BLOCKED CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - none left"),
    Row("another reason than the policy gives", "QM-A14", Answer.VIOLATION, {"b": job("B", 2)},
        f"0 b RUNNABLE\n 1 b BLOCKED {BlockedReason.ENVIRONMENT}", accused=("b",)),
    Row("a reason for a job that can run", "QM-A14", Answer.VIOLATION, {"b": job("B")},
        f"0 b RUNNABLE\n 1 b BLOCKED {BlockedReason.LIMIT}", accused=("b",)),
    Row("no reason", "QM-A14", Answer.VIOLATION, {"b": job("B", 2), "c": job("C")},
        "0 b SUBMIT\n 0 b RUNNABLE\n 1000 c SCHEDULED", accused=("b",)),
    Row("no reason, but the environment may be disabled", "QM-A14", Answer.UNKNOWN,
        {"b": job("B", 2), "c": job("C")}, "0 b RUNNABLE\n 1000 c SCHEDULED"),
    Row("no reason yet", "QM-A14", Answer.PASS, {"b": job("B", 2), "c": job("C", 2)},
        f"0 b RUNNABLE\n 500 c RUNNABLE\n 501 c BLOCKED {BlockedReason.LIMIT}"),
    Row("a reason that rests on what is lent", "QM-A14", Answer.DIVERGENCE, {"a": job("A", 3)},
        "0 a SUBMIT\n 0 a RUNNABLE\n 1000 a BLOCKED CAPACITY:LATE", under=policy(share("A"))),
    Row("a reason nobody published", "QM-A14", Answer.UNKNOWN, {"b": job("B", 2)},
        "0 b RUNNABLE\n 1 b BLOCKED MISCONFIGURATION:SOMETHING_NEW - text"),
    Row("no reason, but events may be missing", "QM-A14", Answer.UNKNOWN, {"b": job("B", 2), "c": job("C")},
        "0 b RUNNABLE\n 1000 c SCHEDULED", delivery=Delivery.LOSSY),
    # -- QM-D01 -----------------------------------------------------------------------
    Row("the newest of equal priority", "QM-D01", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share"),
    Row("the oldest of equal priority", "QM-D01", Answer.DIVERGENCE, {"a": job("A"), "b": job("A"), "c": job("B")},
        "0 a SUBMIT" + BORROWED + "5 c RUNNABLE\n 5 a STOPPING cross-share"),
    Row("any of two that are alike", "QM-D01", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        "0 a SCHEDULED\n 0 b SCHEDULED\n 5 c RUNNABLE\n 5 a STOPPING cross-share"),
    # -- QM-D02 -----------------------------------------------------------------------
    Row("as many as needed", "QM-D02", Answer.PASS, {"a": job("A"), "b": job("A"), "c": job("B")},
        BORROWED + "5 c RUNNABLE\n 5 b STOPPING cross-share"),
    Row("one more than needed", "QM-D02", Answer.DIVERGENCE,
        {"a": job("A"), "b": job("A"), "c": job("A"), "d": job("B")},
        "0 a SUBMIT\n 0 a SCHEDULED\n 1 b SCHEDULED\n 2 c SCHEDULED\n 5 d RUNNABLE\n 5 b STOPPING cross-share\n"
        "5 c STOPPING cross-share", under=policy(share("A"), share("B", 2), g5=3)),
    # -- QM-D03 -----------------------------------------------------------------------
    Row("borrows what is idle", "QM-D03", Answer.PASS, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 99 b SCHEDULED"),
    Row("is kept from what is idle", "QM-D03", Answer.DIVERGENCE, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b SUBMIT\n 1 b RUNNABLE\n 1000 a STARTING"),
    Row("kept from it, but events may be missing", "QM-D03", Answer.UNKNOWN, {"a": job("A"), "b": job("A")},
        "0 a SCHEDULED\n 1 b RUNNABLE\n 1000 a STARTING", delivery=Delivery.LOSSY),
    # -- QM-D04 -----------------------------------------------------------------------
    Row("first come, first served", "QM-D04", Answer.PASS,
        {"a": job("A"), "b": job("B"), "c": job("A"), "d": job("B"), "e": job("C")},
        ORDER + "20 e SUCCEEDED\n 22 c SCHEDULED", under=THREE_BORROW),
    Row("last come, first served", "QM-D04", Answer.DIVERGENCE,
        {"a": job("A"), "b": job("B"), "c": job("A"), "d": job("B"), "e": job("C")},
        ORDER + "20 e SUCCEEDED\n 22 d SCHEDULED", under=THREE_BORROW),
    Row("the first doesn't fit", "QM-D04", Answer.PASS,
        {"a": job("A"), "b": job("B"), "c": job("A", 2), "d": job("B"), "e": job("C")},
        ORDER + "20 e SUCCEEDED\n 22 d SCHEDULED", under=THREE_BORROW),
]  # fmt: skip


def settings_of(row: Row) -> AuditSettings:
    return AuditSettings(row.delivery, decision_lag=2)


def run(row: Row) -> Report:
    return audit(row.events(), row.under, settings_of(row))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule} {row.name}")
def test_answer(row: Row) -> None:
    report = run(row)
    others = {answer: 0 for answer in Answer if answer not in (Answer.PASS, row.answer)}
    answers = {**others, **report.answers[row.rule]}
    assert answers[row.answer] > 0, report.to_document()
    assert not any(answers[answer] for answer in others), report.to_document()


@pytest.mark.parametrize("row", [row for row in ROWS if row.accused], ids=lambda row: f"{row.rule} {row.name}")
def test_a_violation_names_the_jobs_and_events_that_prove_it(row: Row) -> None:
    (finding,) = found(row)
    assert finding.jobs == row.accused
    assert finding.kind is Kind.VIOLATION
    assert finding.events
    assert set(finding.events) <= {event["id"] for event in row.events()}
    assert finding.expected
    assert all(name in finding.seen for name in row.accused[:1])


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.answer in (Answer.VIOLATION, Answer.DIVERGENCE)],
    ids=lambda row: f"{row.rule} {row.name}",
)
def test_the_witness_alone_is_enough(row: Row) -> None:
    """Whoever replays only the events a finding names, under the same policy, sees the same fault."""
    for finding in found(row):
        again = audit(only_events(row.events(), finding.events), row.under, settings_of(row))
        assert row.rule in {finding.rule for finding in again.findings}, finding.events


def test_every_rule_is_tried_with_every_answer_it_can_give() -> None:
    tried = {(row.rule, row.answer) for row in ROWS}
    never_open = ("QM-A01", "QM-D01", "QM-D02", "QM-D04")  # where something isn't known they don't speak
    for rule in RULES:
        if rule.judges in (Comparison, Quality):
            continue
        assert (rule.id, Answer.PASS) in tried
        assert (rule.id, Answer.VIOLATION if rule.kind is Kind.VIOLATION else Answer.DIVERGENCE) in tried
        assert rule.id in never_open or (rule.id, Answer.UNKNOWN) in tried


def found(row: Row) -> list[Finding]:
    return [finding for finding in run(row).findings if finding.rule == row.rule]
