"""What the rules judge: decisions of the service, and steps of jobs, each with the evidence at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from preemption_auditor.instants import Span
    from preemption_auditor.jobs import Attempt, JobRecord, Preemption
    from preemption_auditor.observations import Observation
    from preemption_auditor.queue_history import QueueHistory
    from quota_scheduler import JobState

__all__ = ["Dispatch", "Moment", "Preempting", "Requeue", "Transition"]


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


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Jobs were dispatched at one moment; the evidence includes everything up to it.

    Attributes
    ----------
    queue : QueueHistory
    at : Span
    attempts : tuple of Attempt
    """

    queue: QueueHistory
    at: Span
    attempts: tuple[Attempt, ...]


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


Moment: TypeAlias = Transition | Dispatch | Preempting | Requeue
