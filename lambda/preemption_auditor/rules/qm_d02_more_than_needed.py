"""QM-D02: no more is preempted than is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.victims import Choice, reference_choice
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict
from quota_scheduler import Assumptions, PreemptionKind
from quota_scheduler.ledger import Ledger

if TYPE_CHECKING:
    from preemption_auditor.jobs import Attempt, Wait

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    choice = reference_choice(step)
    if choice is None or not all(_is_reclaim(attempt) for attempt in choice.stopped):
        return None
    served = [wait for wait in choice.fronts if _serves(choice, wait, choice.stopped)]
    if len(served) != 1:
        return None
    for spared in choice.stopped:
        rest = tuple(attempt for attempt in choice.stopped if attempt is not spared)
        if _serves(choice, served[0], rest):
            return Verdict(
                Answer.DIVERGENCE,
                expected=f"{spared.job} not stopped: {served[0].job} of {served[0].share} fits without it",
                seen=f"{', '.join(sorted(attempt.job for attempt in choice.stopped))} stopped together",
                shares=(spared.share or "", served[0].share),
                jobs=(spared.job, served[0].job),
                events=choice.events,
                hinges_on=None,
            )
    return PASS


def _is_reclaim(attempt: Attempt) -> bool:
    return attempt.stopping is not None and attempt.stopping.kind is PreemptionKind.CROSS_SHARE


def _serves(choice: Choice, wait: Wait, stopped: tuple[Attempt, ...]) -> bool:
    """Whether an entitled job fits once some jobs have stopped."""
    ledger = Ledger(choice.policy, Assumptions())
    for attempt in choice.holding:
        if attempt not in stopped and attempt.share is not None:
            ledger.take(attempt.share, attempt.demand or ())
    demand = wait.demand or ()
    return ledger.within_limit(wait.share, demand) and ledger.fits(wait.share, demand)


RULE = Rule(
    id="QM-D02",
    kind=Kind.DIVERGENCE,
    judges=Preempting,
    proves="a job was stopped although the job it was stopped for fits without that",
    evidence="as for QM-D01, and only one waiting job that the victims together serve",
    source="preemption; contract section 3, Victims (the set is minimal)",
    judge=_judge,
)
