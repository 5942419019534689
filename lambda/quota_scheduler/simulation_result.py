"""What a simulation measured, per share and in all."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

__all__ = ["ShareResult", "SimulationResult", "Spread"]


@dataclass(frozen=True)
class Spread:
    """Mean, median, 95th percentile and maximum of some times, in seconds; None without any."""

    mean: float | None
    p50: float | None
    p95: float | None
    max: float | None

    @classmethod
    def of(cls, seconds: list[float]) -> Spread:
        """Measure `seconds`; percentiles are the nearest rank's."""
        if not seconds:
            return cls(None, None, None, None)
        ordered = sorted(seconds)
        return cls(fmean(ordered), _rank(ordered, 50), _rank(ordered, 95), ordered[-1])


def _rank(ordered: list[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


@dataclass
class ShareResult:
    """What happened to the jobs of one share.

    Attributes
    ----------
    jobs, finished : int
        Jobs submitted, and those that ended by themselves.
    wait_s : Spread
        From submission to first dispatch, of the jobs that were dispatched.
    never_dispatched, blocked : int
        Jobs that were taken and never dispatched, and those found at the front and unable ever to run.
    rejected, terminated : int
        Jobs the share didn't take, since it was DISABLED or not there, and those ended from outside:
        with their share, or by a time limit action.
    reclaim_s : Spread
        From the decision to take back lent capacity to the dispatch it was for.
    borrowed_instance_s, lent_instance_s : float
        Instance-seconds used beyond the share's limit, and idle capacity of the share that others
        used. Of several lenders each counts in proportion to what it left idle.
    preempted : int
        Preemptions its jobs suffered.
    lost_instance_s : float
        Instance-seconds of work done in vain because of them.
    """

    jobs: int = 0
    finished: int = 0
    wait_s: Spread = field(default_factory=lambda: Spread.of([]))
    never_dispatched: int = 0
    blocked: int = 0
    rejected: int = 0
    terminated: int = 0
    reclaim_s: Spread = field(default_factory=lambda: Spread.of([]))
    borrowed_instance_s: float = 0.0
    lent_instance_s: float = 0.0
    preempted: int = 0
    lost_instance_s: float = 0.0


@dataclass
class SimulationResult:
    """What a policy did to a workload.

    Attributes
    ----------
    jobs, finished : int
        Jobs submitted, and those that ended by themselves.
    failed : int
        Jobs that ran out of preemption retries.
    blocked, never_dispatched, rejected, terminated : int
        Over all shares, as in :class:`ShareResult`.
    span_s : float
        From the first submission to the last end, in seconds.
    utilisation : float
        Part of the environment's instance-seconds within the span that jobs held.
    preemptions : dict of str to int
        Preemptions by kind.
    lost_instance_s, borrowed_instance_s, lent_instance_s : float
    reclaim_s, wait_s : Spread
        Over all shares.
    shares : dict of str to ShareResult
    """

    jobs: int
    finished: int
    failed: int
    blocked: int
    never_dispatched: int
    rejected: int
    terminated: int
    span_s: float
    utilisation: float
    preemptions: dict[str, int]
    lost_instance_s: float
    borrowed_instance_s: float
    lent_instance_s: float
    reclaim_s: Spread
    wait_s: Spread
    shares: dict[str, ShareResult]

    def to_document(self) -> dict[str, Any]:
        """Return it as an entry of ``policies`` in ``batch-quota simulate --json``."""
        document = dict(vars(self))
        document["shares"] = {name: _with_spreads(vars(share)) for name, share in self.shares.items()}
        return _with_spreads(document)


def _with_spreads(document: dict[str, Any]) -> dict[str, Any]:
    return {key: dict(vars(value)) if isinstance(value, Spread) else value for key, value in document.items()}
