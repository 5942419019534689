"""A single wrong decision in a whole recording is always caught, by a rule that fits."""

from __future__ import annotations

import pytest
from support.mutations import MUTATIONS, mutated

from preemption_auditor import AuditSettings, Delivery, audit

FEW, MANY = 40, 1_000


def missed(mutation: str, seeds: range) -> tuple[int, list[int]]:
    """Return how many histories had a wrong decision, and the seeds of those that weren't caught."""
    tried, escaped = 0, []
    for seed in seeds:
        history = mutated(seed, mutation)
        if history is None:
            continue
        tried += 1
        report = audit(history.events, history.policy, AuditSettings(Delivery.COMPLETE, decision_lag=0))
        found = {finding.rule for finding in report.findings if history.job in finding.jobs}
        if not found & history.rules:
            escaped.append(seed)
    return tried, escaped


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_decision_is_caught(mutation: str) -> None:
    tried, escaped = missed(mutation, range(FEW))
    assert tried > FEW / 4
    assert not escaped


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_many_wrong_decisions_are_caught(mutation: str) -> None:
    assert not missed(mutation, range(FEW, MANY))[1]
