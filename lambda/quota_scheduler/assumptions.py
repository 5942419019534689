"""The choices we make where AWS is silent: A1 to A12 of contract.md.

Each is one named option, so that it can be flipped when the service shows otherwise.
A history that differs from one of these only is a divergence, never a violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Assumptions", "HeadOfLine", "QueueTime", "VictimOrder"]


class HeadOfLine(str, Enum):
    """What a front job that can't run holds up (A6)."""

    SHARE = "share"
    """Every later job of its share."""
    UNIT = "unit"
    """Later jobs of its share that need a capacity unit it needs too."""


class QueueTime(str, Enum):
    """The time by which front jobs of different shares are ordered (A8)."""

    CREATED = "created"
    """When the job was submitted."""
    RUNNABLE = "runnable"
    """When the job last became RUNNABLE."""


class VictimOrder(str, Enum):
    """Which of several victims of one priority goes first (A10)."""

    NEWEST_FIRST = "newest-first"
    """The latest dispatched: least work is lost."""
    OLDEST_FIRST = "oldest-first"
    """The earliest dispatched."""


@dataclass(frozen=True)
class Assumptions:
    """Options of the policy model, each with our default.

    Attributes
    ----------
    absent_priority : int
        A1: priority of a job submitted without one.
    unassigned_capacity_lent : bool
        A2: whether capacity of the environment that is in no share's limit can be borrowed.
    borrow_without_limit : bool
        A3: whether a share can borrow a unit it has no limit for. Its borrow limit, a
        percentage of no limit, then only allows it where it is unlimited.
    disabled_shares_lend : bool
        A4: whether a DISABLED share that lends goes on lending.
    oversubscription : bool
        A5: whether shares may add up to more than the environment. Where not, the
        scheduler refuses such a policy.
    head_of_line : HeadOfLine
        A6: what a front job that can't run holds up.
    requeue_keeps_place : bool
        A7: whether a preempted or retried job keeps its created time in the order, or
        goes behind the jobs that were waiting.
    queue_time : QueueTime
        A8: time by which front jobs of different shares are ordered.
    skip_unfit_fronts : bool
        A9: whether a front job that would borrow and doesn't fit the idle capacity is skipped.
        Where not, later borrowers wait for it.
    victim_order : VictimOrder
        A10: which victims of one priority go first.
    preemption_uses_attempt : bool
        A11: whether a preemption consumes one of the job's ``attempts``.
    lowered_limits_preempt : bool
        A12: whether jobs beyond a lowered limit are preempted at once, or only once
        another share claims their capacity.
    """

    absent_priority: int = 0
    unassigned_capacity_lent: bool = False
    borrow_without_limit: bool = False
    disabled_shares_lend: bool = True
    oversubscription: bool = True
    head_of_line: HeadOfLine = HeadOfLine.SHARE
    requeue_keeps_place: bool = True
    queue_time: QueueTime = QueueTime.CREATED
    skip_unfit_fronts: bool = True
    victim_order: VictimOrder = VictimOrder.NEWEST_FIRST
    preemption_uses_attempt: bool = False
    lowered_limits_preempt: bool = False
