"""What is deployed compared with what is declared, property by property (QM-A15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import Field, Limits, is_known
from constructs_qm.validation.located import Located
from quota_scheduler import UNLIMITED, Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.validation.declared import DeclaredQueue, DeclaredShare, Source

__all__ = ["compare"]


def compare(declared: DeclaredQueue, deployed: DeclaredQueue) -> Iterator[Located]:
    """Yield each difference, put where it is declared.

    Values that are known only at deployment are left out, and so is what the declaration doesn't speak of.

    Parameters
    ----------
    declared, deployed : DeclaredQueue
    """
    if declared.priority.keys:
        yield from _differs(declared.source, "priority", declared.priority, deployed.priority.value)
    yield from _time_limits(declared, deployed)
    if declared.environment is not None and deployed.environment is not None:
        environment = declared.environment
        yield from _limits(environment.source, environment.limits, deployed.environment.limits)
    theirs = {share.name.value: share for share in deployed.shares}
    for share in declared.shares:
        if not is_known(share.name.value):
            continue
        if share.name.value in theirs:
            yield from _share(share, theirs[share.name.value])
        else:
            yield _difference(share.source, (), f"quota share {share.name.value} is not deployed")
    ours = {share.name.value for share in declared.shares}
    for name in sorted(theirs.keys() - ours) if all(map(is_known, ours)) else ():
        yield _difference(declared.source, (), f"quota share {name} is deployed, but not declared")


def _share(declared: DeclaredShare, deployed: DeclaredShare) -> Iterator[Located]:
    source = declared.source
    yield from _limits(source, declared.limits, deployed.limits)
    yield from _differs(source, "sharing strategy", declared.strategy, deployed.strategy.value)
    if declared.strategy.value == deployed.strategy.value == "LEND_AND_BORROW":
        limit = declared.borrow_limit
        given = limit._replace(value=UNLIMITED if limit.value is None else limit.value)
        theirs = deployed.borrow_limit.value
        yield from _differs(source, "borrow limit", given, UNLIMITED if theirs is None else theirs)
    in_share = declared.in_share_preemption
    preempts = in_share._replace(value={True: "ENABLED", False: "DISABLED"}.get(in_share.value, in_share.value))
    yield from _differs(source, "in-share preemption", preempts, deployed.in_share_preemption.value)
    state = declared.state._replace(value=declared.state.value or "ENABLED")
    yield from _differs(source, "state", state, deployed.state.value or "ENABLED")


def _limits(source: Source, declared: Limits, deployed: Limits) -> Iterator[Located]:
    if not is_known(declared.pairs):
        return
    ours, theirs = dict(declared.pairs), dict(deployed.pairs)
    for unit in [*ours, *(unit for unit in theirs if unit not in ours)]:
        field = Field(ours.get(unit), declared.unit_keys.get(unit, declared.keys))
        yield from _differs(source, f"capacity of {unit}", field, theirs.get(unit))


def _time_limits(declared: DeclaredQueue, deployed: DeclaredQueue) -> Iterator[Located]:
    if declared.time_limits is None or not all(is_known(limit.value) for limit in declared.time_limits):
        return
    ours, theirs = (
        {limit.value["Reason"]: (limit.value["MaxTimeSeconds"], limit.keys) for limit in queue.time_limits or ()}
        for queue in (declared, deployed)
    )
    for reason in [*ours, *(reason for reason in theirs if reason not in ours)]:
        seconds, keys = ours.get(reason, (None, declared.time_limits_keys))
        given = Field(seconds, keys)
        yield from _differs(declared.source, f"time limit for {reason}", given, theirs.get(reason, (None,))[0])


def _differs(source: Source, what: str, declared: Field, deployed: Any) -> Iterator[Located]:
    if is_known(declared.value) and declared.value != deployed:
        ours, theirs = ("none" if value is None else value for value in (declared.value, deployed))
        yield _difference(source, declared.keys, f"{what} is {theirs} as deployed, declared {ours}")


def _difference(source: Source, keys: tuple[str | int, ...], message: str) -> Located:
    return Located(Finding("QM-A15", Level.ERROR, message), source, keys)
