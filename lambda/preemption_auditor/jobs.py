"""What the auditor keeps of a job: facts, the state it was last seen in, its attempt and its wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.observations import Observation
    from quota_scheduler import Demand, JobState, PreemptionKind

__all__ = ["Attempt", "JobRecord", "Preemption", "Wait"]


@dataclass(eq=False, slots=True)
class Attempt:
    """One time a job held its demand, as far as it is known.

    Attributes
    ----------
    job : str
    share : str or None
    demand : Demand or None
    taken : Span
        When it was dispatched.
    event : str
        Id of the event that shows it.
    dispatched : int or None
        ``scheduledAt``: tells attempts apart.
    left : Span or None
        When it ended.
    stopping : Preemption or None
        The preemption that stops it.
    counted : dict
        Which sums it is counted in: True, or False once it has left them.
    """

    job: str
    share: str | None
    demand: Demand | None
    taken: Span
    event: str
    dispatched: int | None = None
    left: Span | None = None
    stopping: Preemption | None = None
    counted: dict[str, bool] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Wait:
    """A stretch of time in which a job waited with one priority.

    Attributes
    ----------
    job, share : str
    demand : Demand or None
    priority : int or None
        None where no event gave it.
    since : Span
    event : str
        Id of the event that shows it.
    until : Span or None
        None while it goes on.
    """

    job: str
    share: str
    demand: Demand | None
    priority: int | None
    since: Span
    event: str
    until: Span | None = None


@dataclass(eq=False, slots=True)
class Preemption:
    """One preemption of a job.

    Attributes
    ----------
    job : str
    at : Span
        When it started.
    kind : PreemptionKind or None
        None where the reason doesn't tell.
    event : str
        Id of the event that shows it.
    attempt : Attempt or None
        What it stops; None where the job wasn't seen holding.
    """

    job: str
    at: Span
    kind: PreemptionKind | None
    event: str
    attempt: Attempt | None


@dataclass(eq=False, slots=True)
class JobRecord:
    """A job.

    Attributes
    ----------
    id : str
    queue, share : str or None
    demand : Demand or None
    retries : int or None
        Preemptions it survives; None is without limit. Only meaningful once `described`.
    attempts : int
        How often its retry strategy lets it become RUNNABLE.
    described : bool
        Whether an event told what the job is.
    priorities : list of (Span, int)
        Since when it had which priority, latest last.
    state : JobState or None
        As last seen.
    last : Observation or None
        The last event of it.
    attempt : Attempt or None
        While it holds.
    ended : Attempt or None
        The attempt before.
    wait : Wait or None
        While it waits, or the last one.
    preemptions : int
        Completed ones seen.
    terminated : bool
        Whether its termination was asked for.
    """

    id: str
    queue: str | None = None
    share: str | None = None
    demand: Demand | None = None
    retries: int | None = None
    attempts: int = 1
    described: bool = False
    priorities: list[tuple[Span, int]] = field(default_factory=list)
    state: JobState | None = None
    last: Observation | None = None
    attempt: Attempt | None = None
    ended: Attempt | None = None
    wait: Wait | None = None
    preemptions: int = 0
    terminated: bool = False

    def priorities_within(self, lo: int, hi: int) -> list[int]:
        """Return every priority it may have had at some moment from `lo` to `hi`; empty where none is known."""
        found = []
        for index, (since, priority) in enumerate(self.priorities):
            until = self.priorities[index + 1][0].hi if index + 1 < len(self.priorities) else hi
            if (index == 0 or since.lo <= hi) and until >= lo:
                found.append(priority)
        return found
