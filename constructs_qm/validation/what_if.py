"""A declared queue simulated against the baseline it is to replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.located import located
from constructs_qm.workload_files import read_workload
from quota_scheduler import DocumentError, PolicyError, QuotaPolicy, TimeLimit
from quota_scheduler.simulator import simulate
from quota_scheduler.traces import TraceReading
from quota_scheduler.what_if import Measure, Thresholds, check_change, measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from constructs_qm.validation.declared import DeclaredQueue
    from constructs_qm.validation.located import Located

__all__ = ["WhatIf", "what_if"]


@dataclass(frozen=True)
class WhatIf:
    """What a change would do to a workload.

    Attributes
    ----------
    queue : str
    measures : list of Measure
    found : list of Located
        What is worse than allowed.
    rows : dict
        Account of the trace's rows.
    """

    queue: str
    measures: list[Measure]
    found: list[Located]
    rows: dict[str, Any]

    def to_document(self) -> dict[str, Any]:
        """Return it as ``what_if`` of ``batch-quota validate --json``."""
        return {"queue": self.queue, "measures": [vars(item) for item in self.measures], "rows": self.rows}

    def to_text(self) -> str:
        """Return a table for people."""
        lines = [f"what if: {self.rows['used']} of {self.rows['read']} rows of the workload, baseline -> declared"]
        for item in self.measures:
            before, after = (_shown(item.name, value) for value in (item.before, item.after))
            lines.append(f"  {item.share or 'all shares':<20} {item.name:<12} {before:>10} -> {after:>10}")
        return "\n".join(lines)


def what_if(
    declared: Sequence[DeclaredQueue],
    baseline: Sequence[DeclaredQueue],
    trace: Path,
    thresholds: Thresholds,
    unit: str | None = None,
) -> WhatIf:
    """Simulate the one queue that differs, under its old and its new policy.

    Parameters
    ----------
    declared, baseline : sequence of DeclaredQueue
    trace : Path
        Workload; see :func:`constructs_qm.workload_files.read_workload`.
    thresholds : Thresholds
    unit : str, optional
        Capacity unit that the trace counts; the policies' only one by default.

    Raises
    ------
    DocumentError
        No queue, or several, could be meant; a policy isn't known whole; or the trace can't be read.
    """
    new, old = _pair(declared, baseline)
    after, before = _policy(new), _policy(old)
    units = {*after.environment, *before.environment}
    shares = frozenset(share.name for policy in (before, after) for share in policy.shares)
    reading = TraceReading(unit or (units.pop() if len(units) == 1 else None), shares)
    workload = read_workload(trace, reading, 0)
    results = [
        simulate(policy, workload, time_limits=_time_limits(queue)) for policy, queue in ((before, old), (after, new))
    ]
    measures = measure(*results)
    found: list[Located] = []
    for finding in check_change(measures, thresholds):
        share = next((share for share in new.shares if finding.path == f"shares.{share.name.value}"), new)
        found += located([finding], share.source)
    return WhatIf(new.source.path, measures, found, workload.rows.to_document())


def _pair(declared: Sequence[DeclaredQueue], baseline: Sequence[DeclaredQueue]) -> tuple[DeclaredQueue, DeclaredQueue]:
    """Return the queue that differs and what it was."""
    ours, theirs = ([queue for queue in queues if queue.owned] for queues in (declared, baseline))
    if len(ours) == len(theirs) == 1:
        return ours[0], theirs[0]
    before = {queue.source.path: queue for queue in theirs}
    pairs = [(queue, before[queue.source.path]) for queue in ours if queue.source.path in before]
    changed = [pair for pair in pairs if _policy(pair[0]) != _policy(pair[1])]
    if len(changed) != 1:
        names = ", ".join(new.source.path for new, _ in changed) or "none"
        raise DocumentError(f"--simulate takes one changed queue (changed: {names}): give files with that one")
    return changed[0]


def _policy(queue: DeclaredQueue) -> QuotaPolicy:
    shares = [share.policy() for share in queue.shares]
    capacity = None if queue.environment is None else queue.environment.capacity()
    try:
        known = tuple(share for share in shares if share is not None)
        if capacity is not None and len(known) == len(shares):
            return QuotaPolicy(capacity, known)
    except PolicyError:
        pass
    raise DocumentError(f"{queue.source.file}: {queue.source.path or 'policy'} can't be simulated: mend its findings")


def _time_limits(queue: DeclaredQueue) -> list[TimeLimit]:
    try:
        return [TimeLimit(limit.value["Reason"], limit.value["MaxTimeSeconds"]) for limit in queue.time_limits or ()]
    except (PolicyError, TypeError, KeyError):
        return []


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name == "utilisation" else f"{value:.0f}"
