"""What the rules judge: decisions of the service, and steps of jobs, each with the evidence at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from preemption_auditor.capacity_book import Holding
    from preemption_auditor.instants import Span
    from preemption_auditor.jobs import Attempt, JobRecord, Preemption, Wait
    from preemption_auditor.observations import Observation
    from preemption_auditor.quality import FlawLog
    from preemption_auditor.queue_history import QueueHistory
    from quota_scheduler import JobState, QuotaPolicy

__all__ = [
    "Blocked",
    "Comparison",
    "Dispatch",
    "Key",
    "Moment",
    "Need",
    "Preempting",
    "Quality",
    "Requeue",
    "Selection",
    "Transition",
    "Waited",
]


Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """A job was seen again.

    Attributes
    ----------
    queue : QueueHistory
        The evidence, as it stands at this moment.
    at : Span
    job : JobRecord
    state : JobState
        It was in.
    before, after : Observation
        The last two events.
    """

    queue: QueueHistory
    at: Span
    job: JobRecord
    state: JobState
    before: Observation
    after: Observation

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "transition", self.job.id, self.after.shown, self.after.status, self.after.kind.value


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Jobs were dispatched at one moment; the evidence includes everything up to it.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    attempts : tuple of Attempt
    holding : Holding
        Who holds what just after it.
    """

    queue: QueueHistory
    at: Span
    attempts: tuple[Attempt, ...]
    holding: Holding

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "dispatch", self.at.hi


@dataclass(frozen=True, slots=True)
class Selection:
    """A job was dispatched, looked at once its second is over: by then every edit in it is known.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    attempt : Attempt
    """

    queue: QueueHistory
    at: Span
    attempt: Attempt

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "selection", self.attempt.job, self.at.lo


@dataclass(frozen=True, slots=True)
class Preempting:
    """A preemption started.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    job : JobRecord
    preemption : Preemption
    """

    queue: QueueHistory
    at: Span
    job: JobRecord
    preemption: Preemption

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "preemption", self.job.id, self.at.lo


@dataclass(frozen=True, slots=True)
class Requeue:
    """A preemption completed.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    job : JobRecord
    completed : Observation
    count : int or None
        Preemptions of the job so far, this one included; None where it isn't known.
    became : JobState or None
        What the job was after it; None where nothing shows it.
    """

    queue: QueueHistory
    at: Span
    job: JobRecord
    completed: Observation
    count: int | None
    became: JobState | None

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "requeue", self.job.id, self.at.lo


@dataclass(frozen=True, slots=True)
class Blocked:
    """A job was said to be blocked, or should have been.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    job : JobRecord
    observation : Observation or None
        The event that says so; None where there is none although the job can never run.
    """

    queue: QueueHistory
    at: Span
    job: JobRecord
    observation: Observation | None

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "blocked", self.job.id, self.at.lo


class Need(str, Enum):
    """What the front job of a share waited for, all the while."""

    FREE = "its own capacity, which was free"
    LENT = "its own capacity, which others borrowed"
    IDLE = "capacity to borrow, which was idle"
    REASON = "a reason why it can never run"


@dataclass(frozen=True, slots=True)
class Waited:
    """The front job of a share waited, and one need stayed unserved.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
        From when to when.
    wait : Wait
    need : Need
    tolerance : int
        Milliseconds it may last.
    whoever_is_first : bool
        Whether every job that waits in the share has this need, so that priorities don't matter.
    """

    queue: QueueHistory
    at: Span
    wait: Wait
    need: Need
    tolerance: int
    whoever_is_first: bool

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "waited", self.wait.job, self.at.lo


@dataclass(frozen=True, slots=True)
class Comparison:
    """The policy as deployed was looked up.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    event : str
        Id of the look-up.
    declared : tuple of QuotaPolicy
        Every version that may have been declared then.
    deployed : QuotaPolicy
    """

    queue: QueueHistory
    at: Span
    event: str
    declared: tuple[QuotaPolicy, ...]
    deployed: QuotaPolicy

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return "comparison", self.at.lo


@dataclass(frozen=True, slots=True)
class Quality:
    """What was noticed about the events of a recording.

    Attributes
    ----------
    at : Span
        The whole recording.
    flaws : FlawLog
    """

    at: Span
    flaws: FlawLog

    @property
    def key(self) -> Key:
        """Return what tells it from all others, however often it is judged."""
        return ("quality",)


Moment: TypeAlias = Transition | Dispatch | Selection | Preempting | Requeue | Blocked | Waited | Comparison | Quality
