"""What happens to jobs because of the scheduler."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quota_scheduler.decision import Decision
    from quota_scheduler.job import Job
    from quota_scheduler.job_state import JobState, PreemptionKind

__all__ = ["Outcome", "OutcomeKind"]


class OutcomeKind(str, Enum):
    """What happened to a job."""

    DISPATCHED = "dispatched"
    PREEMPTING = "preempting"
    """It is being stopped and still holds."""
    PREEMPTED = "preempted"
    """It has stopped: RUNNABLE again, or FAILED without retries left."""
    BLOCKED = "blocked"
    """It stands at the front of its share and can never run."""
    UNBLOCKED = "unblocked"
    TERMINATED = "terminated"
    """A job state time limit action ended it."""
    TIMED_OUT = "timed-out"
    """Its attempt took longer than it may: RUNNABLE again, or FAILED."""


class Outcome:
    """Something that happened to a job because of the scheduler.

    Attributes
    ----------
    at : float
        Seconds.
    kind : OutcomeKind
    job : Job
        The live job; `before` and `after` keep its state at that moment.
    before, after : JobState
    reason : str
        Status reason, or empty.
    decision : Decision or None
        For a dispatch and a preemption that starts.
    preemption : PreemptionKind or None
        For a preemption.
    """

    # no named tuple: making one is interpreted even where all this is compiled, and one is made at every step
    __slots__ = ("after", "at", "before", "decision", "job", "kind", "preemption", "reason")

    def __init__(
        self,
        at: float,
        kind: OutcomeKind,
        job: Job,
        before: JobState,
        after: JobState,
        reason: str = "",
        decision: Decision | None = None,
        preemption: PreemptionKind | None = None,
    ) -> None:
        self.at = at
        self.kind = kind
        self.job = job
        self.before = before
        self.after = after
        self.reason = reason
        self.decision = decision
        self.preemption = preemption

    def __reduce__(self) -> tuple[Any, ...]:
        return Outcome, self._values()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        return f"Outcome{self._values()!r}"

    def _values(self) -> tuple[Any, ...]:
        return self.at, self.kind, self.job, self.before, self.after, self.reason, self.decision, self.preemption
