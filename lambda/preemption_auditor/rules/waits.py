"""What the rules about waiting too long (QM-A11, QM-A12, QM-D03) have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.instants import SECOND
from preemption_auditor.verdicts import PASS, Answer, Verdict, unknown

if TYPE_CHECKING:
    from preemption_auditor.moments import Need, Waited

__all__ = ["judge_wait"]


def judge_wait(waited: Waited, need: Need, answer: Answer) -> Verdict | None:
    """Judge how long the front job of a share waited.

    Parameters
    ----------
    waited : Waited
    need : Need
        What the rule is about.
    answer : Answer
        Where it lasted too long.
    """
    if waited.need is not need:
        return None
    wait, lasted = waited.wait, waited.at.hi - waited.at.lo
    if lasted <= waited.tolerance:
        return PASS
    if not waited.queue.complete:
        return unknown("an event that is missing could explain why it waited", jobs=(wait.job,), events=wait.events)
    units = {unit for unit, _ in wait.demand or ()}
    holding = waited.queue.capacity.holding
    holders = [attempt for attempt in holding if not units.isdisjoint(unit for unit, _ in attempt.demand or ())]
    demand = ", ".join(f"{count} {unit}" for unit, count in wait.demand or ())
    return Verdict(
        answer,
        expected=f"{wait.job} dispatched, or a preemption for it, within {waited.tolerance // SECOND} s",
        seen=f"{wait.job}, first in {wait.share}, waited {lasted // SECOND} s for {need.value} ({demand})",
        shares=(wait.share,),
        jobs=(wait.job,),
        events=(*(holder.event for holder in holders), *wait.events, waited.queue.last_event),
        hinges_on=() if waited.whoever_is_first else None,
        if_running=True,
    )
