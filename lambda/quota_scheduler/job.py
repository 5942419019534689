"""A service job as the scheduler sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from quota_scheduler.job_state import JobState

if TYPE_CHECKING:
    from quota_scheduler.demand import Demand
    from quota_scheduler.job_class import JobClass
    from quota_scheduler.job_state import PreemptionKind
    from quota_scheduler.retries import RetryStrategy

__all__ = ["Entry", "Job"]

Entry = tuple[Any, ...]
"""Place in a waiting queue: its priority negated, a time, its sequence, its id, and the job itself.

No tuple of fixed length, since one of those loses its identity where this is compiled.
"""

_SUBMITTED: Final = JobState.SUBMITTED  # before Python 3.12, naming an enum's member costs as much as a call

_OWN = (
    *("priority", "created", "sequence", "preemption_retries", "retry", "timeout", "state", "stopping", "blocked"),
    *("runnable_since", "dispatched_at", "started_at", "dispatch_order", "attempts_used", "preemptions"),
)
"""What a copied job takes along, beside its id, share and demand."""


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

    __slots__ = (
        "attempts_used",
        "blocked",
        "created",
        "demand",
        "dispatch_order",
        "dispatched_at",
        "entry",
        "id",
        "job_class",
        "preemption_retries",
        "preemptions",
        "priority",
        "retry",
        "runnable_since",
        "sequence",
        "share",
        "started_at",
        "state",
        "stopping",
        "timeout",
    )

    def __init__(
        self,
        id: str,
        share: str,
        demand: Demand,
        priority: int | None = None,
        created: float = 0.0,
        sequence: int = 0,
        preemption_retries: int | None = None,
        retry: RetryStrategy | None = None,
        timeout: float | None = None,
    ) -> None:
        self.id = id
        self.share = share
        self.demand = demand
        self.priority = priority
        self.created = created
        self.sequence = sequence
        self.preemption_retries = preemption_retries
        self.retry = retry
        self.timeout = timeout
        self.state = _SUBMITTED
        self.stopping: PreemptionKind | None = None
        self.runnable_since = 0.0
        self.dispatched_at = 0.0
        self.started_at = 0.0
        self.dispatch_order = 0
        self.attempts_used = 0
        self.preemptions = 0
        self.blocked: str | None = None
        self.entry: Entry | None = None
        """Its live entry in the waiting queue; for the queue only."""
        self.job_class: JobClass = None  # type: ignore[assignment]
        """Set when the scheduler takes it; for the scheduler only."""

    def __reduce__(self) -> tuple[Any, ...]:
        # where it waits and holds is its scheduler's to say (scheduler_copy.py)
        return _revive, (self.id, self.share, self.demand, {name: getattr(self, name) for name in _OWN})

    def __repr__(self) -> str:
        return f"Job({self.id!r}, {self.share!r}, {self.demand!r}, priority={self.priority}, state={self.state.value})"

    @property
    def rank(self) -> int:
        """Its scheduling priority as a number, once the scheduler has taken it."""
        return self.priority or 0


def _revive(id: str, share: str, demand: Demand, own: dict[str, Any]) -> Job:
    job = Job(id, share, demand)
    for name, value in own.items():
        setattr(job, name, value)
    return job
