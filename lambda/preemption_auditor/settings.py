"""How an audit is run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from preemption_auditor.exceptions import AuditorError

__all__ = ["AuditSettings", "Delivery"]


class Delivery(str, Enum):
    """What the audit may conclude from an event that isn't there."""

    COMPLETE = "complete"
    """The recording is whole: a state lasts until the job's next event."""
    LOSSY = "lossy"
    """Events may be missing: a state surely lasts only as far as later evidence confirms it."""


@dataclass(frozen=True)
class AuditSettings:
    """How an audit is run.

    Parameters
    ----------
    delivery : Delivery or str
        ``complete`` or ``lossy``.
    decision_lag : float
        Seconds a decision may have been taken before the event that shows it.
    tolerance : float
        Seconds a job may wait before a timing rule speaks.
    lateness : float
        Seconds by which an event may come after younger ones and still count as on time.

    Raises
    ------
    AuditorError
        An unknown delivery, or a number of seconds below 0.
    """

    delivery: Delivery = Delivery.LOSSY
    decision_lag: float = 30
    tolerance: float = 900
    lateness: float = 300

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "delivery", Delivery(self.delivery))
        except ValueError:
            allowed = ", ".join(delivery.value for delivery in Delivery)
            raise AuditorError(f"delivery {self.delivery!r} is unknown: use {allowed}") from None
        for name in ("decision_lag", "tolerance", "lateness"):
            seconds = getattr(self, name)
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e9:
                raise AuditorError(f"{name.replace('_', ' ')} of {seconds!r} s is not allowed: use 0 or more")
