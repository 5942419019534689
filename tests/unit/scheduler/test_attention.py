"""A front job that nothing could be done for isn't looked at before what it waits for has come.

That is why a pass costs nothing for those who wait; that none is forgotten, the property of the pass says.
"""

from __future__ import annotations

from unittest import mock

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import Job, ResourceSharing
from quota_scheduler.queue_state import QueueState

P5 = "ml.p5.48xlarge"
TO_THREE = ResourceSharing.lend_and_borrow(limit_percent=200)


def looked_at(lab: Lab, end: str) -> set[str]:
    """Return the jobs that passes look at when a job has ended."""
    seen: set[str] = set()
    real = QueueState.fronts_to_look_at

    def spy(state: QueueState) -> list[Job]:
        fronts = real(state)
        seen.update(job.id for job in fronts)
        return fronts

    with mock.patch.object(QueueState, "fronts_to_look_at", spy):
        lab.finish(end)
    return seen


def crowd(lab: Lab, *shares: str, unit: str = G5, priority: int = 0) -> None:
    """Submit jobs of one instance, called by their share and a number."""
    for name in shares:
        lab.submit(f"{name}{len(lab.made)}", name, {unit: 1}, priority)


def test_a_job_its_own_share_has_no_room_for_waits_for_that_share_alone() -> None:
    lab = Lab(3, share("A", 1), share("B", 2))
    crowd(lab, "A", "B", "B")
    lab.submit("j", "A")
    assert "j" not in looked_at(lab, "B1")
    assert "j" in looked_at(lab, "A0")


def test_a_borrower_at_its_own_ceiling_waits_for_its_share_alone() -> None:
    lab = Lab(7, share("A", 1, TO_THREE), share("B", 6))
    crowd(lab, "A", "A", "A", "B", "B")
    lab.submit("j", "A")
    assert "j" not in looked_at(lab, "B3")
    assert "j" in looked_at(lab, "A0")


@pytest.mark.parametrize(
    "capacity", [{P5: 5}, {G5: 3, P5: 5}, {G5: 4, P5: 5}], ids=["one unit", "the other is there", "and more"]
)
def test_a_borrower_waits_until_as_much_is_idle_as_it_needs(capacity: dict[str, int]) -> None:
    lent = {unit: count - 1 for unit, count in capacity.items()}
    lab = Lab(capacity, share("A", dict.fromkeys(capacity, 1), BORROW), share("B", lent))
    crowd(lab, "A", "B", "B", "B", "B", unit=P5)
    lab.submit("j", "A", dict.fromkeys(capacity, 3))
    assert "j" not in looked_at(lab, "B1")
    assert "j" not in looked_at(lab, "B2")
    assert "j" in looked_at(lab, "B3")
    assert "j" in lab.holding


def test_a_borrower_that_lacks_one_does_not_wait_for_capacity_that_is_reserved() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 1), share("C", 1, RESERVE))
    crowd(lab, "A", "B", "C")
    lab.submit("j", "A")
    assert "j" not in looked_at(lab, "C2")
    assert "j" in looked_at(lab, "B1")
    assert "j" in lab.holding


def test_a_borrower_that_may_preempt_waits_for_what_it_cannot_free_itself() -> None:
    lab = Lab(7, share("A", 2, BORROW, in_share=True), share("B", 5))
    crowd(lab, "A", "B", "B", "B", "B", "B")
    crowd(lab, "A", priority=9)
    lab.submit("j", "A", 4, priority=9)
    assert "j" not in looked_at(lab, "B1")
    assert "j" not in looked_at(lab, "B2")
    assert "j" in looked_at(lab, "B3"), "three are idle, and A0 holds the fourth"
    assert lab.preempted == [("A0", "in-share")]
    assert "j" in lab.holding


@pytest.mark.parametrize("priority", [0, 5])
def test_where_no_job_of_lower_priority_holds_a_preemption_elsewhere_is_nothing_to_wait_for(priority: int) -> None:
    lab = Lab(
        6, share("A", 1, BORROW, in_share=True), share("B", 2, LEND, in_share=True), share("C", 3), preemption_seconds=9
    )
    crowd(lab, "A", priority=priority)
    crowd(lab, "C", "C", "C")
    crowd(lab, "B", "B")
    lab.submit("j", "A", 3)
    lab.submit("urgent", "B", priority=5, run=False)
    assert "j" not in looked_at(lab, "C1")
    assert lab.stopping == {"B5"}
