"""Job state time limit actions of a queue: ends jobs that stay RUNNABLE for a stated reason."""

from __future__ import annotations

from dataclasses import dataclass

from quota_scheduler.blocked import BlockedReason
from quota_scheduler.exceptions import PolicyError
from quota_scheduler.findings import Finding, Level
from quota_scheduler.value_rules import is_whole

__all__ = ["REASONS", "TimeLimit", "check_time_limit", "reason_code"]

MIN_SECONDS, MAX_SECONDS = 600, 86_400


def reason_code(status_reason: str) -> str:
    """Return the part of a blocked reason before `` - ``, as time limit actions name it."""
    return status_reason.split(" - ", 1)[0]


REASONS = tuple(
    reason_code(text) for text in (BlockedReason.ENVIRONMENT, BlockedReason.LIMIT, BlockedReason.INSUFFICIENT_CAPACITY)
)
"""Reasons AWS documents (facts.md, Scheduling and preemption)."""


def check_time_limit(reason: object, seconds: object, action: object, state: object) -> list[Finding]:
    """Return QM008 findings for one entry of ``jobStateTimeLimitActions``."""
    problems = []
    if reason not in REASONS:
        problems.append(f"time limit reason {reason!r} is unknown: use one of {', '.join(REASONS)}")
    if not is_whole(seconds) or not MIN_SECONDS <= seconds <= MAX_SECONDS:
        allowed = f"a whole number from {MIN_SECONDS} to {MAX_SECONDS}"
        problems.append(f"time limit of {seconds!r} s is not allowed: use {allowed}")
    if action != "TERMINATE":
        problems.append(f"time limit action {action!r} is not allowed: use TERMINATE")
    if state != "RUNNABLE":
        problems.append(f"time limit state {state!r} is not allowed: use RUNNABLE")
    return [Finding("QM008", Level.ERROR, problem) for problem in problems]


@dataclass(frozen=True)
class TimeLimit:
    """One time limit action: terminate a job RUNNABLE for `reason` for longer than `seconds`.

    Parameters
    ----------
    reason : str
        One of :data:`REASONS`.
    seconds : int
        600 to 86,400.

    Raises
    ------
    PolicyError
        QM008.
    """

    reason: str
    seconds: int

    def __post_init__(self) -> None:
        findings = check_time_limit(self.reason, self.seconds, "TERMINATE", "RUNNABLE")
        if findings:
            raise PolicyError(findings)

    @property
    def status_reason(self) -> str:
        """Status reason of a job it ended."""
        return f"Terminated by JobStateTimeLimit action due to reason: {self.reason}"
