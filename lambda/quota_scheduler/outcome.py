"""What the scheduler reports: outcomes, and the decisions behind them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quota_scheduler.action import Rule
    from quota_scheduler.job import Job
    from quota_scheduler.job_state import JobState, PreemptionKind
    from quota_scheduler.ledger import Figures

__all__ = ["Decision", "Outcome", "OutcomeKind", "Victim"]


class Victim(NamedTuple):
    """A job a decision stops.

    Attributes
    ----------
    job : str
        Its id.
    share : str
    kind : PreemptionKind
    priority : int
    over : tuple of (str, int)
        For each unit it holds, what its share used beyond its limit when this was decided, in instances.
    """

    job: str
    share: str
    kind: PreemptionKind
    priority: int
    over: tuple[tuple[str, int], ...]


class Decision(NamedTuple):
    """One decision of the scheduling pass, with its reason.

    Attributes
    ----------
    at : float
        Seconds.
    rule : Rule
        The clause of contract.md section 3.
    job : str
        Id of the beneficiary; empty where limits were lowered and nobody claims.
    share : str
        The beneficiary's share.
    priority : int
        The beneficiary's.
    victims : tuple of Victim
        Jobs that stop for it, in order of choice; empty for a dispatch.
    taken_over : tuple of str
        Ids of jobs that were stopping for another job and now stop for this one.
    before, after : tuple of Figures
        The beneficiary's share, per unit of its demand: before the decision, and once it is
        carried out (victims stopped, beneficiary running).
    """

    at: float
    rule: Rule
    job: str
    share: str
    priority: int
    victims: tuple[Victim, ...]
    taken_over: tuple[str, ...]
    before: tuple[Figures, ...]
    after: tuple[Figures, ...]

    def sentence(self) -> str:
        """Return the reason in one plain sentence."""
        figures = "; ".join(f"{f.unit} {f.use} of {f.limit}" for f in self.before)
        use = f"share {self.share} uses {figures}"
        stopped = ", ".join(f"{victim.job} ({victim.kind.value})" for victim in self.victims)
        texts = {
            "own-quota": f"{self.job} is within its capacity limit: {use}",
            "borrow": f"{self.job} borrows idle capacity: {use}",
            "reclaim": f"{self.job} takes back lent capacity: {use}; stops {stopped or 'nobody more'}",
            "in-share": f"{self.job} has higher priority than {stopped}: {use}",
            "lowered-limit": f"limits were lowered below use: stops {stopped}",
        }
        return texts[self.rule.value]


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


class Outcome(NamedTuple):
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

    at: float
    kind: OutcomeKind
    job: Job
    before: JobState
    after: JobState
    reason: str = ""
    decision: Decision | None = None
    preemption: PreemptionKind | None = None
