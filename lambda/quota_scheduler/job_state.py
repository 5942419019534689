"""The states of a service job, and the kinds of preemption."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobState", "PreemptionKind"]


class JobState(str, Enum):
    """States of a service job (facts.md, Service jobs)."""

    SUBMITTED = "SUBMITTED"
    RUNNABLE = "RUNNABLE"
    SCHEDULED = "SCHEDULED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    holds: bool
    """Whether a job in this state holds its demand."""
    final: bool
    """Whether a job never leaves this state."""

    def __init__(self, value: str) -> None:
        # plain attributes, since the scheduler asks at every step
        self.holds = value in ("SCHEDULED", "STARTING", "RUNNING")
        self.final = value in ("SUCCEEDED", "FAILED")


class PreemptionKind(str, Enum):
    """The two kinds of preemption (facts.md, Scheduling and preemption)."""

    CROSS_SHARE = "cross-share"
    IN_SHARE = "in-share"
