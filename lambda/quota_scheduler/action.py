"""What a scheduling pass answers: one action, and the clause of the contract it follows."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quota_scheduler.job import Job
    from quota_scheduler.job_state import PreemptionKind
    from quota_scheduler.queue_state import Lane

__all__ = ["Action", "Rule"]


class Rule(str, Enum):
    """The clause of contract.md section 3 an action follows."""

    OWN_QUOTA = "own-quota"
    RECLAIM = "reclaim"
    BORROW = "borrow"
    IN_SHARE = "in-share"
    LOWERED_LIMIT = "lowered-limit"
    """Assumption A12, where it is flipped."""


class Action:
    """One step of a pass.

    Attributes
    ----------
    rule : Rule
        Own quota and borrow dispatch `job`; the others stop `victims` for it.
    job : Job or None
        The beneficiary; None where limits were lowered and nobody claims.
    lane : Lane or None
        The beneficiary's lane.
    victims : tuple of (Job, PreemptionKind)
        Jobs to stop, in order of choice.
    taken_over : tuple of Job
        Jobs already stopping for a job that would borrow, which now stop for `job`.
    """

    # no named tuple, for the reason outcome.py gives
    __slots__ = ("job", "lane", "rule", "taken_over", "victims")

    def __init__(
        self,
        rule: Rule,
        job: Job | None,
        lane: Lane | None,
        victims: tuple[tuple[Job, PreemptionKind], ...] = (),
        taken_over: tuple[Job, ...] = (),
    ) -> None:
        self.rule = rule
        self.job = job
        self.lane = lane
        self.victims = victims
        self.taken_over = taken_over
