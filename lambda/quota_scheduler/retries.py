"""Retry strategies of service jobs: ``attempts`` and ``evaluateOnExit``."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from quota_scheduler.exceptions import JobError
from quota_scheduler.value_rules import is_whole

__all__ = ["ExitRule", "RetryStrategy"]

MAX_ATTEMPTS = 10
MAX_EXIT_RULES = 5
MAX_PATTERN = 512


@dataclass(frozen=True)
class ExitRule:
    """One entry of ``evaluateOnExit``.

    Parameters
    ----------
    action : str
        ``RETRY`` or ``EXIT``, in any case.
    on_status_reason : str, optional
        Glob over the attempt's status reason, ignoring case, at most 512 characters.
        None matches every reason.

    Raises
    ------
    JobError
    """

    action: str
    on_status_reason: str | None = None

    def __post_init__(self) -> None:
        if str(self.action).upper() not in ("RETRY", "EXIT"):
            raise JobError(f"retry action {self.action!r} is unknown: use RETRY or EXIT")
        if self.on_status_reason is not None and len(self.on_status_reason) > MAX_PATTERN:
            raise JobError(f"onStatusReason has {len(self.on_status_reason)} characters: use at most {MAX_PATTERN}")

    @property
    def retries(self) -> bool:
        """Whether a match means another attempt."""
        return self.action.upper() == "RETRY"

    def matches(self, status_reason: str) -> bool:
        """Whether this rule speaks of an attempt that ended with `status_reason`."""
        pattern = self.on_status_reason
        return pattern is None or fnmatchcase(status_reason.lower(), _star_only(pattern.lower()))


@dataclass(frozen=True)
class RetryStrategy:
    """How often a job may become RUNNABLE, and after which ends.

    Parameters
    ----------
    attempts : int
        1 to 10: times it may become RUNNABLE, the first included (facts.md, Service jobs).
    on_exit : tuple of ExitRule
        At most 5; the first that matches decides, and without a match the job is retried.

    Raises
    ------
    JobError
    """

    attempts: int = 1
    on_exit: tuple[ExitRule, ...] = ()

    def __post_init__(self) -> None:
        if not is_whole(self.attempts) or not 1 <= self.attempts <= MAX_ATTEMPTS:
            raise JobError(f"{self.attempts!r} attempts are not allowed: use a whole number from 1 to {MAX_ATTEMPTS}")
        if len(self.on_exit) > MAX_EXIT_RULES:
            raise JobError(f"{len(self.on_exit)} evaluateOnExit entries: use at most {MAX_EXIT_RULES}")

    def allows(self, attempts_used: int, status_reason: str) -> bool:
        """Whether a job that used `attempts_used` attempts is retried after `status_reason`."""
        if attempts_used >= self.attempts:
            return False
        for rule in self.on_exit:
            if rule.matches(status_reason):
                return rule.retries
        return True


def _star_only(pattern: str) -> str:
    """Escape what fnmatch knows beyond ``*``: Batch's globs have no other wildcard."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
