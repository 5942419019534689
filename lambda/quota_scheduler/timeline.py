"""What shares use, lend, leave idle and let wait in the course of time: the curves a report draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quota_scheduler.job_state import PreemptionKind

__all__ = ["CapacityCurves", "PreemptionLink", "ShareCurves", "Timeline"]


class CapacityCurves(NamedTuple):
    """One capacity unit of one share, in instance-seconds for each stretch (contract.md section 1).

    Attributes
    ----------
    own : list of float
        Used within the capacity limit.
    borrowed : list of float
        Used beyond it.
    reserved_idle, lendable_idle : list of float
        What is left of the limit, while the share's strategy keeps it back, and while it lends it.
    """

    own: list[float]
    borrowed: list[float]
    reserved_idle: list[float]
    lendable_idle: list[float]


class ShareCurves(NamedTuple):
    """The jobs of one share.

    Attributes
    ----------
    waiting : list of float
        Job-seconds in RUNNABLE for each stretch.
    dispatches, preempted : list of float
        How many there were in each stretch; a preemption counts when it starts.
    """

    waiting: list[float]
    dispatches: list[float]
    preempted: list[float]


class PreemptionLink(NamedTuple):
    """A preemption, from its victim to the job it was decided for.

    Attributes
    ----------
    decided, stopped : float
        When it was decided and when the victim had stopped, in seconds.
    kind : PreemptionKind
    victim, victim_share : str
    beneficiary, beneficiary_share : str
        Empty where limits were lowered and nobody claims.
    instances : int
    instance_s : float
        Instance-seconds the victim had held since its dispatch.
    failed : bool
        Whether that was its last retry.
    """

    decided: float
    stopped: float
    kind: PreemptionKind
    victim: str
    victim_share: str
    beneficiary: str
    beneficiary_share: str
    instances: int
    instance_s: float
    failed: bool


@dataclass(frozen=True)
class Timeline:
    """Curves over equal stretches of time; the last stretch ends early, at `end`.

    Attributes
    ----------
    start, end, width : float
        Seconds.
    capacity : dict of (str, str) to CapacityCurves
        By share and unit.
    shares : dict of str to ShareCurves
    environment : list of float
        Instance-seconds the environment had, of all units.
    links : tuple of PreemptionLink
        In order of time: those that stopped the most work, where there were too many to keep.
    links_left_out : int
        How many preemptions aren't among them.
    """

    start: float
    end: float
    width: float
    capacity: dict[tuple[str, str], CapacityCurves]
    shares: dict[str, ShareCurves]
    environment: list[float]
    links: tuple[PreemptionLink, ...] = ()
    links_left_out: int = 0

    def edges(self) -> list[float]:
        """Return where the stretches begin, and `end`, in seconds."""
        return [self.start + index * self.width for index in range(len(self.environment))] + [self.end]

    def means(self, curve: Sequence[float]) -> list[float]:
        """Return a curve's mean in each stretch: instances of instance-seconds, jobs of job-seconds."""
        edges = self.edges()
        lengths = [until - since for since, until in pairwise(edges)]
        return [total / length if length else 0.0 for total, length in zip(curve, lengths, strict=True)]

    def used(self) -> list[float]:
        """Return what all shares used, in instance-seconds for each stretch."""
        curves = [curve for capacity in self.capacity.values() for curve in (capacity.own, capacity.borrowed)]
        return [sum(values) for values in zip(*curves, strict=True)] if curves else [0.0] * len(self.environment)

    def utilisation(self) -> list[float]:
        """Return the part of the environment's capacity that was used, for each stretch."""
        return [used / had if had else 0.0 for used, had in zip(self.used(), self.environment, strict=True)]

    def coarser(self, limit: int) -> Timeline:
        """Return the same over at most `limit` stretches."""
        factor = -(-len(self.environment) // limit)

        def merge(curve: list[float]) -> list[float]:
            return [sum(curve[index : index + factor]) for index in range(0, len(curve), factor)]

        return replace(
            self,
            width=self.width * factor,
            capacity={key: CapacityCurves(*map(merge, curves)) for key, curves in self.capacity.items()},
            shares={name: ShareCurves(*map(merge, curves)) for name, curves in self.shares.items()},
            environment=merge(self.environment),
        )
