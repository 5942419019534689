"""A service job as the scheduler sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quota_scheduler.demand import Demand
    from quota_scheduler.job_class import JobClass
    from quota_scheduler.retries import RetryStrategy

__all__ = ["Job", "JobState", "PreemptionKind"]


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


@dataclass(eq=False, slots=True)
class Job:
    """A service job, its place in the order and what became of it so far.

    Only the scheduler changes one after it was submitted.

    Attributes
    ----------
    id : str
        Unique in the queue.
    share : str
        Name of its quota share.
    demand : Demand
        Instances it needs, per capacity unit.
    priority : int or None
        0 to 9999; None takes the default of assumption A1 when it is submitted.
    created : float
        Time of submission, in seconds.
    sequence : int
        Order of submission among equal times; 0 has the scheduler count, and where two are the same the id decides.
    preemption_retries : int, optional
        ``preemptionRetriesBeforeTermination``; None is without limit.
    retry : RetryStrategy, optional
        What happens after an attempt that failed; None fails the job at once.
    timeout : float, optional
        ``attemptDurationSeconds``: longest time of one attempt, in seconds.
    state : JobState
    stopping : PreemptionKind, optional
        Kind of the preemption that is stopping it; None while it isn't being preempted.
    runnable_since, dispatched_at, started_at : float
        When it last became RUNNABLE, was last dispatched and last began RUNNING, in seconds.
    dispatch_order : int
        Grows with every dispatch in the queue, so that equal times keep their order.
    attempts_used, preemptions : int
        Attempts consumed and preemptions so far.
    blocked : str, optional
        Why it can't run, once it was found so at the front of its share.
    """

    id: str
    share: str
    demand: Demand
    priority: int | None = None
    created: float = 0.0
    sequence: int = 0
    preemption_retries: int | None = None
    retry: RetryStrategy | None = None
    timeout: float | None = None
    state: JobState = JobState.SUBMITTED
    stopping: PreemptionKind | None = None
    runnable_since: float = 0.0
    dispatched_at: float = 0.0
    started_at: float = 0.0
    dispatch_order: int = 0
    attempts_used: int = 0
    preemptions: int = 0
    blocked: str | None = None
    entry: tuple[int, float, int, Job] | None = field(default=None, repr=False)
    """Its live entry in the waiting queue; for the queue only."""
    job_class: JobClass = field(default=None, repr=False)  # type: ignore[assignment]
    """Set when the scheduler takes it; for the scheduler only."""

    def __lt__(self, other: Job) -> bool:
        """Whether its id comes first, which decides where nothing else does (contract.md section 2)."""
        return self.id < other.id

    @property
    def rank(self) -> int:
        """Its scheduling priority as a number, once the scheduler has taken it."""
        return self.priority or 0
