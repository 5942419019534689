"""What the notes about the events (QM-Q01 to QM-Q07) have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Quality
from preemption_auditor.verdicts import Answer, Kind, Rule, Verdict

if TYPE_CHECKING:
    from preemption_auditor.quality import Flaw

__all__ = ["note"]


def note(rule: str, flaw: Flaw, proves: str, expected: str, source: str) -> Rule[Quality]:
    """Make the rule that reports a kind of flaw, in one note however often it was seen.

    Parameters
    ----------
    rule : str
        Its id.
    flaw : Flaw
    proves : str
    expected : str
        What should have been.
    source : str
    """

    def judge(quality: Quality) -> Verdict | None:
        count = quality.flaws.counts.get(flaw, 0)
        if not count:
            return None
        return Verdict(
            Answer.NOTE,
            expected=expected,
            seen=f"{flaw.value}: {count}",
            jobs=tuple(quality.flaws.jobs.get(flaw, ())),
            events=tuple(quality.flaws.events.get(flaw, ())),
        )

    return Rule(
        id=rule,
        kind=Kind.NOTE,
        judges=Quality,
        proves=proves,
        evidence="the events as they were delivered; the first ten jobs and events are named",
        source=source,
        judge=judge,
    )
