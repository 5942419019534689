"""What the auditor keeps of a job: facts, the state it was last seen in, its attempt and its wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from preemption_auditor.observations import EventKind
from quota_scheduler import JobState

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.observations import Observation
    from quota_scheduler import Demand, PreemptionKind

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
    resource : str or None
        ARN of its training job: likewise.
    doubtful : bool
        Whether it may not have been at all: its job's events can be read in several orders.
    seen : int
        When it last was seen holding, in milliseconds.
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
    resource: str | None = None
    doubtful: bool = False
    seen: int = -(10**18)
    left: Span | None = None
    stopping: Preemption | None = None
    counted: dict[str, bool] = field(default_factory=dict)

    def is_shown_by(self, observation: Observation) -> bool:
        """Whether an observation surely speaks of this attempt, be it of its end."""
        if self.resource is not None and observation.resource is not None:
            return self.resource == observation.resource
        return self.dispatched is not None and self.dispatched == observation.dispatched

    def lasted_until(self, observation: Observation) -> int | None:
        """Return until when an observation proves that it held, in milliseconds; None where it doesn't.

        A job may fail while it waits, so a failure proves it only where it shows the attempt's end.
        """
        status, kind = observation.status, observation.kind
        if status is None or not self.is_shown_by(observation):
            return None
        if status is JobState.FAILED:
            stopped = observation.stopped
            return stopped if stopped is not None and stopped >= (self.dispatched or self.taken.lo) else None
        entered = status is JobState.RUNNABLE and kind is EventKind.STATE
        return observation.at.lo if status.holds or entered or status is JobState.SUCCEEDED else None

    def is_before(self, observation: Observation) -> bool:
        """Whether an observation of a holding job surely speaks of a later attempt."""
        one, other = self.dispatched, observation.dispatched
        return one is not None and other is not None and one < other


@dataclass(eq=False, slots=True)
class Wait:
    """A stretch of time in which a job waited with one priority.

    Attributes
    ----------
    job, share : str
    demand : Demand or None
    priority : int or None
        None where no event gave it.
    created : int
        When the job was submitted, in milliseconds.
    since : Span
    events : tuple of str
        Ids of the events that show it, and its priority.
    until : Span or None
        None while it goes on.
    blocked : str
        The reason it was last said to be blocked for, or empty.
    after_attempt : bool
        Whether an attempt ended before that wasn't preempted: for lack of capacity, or to be retried.
    unsure : bool
        Whether the job may have another priority: several edits in one second have no known order.
    """

    job: str
    share: str
    demand: Demand | None
    priority: int | None
    created: int
    since: Span
    events: tuple[str, ...]
    until: Span | None = None
    blocked: str = ""
    after_attempt: bool = False
    unsure: bool = False


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
    share : str or None
    demand : Demand or None
    created : int or None
        When it was submitted, in milliseconds.
    retries : int or None
        Preemptions it survives; None is without limit.
    described_as : JobState or None
        Its state in the last event that told what the job is: share, demand, retries.
    described_by : str
        Id of that event.
    priorities : list of (Span, int)
        Since when it had which priority, latest last.
    shown : int
        When an event last showed its priority, in milliseconds.
    shown_by : str
        Id of that event.
    state : JobState or None
        As last seen.
    implied : bool
        Whether no event showed that state yet.
    last : Observation or None
        The last event of it.
    attempt : Attempt or None
        While it holds.
    ended : Attempt or None
        The attempt before.
    wait : Wait or None
        While it waits, or the last one.
    other_waits : list of Wait
        The same wait with other priorities the job may have.
    stopping : bool
        Whether a preemption of it has started whose completion wasn't seen yet.
    preemptions : int
        Completed ones seen.
    terminated : bool
        Whether its termination was asked for.
    """

    id: str
    share: str | None = None
    demand: Demand | None = None
    created: int | None = None
    retries: int | None = None
    described_as: JobState | None = None
    described_by: str = ""
    priorities: list[tuple[Span, int]] = field(default_factory=list)
    shown: int = -(10**18)
    shown_by: str = ""
    state: JobState | None = None
    implied: bool = False
    last: Observation | None = None
    attempt: Attempt | None = None
    ended: Attempt | None = None
    wait: Wait | None = None
    other_waits: list[Wait] = field(default_factory=list)
    stopping: bool = False
    preemptions: int = 0
    terminated: bool = False

    def priorities_within(self, lo: int, hi: int) -> list[int]:
        """Return every priority it may have had at some moment from `lo` to `hi`; empty where none is known.

        Edits of one second may have come in any order, so each of them may last.
        """
        found = []
        for index, (since, priority) in enumerate(self.priorities):
            later = (other.hi for other, _ in self.priorities[index + 1 :] if other != since)
            if (index == 0 or since.lo <= hi) and next(later, hi) >= lo:
                found.append(priority)
        return found
