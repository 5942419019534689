"""What a change of policy would do to a workload, against thresholds: QM-W01 to QM-W04."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quota_scheduler.findings import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler.simulation_result import ShareResult, SimulationResult

__all__ = ["Measure", "Thresholds", "check_change", "measure"]

_NOISE_SECONDS = 1.0
"""A wait that grows by less isn't worth a finding, whatever it was before."""


@dataclass(frozen=True)
class Thresholds:
    """How much worse a change may make things; None for no bound.

    Parameters
    ----------
    wait_growth : float, optional
        Percent by which the mean or the 95th percentile of a share's waiting times may grow; with it, no more
        jobs may go without ever being dispatched (QM-W01, QM-W02).
    preemption_growth : float, optional
        Percent by which preemptions may grow (QM-W03).
    utilisation_loss : float, optional
        Points of percent by which utilisation may fall (QM-W04).
    """

    wait_growth: float | None = None
    preemption_growth: float | None = None
    utilisation_loss: float | None = None


@dataclass(frozen=True)
class Measure:
    """One figure under both policies.

    Attributes
    ----------
    name : str
        ``wait_mean_s``, ``wait_p95_s``, ``undispatched`` (jobs), ``preempted`` (jobs) or ``utilisation`` (0 to 1).
    share : str
        Empty over all shares.
    before, after : float, optional
        None where no job was dispatched, or there is no such share.
    """

    name: str
    share: str
    before: float | None
    after: float | None


def measure(before: SimulationResult, after: SimulationResult) -> list[Measure]:
    """Return the figures of two simulations of the same workload side by side, the whole first."""
    found = [
        Measure("utilisation", "", before.utilisation, after.utilisation),
        Measure("preempted", "", sum(before.preemptions.values()), sum(after.preemptions.values())),
    ]
    for name in dict.fromkeys([*before.shares, *after.shares]):
        pair = (before.shares.get(name), after.shares.get(name))
        for figure in ("wait_mean_s", "wait_p95_s", "undispatched", "preempted"):
            old, new = (None if share is None else _figure(share, figure) for share in pair)
            found.append(Measure(figure, name, old, new))
    return found


def check_change(measures: list[Measure], thresholds: Thresholds) -> Iterator[Finding]:
    """Yield a finding for each figure that a change makes worse than is allowed."""
    for item in measures:
        path = f"shares.{item.share}" if item.share else ""
        for rule, what in _broken(item, thresholds):
            yield Finding(rule, Level.ERROR, what, path)


def _broken(item: Measure, thresholds: Thresholds) -> Iterator[tuple[str, str]]:
    old, new = item.before or 0.0, item.after or 0.0
    growth, loss = thresholds.wait_growth, thresholds.utilisation_loss
    if item.name.startswith("wait_") and growth is not None:
        if new > max(old * (1 + growth / 100), old + _NOISE_SECONDS):
            kind = "mean" if "mean" in item.name else "95th percentile of the"
            yield "QM-W01", f"{kind} wait would grow from {old:.0f} s to {new:.0f} s: more than {growth:g} %"
    elif item.name == "undispatched" and growth is not None and new > old:
        yield "QM-W02", f"{new:.0f} jobs would never be dispatched, {old:.0f} before"
    elif item.name == "preempted" and not item.share and thresholds.preemption_growth is not None:
        if new > old * (1 + thresholds.preemption_growth / 100):
            allowed = f"more than {thresholds.preemption_growth:g} %"
            yield "QM-W03", f"preemptions would grow from {old:.0f} to {new:.0f}: {allowed}"
    elif item.name == "utilisation" and loss is not None and (old - new) * 100 > loss:
        yield "QM-W04", f"utilisation would fall from {old:.1%} to {new:.1%}: more than {loss:g} points"


def _figure(share: ShareResult, name: str) -> float | None:
    match name:
        case "wait_mean_s":
            return share.wait_s.mean
        case "wait_p95_s":
            return share.wait_s.p95
        case "undispatched":
            return share.never_dispatched + share.rejected + share.terminated
    return share.preempted
