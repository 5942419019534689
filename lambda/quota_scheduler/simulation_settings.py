"""How jobs behave in a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from quota_scheduler.exceptions import JobError

__all__ = ["SimulationSettings"]

_NEVER = float("inf")


@dataclass(frozen=True)
class SimulationSettings:
    """How jobs behave in a simulation.

    Parameters
    ----------
    preemption_seconds : float
        Time between the start of a preemption and the moment the job has stopped.
    checkpoint_seconds : float, optional
        A preempted job resumes from the last multiple of this much work; None restarts it.
    """

    preemption_seconds: float = 20.0
    checkpoint_seconds: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.preemption_seconds < _NEVER:
            raise JobError(f"preemption of {self.preemption_seconds} s is not allowed: use 0 or more")
        if self.checkpoint_seconds is not None and not 0 < self.checkpoint_seconds < _NEVER:
            raise JobError(f"checkpoint interval of {self.checkpoint_seconds} s is not allowed: use more than 0")
