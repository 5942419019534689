"""Histories of the reference scheduler are never accused, however their events are delivered."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from support.histories import Shape, faithful

from preemption_auditor import AuditSettings, Delivery, Kind, Report, audit

FEW, MANY = 150, 10_000


def shape_of(seed: int) -> Shape:
    edits = ("logged", "unlogged", "none", "logged")[seed % 4]
    return Shape(actions=30 + seed % 50, whole_seconds=seed % 3 == 0, edits=edits)


def noisy(events: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """Deliver 30 % of the events twice, and all of them in any order."""
    again = [{**event, "id": f"again-{event['id']}"} for event in rng.sample(events, len(events) * 3 // 10)]
    delivered = [*events, *again]
    rng.shuffle(delivered)
    return delivered


def report_on(seed: int, lag: float) -> Report:
    policy, events = faithful(seed, shape_of(seed))
    delivered = noisy(events, random.Random(seed)) if seed % 2 else events
    return audit(delivered, policy, AuditSettings(Delivery.COMPLETE, decision_lag=lag))


def assert_faithful(seeds: range) -> None:
    """Accuse nobody, and leave little open.

    A history is complete where it holds the calls that edit priorities, too. Where priorities are
    edited and no call is recorded, an edit could explain much, and saying so is right: the bound
    there only keeps the auditor from hiding behind that.
    """
    decisions: Counter[bool] = Counter()
    unknown: Counter[bool] = Counter()
    for seed in seeds:
        report = report_on(seed, lag=(0, 30)[seed % 5 == 0])
        accused = [finding for finding in report.findings if finding.kind is Kind.VIOLATION]
        assert not accused, (seed, accused)
        complete = shape_of(seed).edits != "unlogged"
        decisions[complete] += report.coverage.decisions
        unknown[complete] += report.coverage.unknown
    assert min(decisions.values()) > len(seeds)
    assert unknown[True] < decisions[True] / 100
    assert unknown[False] < decisions[False] / 10


def test_faithful_histories_are_never_accused() -> None:
    assert_faithful(range(FEW))


@pytest.mark.slow
def test_many_faithful_histories_are_never_accused() -> None:
    assert_faithful(range(FEW, MANY))
