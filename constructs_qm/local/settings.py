"""What a user may choose about the endpoint: durations, limits and the scheduler's assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from quota_scheduler import Assumptions

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Settings of an endpoint; all times in seconds of its own clock.

    Parameters
    ----------
    submitted_seconds, scheduled_seconds, starting_seconds : float
        How long a job stays SUBMITTED, SCHEDULED and STARTING.
    running_seconds : float or None
        How long a job runs before it succeeds; None: until told to end.
    preemption_seconds : float
        Time from the start of a preemption until the job has stopped; the guide's example takes 20
        (batch-service-job-preemption-events).
    transition_seconds : float
        How long resources stay CREATING, UPDATING and DELETING; 0 shows them VALID or gone at once.
    capacity_retry_seconds : float
        How long a job that SageMaker had no capacity for waits before it is tried again.
    submits_per_second : int or None
        Limit on SubmitServiceJob; AWS allows an account 5. None doesn't limit.
    cloudtrail : bool
        Whether API calls are recorded as events, as they are in an account with a trail.
    assumptions : Assumptions
        Our choices where AWS is silent.

    Raises
    ------
    ValueError
        A duration is negative or isn't a number.
    """

    submitted_seconds: float = 1
    scheduled_seconds: float = 2
    starting_seconds: float = 5
    running_seconds: float | None = 600
    preemption_seconds: float = 20
    transition_seconds: float = 0
    capacity_retry_seconds: float = 60
    submits_per_second: int | None = None
    cloudtrail: bool = True
    assumptions: Assumptions = field(default_factory=Assumptions)

    def __post_init__(self) -> None:
        for name in (setting.name for setting in fields(self) if setting.name.endswith("_seconds")):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float)) and 0 <= value < math.inf):
                raise ValueError(f"{name} {value!r} is not allowed: use a number of seconds, 0 or more")
