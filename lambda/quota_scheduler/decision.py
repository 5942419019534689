"""What the scheduling pass decided, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quota_scheduler.action import Rule
    from quota_scheduler.job_state import PreemptionKind
    from quota_scheduler.ledger import Figures

__all__ = ["Decision", "Victim"]


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
