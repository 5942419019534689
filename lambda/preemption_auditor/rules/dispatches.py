"""What the rules about dispatches (QM-A02 to QM-A05) have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from preemption_auditor.capacity_book import HoldingOf
from preemption_auditor.verdicts import PASS, Answer, Verdict, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from preemption_auditor.jobs import Attempt
    from preemption_auditor.moments import Dispatch
    from quota_scheduler import QuotaPolicy, QuotaShare

__all__ = ["Excess", "ceiling", "demanded", "judge_units", "share_in"]


@dataclass(frozen=True, slots=True)
class Excess:
    """More is used of a unit than is allowed.

    Attributes
    ----------
    expected, seen : str
    limit : int
        Instances the witness has to exceed.
    by_share : bool
        Whether only the share's own jobs are witnesses.
    assumed : bool
        Whether it only breaks an assumption.
    """

    expected: str
    seen: str
    limit: int
    by_share: bool = True
    assumed: bool = False


def judge_units(dispatch: Dispatch, excess_of: Callable[[Dispatch, str, str], Excess | None]) -> Verdict:
    """Judge every share and unit that jobs were dispatched to.

    What is too much counting every job that holds is a fault where it still is counting only
    those that surely held, and unknown otherwise.

    Parameters
    ----------
    dispatch : Dispatch
    excess_of : callable
        From the dispatch, a share and a unit to what is too much, or None.
    """
    mild: Verdict | None = None
    for share, unit in sorted({(a.share, unit) for a in dispatch.attempts if a.share for unit, _ in a.demand or ()}):
        if excess_of(dispatch, share, unit) is None:
            continue
        verdict = _judge_surely(dispatch, share, unit, excess_of)
        if verdict.answer is Answer.VIOLATION:
            return verdict
        mild = mild or verdict
    if mild is not None:
        return mild
    blind = tuple(attempt.job for attempt in dispatch.attempts if attempt.share is None or attempt.demand is None)
    if blind:
        return unknown(f"no event tells share and demand of {', '.join(blind)}", jobs=blind)
    strange = tuple(attempt.job for attempt in dispatch.attempts if not _is_known(dispatch, attempt))
    if strange:
        return unknown(f"the policy doesn't have the share of {', '.join(strange)}", jobs=strange)
    return PASS


def _judge_surely(
    dispatch: Dispatch, share: str, unit: str, excess_of: Callable[[Dispatch, str, str], Excess | None]
) -> Verdict:
    """Judge what is too much by the jobs that surely held."""
    holders = dispatch.holding.holders(unit)
    sure = [attempt for attempt in holders if dispatch.queue.confirmed(attempt, dispatch.at.hi)]
    certain = dispatch if len(sure) == len(holders) else replace(dispatch, holding=HoldingOf(sure))
    excess = excess_of(certain, share, unit)
    if excess is not None:
        return _verdict(certain, share, unit, excess)
    open_jobs = sorted({attempt.job for attempt in holders} - {attempt.job for attempt in sure})
    dispatched = tuple(attempt.job for attempt in dispatch.attempts if attempt.share == share)
    return unknown(f"no event shows whether {', '.join(open_jobs)} still held then", jobs=dispatched)


def _is_known(dispatch: Dispatch, attempt: Attempt) -> bool:
    return any(share_in(policy, attempt.share or "") for policy in dispatch.queue.policies(dispatch.at))


def share_in(policy: QuotaPolicy, name: str) -> QuotaShare | None:
    """Return the share of that name, or None."""
    return next((share for share in policy.shares if share.name == name), None)


def ceiling(policy: QuotaPolicy, name: str, unit: str) -> float:
    """Return the most a share may use of a unit (I2 and I3, assumption A3).

    There is no bound for a share the policy doesn't have.
    """
    share = share_in(policy, name)
    if share is None:
        return float("inf")
    return share.limits[unit] + share.borrowable(unit) if unit in share.limits else 0


def demanded(dispatch: Dispatch, share: str, unit: str) -> int:
    """Return what the jobs dispatched to `share` at this moment demand of `unit`."""
    demands = (attempt.demand or () for attempt in dispatch.attempts if attempt.share == share)
    return sum(count for demand in demands for name, count in demand if name == unit)


def _verdict(dispatch: Dispatch, share: str, unit: str, excess: Excess) -> Verdict:
    witness = _witness(dispatch, share, unit, excess)
    shares = {attempt.share: None for attempt in witness if attempt.share is not None}
    return Verdict(
        Answer.DIVERGENCE if excess.assumed else Answer.VIOLATION,
        expected=excess.expected,
        seen=f"{excess.seen} once {', '.join(sorted(a.job for a in dispatch.attempts if a.share == share))} ran",
        shares=tuple({share: None, **shares}),
        jobs=tuple(attempt.job for attempt in witness),
        events=tuple(attempt.event for attempt in witness),
    )


def _witness(dispatch: Dispatch, share: str, unit: str, excess: Excess) -> list[Attempt]:
    """Return the fewest holding jobs that together exceed the limit, those just dispatched first."""
    holders = dispatch.holding.holders(unit, share if excess.by_share else None)
    holders.sort(key=lambda attempt: attempt not in dispatch.attempts)
    witness, total = [], 0
    for attempt in holders:
        witness.append(attempt)
        total += dict(attempt.demand or ()).get(unit, 0)
        if total > excess.limit:
            break
    return witness
