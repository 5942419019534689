"""A scheduler that breaks a rule all the time is caught in every history in which it does."""

from __future__ import annotations

import pytest
from support.rogues import ROGUES, play

from preemption_auditor import AuditSettings, Delivery, audit

FEW, MANY = 25, 500
COMPLETE = AuditSettings(Delivery.COMPLETE, decision_lag=0)


def convicted(name: str, seeds: range) -> tuple[int, int, list[int]]:
    """Return how many histories show an offence, how many are convicted, and the seeds that got away."""
    guilty = caught = 0
    escaped = []
    for seed in seeds:
        writer = play(seed, ROGUES[name])
        report = audit(writer.recording.events, writer.first_policy, COMPLETE)
        found = {finding.rule for finding in report.findings}
        caught += bool(found & ROGUES[name].rules)
        if writer.offences:
            guilty += 1
            if not found & {rule for rule, _ in writer.offences}:
                escaped.append(seed)
    return guilty, caught, escaped


@pytest.mark.parametrize("name", ROGUES)
def test_a_rogue_is_caught(name: str) -> None:
    guilty, caught, escaped = convicted(name, range(FEW))
    assert caught
    assert caught >= guilty
    assert not escaped


@pytest.mark.slow
@pytest.mark.parametrize("name", ROGUES)
def test_a_rogue_is_caught_in_many_histories(name: str) -> None:
    assert not convicted(name, range(FEW, MANY))[2]
