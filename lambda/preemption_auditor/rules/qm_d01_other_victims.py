"""QM-D01: the victims are those the reference scheduler chooses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from preemption_auditor.moments import Preempting
from preemption_auditor.rules.victims import reference_choice
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict

if TYPE_CHECKING:
    from preemption_auditor.jobs import Attempt

__all__ = ["RULE"]


def _judge(step: Preempting) -> Verdict | None:
    choice = reference_choice(step)
    if choice is None:
        return None
    if _alike(step, choice.stopped) == _alike(step, choice.reference):
        return PASS
    jobs = tuple(sorted(attempt.job for attempt in choice.stopped))
    chosen = ", ".join(sorted(attempt.job for attempt in choice.reference))
    return Verdict(
        Answer.DIVERGENCE,
        expected=f"{chosen or 'nobody'} stopped, by the reference's choice",
        seen=f"{', '.join(jobs)} stopped",
        shares=tuple(dict.fromkeys(attempt.share or "" for attempt in choice.stopped)),
        jobs=jobs,
        events=choice.events,
        hinges_on=None,
    )


def _alike(step: Preempting, attempts: tuple[Attempt, ...]) -> Counter[tuple[object, ...]]:
    """Count victims by what the choice looks at: among equals, any will do."""
    jobs = step.queue.jobs
    return Counter((a.share, a.demand, a.taken, jobs[a.job].priorities[-1][1]) for a in attempts)


RULE = Rule(
    id="QM-D01",
    kind=Kind.DIVERGENCE,
    judges=Preempting,
    proves="other jobs were stopped than the reference scheduler chooses from the same state",
    evidence="the exact state just before: who held since when and with which priority, who waited first in each "
    "share, nobody being stopped already",
    source="preemption (a custom heuristic, unpublished); assumption A10",
    judge=_judge,
)
