"""A scheduler that breaks one rule: the auditor, shown what it did, names that rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from local.world import LEND, RESERVE, World, borrow, limits

from constructs_qm.local import Rogue, Settings, mock_quota_management
from preemption_auditor import AuditSettings, Delivery, Kind, audit
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable

G5 = "ml.g5.xlarge"
AFTER = 3000
"""Seconds after which every wait is longer than the auditor's tolerance."""

Shares = list[tuple[str, int, dict[str, Any], bool]]
"""Name, limit, sharing, in-share preemption."""


def _article() -> Shares:
    return [("QS1", 1, borrow(200), True), ("QS2", 1, LEND, False), ("QS3", 1, RESERVE, False)]


def _full(world: World) -> None:
    """Two jobs in QS1, one borrowing; one that waits."""
    world.submit("high", "QS1", 3)
    world.submit("med", "QS1", 2)
    world.submit("low", "QS1", 1)
    world.advance(10)


def _reserved_lent(world: World) -> None:
    _full(world)


def _over_environment(world: World) -> None:
    for share in ("A", "B"):
        for number in range(2):
            world.submit(f"{share}{number}", share)
    world.advance(10)


def _over_reserve(world: World) -> None:
    world.submit("a", "R")
    world.submit("b", "R")
    world.advance(10)


def _over_borrow_limit(world: World) -> None:
    for number in range(4):
        world.submit(f"job-{number}", "A")
    world.advance(10)


def _protected(world: World) -> None:
    world.submit("a1", "A", 5)
    world.submit("b1", "B", 5)
    world.advance(10)
    world.submit("a2", "A", 9)
    world.advance(10)


def _borrower(world: World) -> None:
    world.submit("high", "QS1", 3)
    world.submit("med", "QS1", 2)
    world.advance(10)


def _preempted(world: World) -> None:
    _borrower(world)
    world.submit("owner", "QS2", 1)
    world.advance(40)


def _one_waits_for_its_better(world: World) -> None:
    world.submit("a1", "A", 1)
    world.advance(10)
    world.submit("a2", "A", 9)
    world.advance(10)


def _in_order(world: World) -> None:
    world.submit("first", "A", 5)
    world.advance(10)
    world.submit("best", "A", 9)
    world.submit("worse", "A", 1)
    world.advance(60)  # longer than the lag an auditor allows a decision
    world.endpoint.finish("first")
    world.advance(10)


def _single(world: World) -> None:
    world.submit("a1", "A", 5)
    world.advance(10)


def _too_big(world: World) -> None:
    world.submit("big", "A", demand=2)
    world.advance(10)


def _finished(world: World) -> None:
    world.submit("a1", "A")
    world.advance(10)
    world.endpoint.finish("a1")


CASES: list[tuple[str, int, Shares, Callable[[World], None]]] = [
    ("QM-A01", 1, [("A", 1, LEND, False)], _finished),
    ("QM-A02", 2, [("A", 2, LEND, False), ("B", 2, LEND, False)], _over_environment),
    ("QM-A03", 2, [("R", 1, RESERVE, False), ("L", 1, LEND, False)], _over_reserve),
    ("QM-A04", 4, [("A", 1, borrow(100), False), ("L", 3, LEND, False)], _over_borrow_limit),
    ("QM-A05", 3, _article(), _reserved_lent),
    ("QM-A06", 2, [("A", 1, LEND, False), ("B", 1, LEND, False)], _protected),
    ("QM-A07", 3, _article(), _borrower),
    ("QM-A08", 1, [("A", 1, LEND, False)], _one_waits_for_its_better),
    ("QM-A09", 1, [("A", 1, LEND, True)], _single),
    ("QM-A10", 3, _article(), _preempted),
    ("QM-A11", 3, _article(), _preempted),
    ("QM-A12", 1, [("A", 1, LEND, False)], _single),
    ("QM-A13", 1, [("A", 1, LEND, False)], _in_order),
    ("QM-A14", 1, [("A", 1, LEND, False)], _too_big),
]


def _policy(capacity: int, shares: Shares) -> QuotaPolicy:
    return QuotaPolicy(
        {G5: capacity},
        tuple(
            QuotaShare(name, {G5: limit}, ResourceSharing(sharing["strategy"], sharing.get("borrowLimit")), in_share)
            for name, limit, sharing, in_share in shares
        ),
    )


def _violations(rogue: Rogue | None, capacity: int, shares: Shares, play: Callable[[World], None]) -> set[str]:
    with mock_quota_management(settings=Settings(running_seconds=None)) as endpoint:
        world = World(endpoint)
        world.make_queue(limits(g5=capacity))
        for name, limit, sharing, in_share in shares:
            world.make_share(name, limits(g5=limit), sharing, in_share=in_share)
        world.advance(100)  # while resources are new, an auditor takes the policy to be in doubt
        endpoint.rogue = rogue
        play(world)
        world.advance(AFTER)
        endpoint.rogue = None  # what waited goes on, which shows how long it had to
        world.advance(100)
        for job, status in world.statuses().items():
            if status in ("SCHEDULED", "STARTING", "RUNNING"):
                endpoint.finish(job)
        report = audit(endpoint.events, _policy(capacity, shares), AuditSettings(delivery=Delivery.COMPLETE))
    if rogue is not None:
        assert rogue.offences, "the rule wasn't broken"
    return {finding.rule for finding in report.findings if finding.kind is Kind.VIOLATION}


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_auditor_names_the_broken_rule(
    case: tuple[str, int, Shares, Callable[[World], None]],
) -> None:
    rule, capacity, shares, play = case
    assert _violations(None, capacity, shares, play) == set()
    assert rule in _violations(Rogue(rule), capacity, shares, play)


def test_after_its_offences_it_behaves() -> None:
    with mock_quota_management(settings=Settings(running_seconds=None)) as endpoint:
        world = World(endpoint)
        world.make_queue(limits(g5=3))
        world.make_share("R", limits(g5=1), RESERVE)
        rogue = endpoint.rogue = Rogue("QM-A03")
        jobs = [world.submit(f"job-{number}", "R") for number in range(3)]
        world.advance(100)
        assert [world.job(job)["status"] for job in jobs] == ["RUNNING", "RUNNING", "RUNNABLE"]
        assert rogue.offences == [jobs[1]]
        endpoint.rogue = None
        world.batch.terminate_service_job(jobId=jobs[0], reason="x")
        world.advance(100)
        assert world.job(jobs[2])["status"] == "RUNNABLE"
