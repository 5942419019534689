"""Job state time limits: what ends a job that waits for something that may never come.

One class for each reason AWS Batch documents for a RUNNABLE service job
(sm_job_stuck_in_runnable_misconfiguration).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import aws_cdk as cdk
from aws_cdk import aws_batch as batch

from constructs_qm.exceptions import PropError
from quota_scheduler import PolicyError
from quota_scheduler.blocked import BlockedReason
from quota_scheduler.time_limits import check_time_limit, reason_code

__all__ = [
    "MISCONFIGURATION_LIMITS",
    "InsufficientInstanceCapacity",
    "JobStateTimeLimit",
    "QuotaManagementLimitExceeded",
    "ServiceEnvironmentMaxResource",
]

ACTION, STATE = "TERMINATE", "RUNNABLE"
"""The only action and state quota management takes (facts.md, Scheduling and preemption)."""


@dataclass(frozen=True)
class JobStateTimeLimit:
    """Terminates a job that stays RUNNABLE for one reason for too long; use one of the subclasses.

    Parameters
    ----------
    max_time : aws_cdk.Duration
        10 minutes to 24 hours, in whole seconds.

    Raises
    ------
    PolicyError
        QM008, for a time outside those.
    PropError
        Not a Duration.
    """

    max_time: cdk.Duration

    reason: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.max_time, cdk.Duration):
            raise PropError(f"max_time {self.max_time!r} is not a Duration: give one like Duration.hours(1)")
        if not self.max_time.is_unresolved():
            findings = check_time_limit(self.reason, _seconds(self.max_time), ACTION, STATE)
            if findings:
                raise PolicyError(findings)

    def render(self) -> batch.CfnJobQueue.JobStateTimeLimitActionProperty:
        """Return the L1 property."""
        return batch.CfnJobQueue.JobStateTimeLimitActionProperty(
            action=ACTION, state=STATE, reason=self.reason, max_time_seconds=self.max_time.to_seconds()
        )


@dataclass(frozen=True)
class ServiceEnvironmentMaxResource(JobStateTimeLimit):
    """For a job that asks for more than the service environment has."""

    reason: ClassVar[str] = reason_code(BlockedReason.ENVIRONMENT)


@dataclass(frozen=True)
class QuotaManagementLimitExceeded(JobStateTimeLimit):
    """For a job that asks for more than its quota share may ever use, borrowing included."""

    reason: ClassVar[str] = reason_code(BlockedReason.LIMIT)


@dataclass(frozen=True)
class InsufficientInstanceCapacity(JobStateTimeLimit):
    """For a job that SageMaker has no instances for at the moment; it may well get them later."""

    reason: ClassVar[str] = reason_code(BlockedReason.INSUFFICIENT_CAPACITY)


def _seconds(duration: cdk.Duration) -> float:
    """Return whole seconds as an int, so that the rule can tell them from fractions."""
    seconds = duration.to_seconds(integral=False)
    return int(seconds) if float(seconds).is_integer() else seconds


MISCONFIGURATION_LIMITS: tuple[JobStateTimeLimit, ...] = (
    ServiceEnvironmentMaxResource(cdk.Duration.hours(1)),
    QuotaManagementLimitExceeded(cdk.Duration.hours(1)),
)
"""Default of a queue: jobs that can never run are terminated after an hour, since they block their share.

An hour is long enough to raise a limit for a job that ought to run, and short enough not to lose a night.
"""
