"""Rules about a job queue and what it is connected to: QM007 and QM013 of contract.md section 6.

They take plain values, so that typed constructs, templates and deployed queues are
checked by the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_scheduler.blocked import BlockedReason
from quota_scheduler.findings import Finding, Level
from quota_scheduler.time_limits import reason_code
from quota_scheduler.value_rules import is_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "MISCONFIGURATION_REASONS",
    "QUEUE_TYPE",
    "check_environment_queues",
    "check_policy_kind",
    "check_queue_contents",
    "check_queue_priority",
    "check_queue_type",
]

QUEUE_TYPE = "SAGEMAKER_TRAINING"
"""Type of a quota-management queue and of its service environment (facts.md, Resources)."""

MAX_QUEUE_PRIORITY = 1000
"""Highest priority of a job queue (facts.md, job queue)."""

MISCONFIGURATION_REASONS = tuple(reason_code(text) for text in (BlockedReason.ENVIRONMENT, BlockedReason.LIMIT))
"""Reasons of jobs that can never run, which block their share until somebody or a time limit ends them."""


def check_queue_priority(priority: object) -> Iterator[str]:
    """Yield one message unless `priority` is a whole number from 0 to 1000."""
    if not is_whole(priority) or not 0 <= priority <= MAX_QUEUE_PRIORITY:
        yield (f"job queue priority {priority!r} is not allowed: use a whole number from 0 to {MAX_QUEUE_PRIORITY}")


def check_queue_type(queue_type: object) -> Iterator[Finding]:
    """Yield QM007 unless a queue with quota shares is of type ``SAGEMAKER_TRAINING``."""
    if queue_type != QUEUE_TYPE:
        message = f"job queue type {queue_type!r} can't have quota shares: use {QUEUE_TYPE}"
        yield Finding("QM007", Level.ERROR, message)


def check_policy_kind(has_quota_share_policy: bool) -> Iterator[Finding]:
    """Yield QM007 unless the scheduling policy of the queue is a quota share policy."""
    if not has_quota_share_policy:
        message = "the scheduling policy has no quotaSharePolicy: its kind can't be changed, so make another"
        yield Finding("QM007", Level.ERROR, message)


def check_environment_queues(queues: Collection[str]) -> Iterator[Finding]:
    """Yield QM007 unless at most one quota-management queue uses a service environment.

    Parameters
    ----------
    queues : collection of str
        The queues connected to it, as a reader would call them.
    """
    if len(queues) > 1:
        names = ", ".join(queues)
        message = (
            f"the service environment is connected to {len(queues)} job queues ({names}): give each its own environment"
        )
        yield Finding("QM007", Level.ERROR, message)


def check_queue_contents(shares: int, time_limit_reasons: Collection[str]) -> Iterator[Finding]:
    """Yield QM013 for a queue with no share, or with no time limit for misconfigured jobs.

    Parameters
    ----------
    shares : int
        How many quota shares it has.
    time_limit_reasons : collection of str
        Reasons of its job state time limit actions.
    """
    if not shares:
        message = "no quota share: every job is refused until there is one"
        yield Finding("QM013", Level.WARNING, message, "shares")
    missing = [reason for reason in MISCONFIGURATION_REASONS if reason not in time_limit_reasons]
    if missing:
        message = (
            f"no time limit for {' and '.join(missing)}: "
            "a job that can never run blocks its quota share until somebody ends it"
        )
        yield Finding("QM013", Level.WARNING, message, "timeLimits")
