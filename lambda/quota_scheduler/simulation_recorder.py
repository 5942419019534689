"""Watches a simulation and records its timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from quota_scheduler.outcome import OutcomeKind
from quota_scheduler.timeline import PreemptionLink
from quota_scheduler.timeline_builder import TimelineBuilder

if TYPE_CHECKING:
    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.policy import QuotaPolicy
    from quota_scheduler.timeline import Timeline

__all__ = ["SimulationObserver", "SimulationRecorder"]


class SimulationObserver(Protocol):
    """Is told what happens in a simulation, in order of time; times are in seconds."""

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Take note of the policy in force from `now` on: the first one when the simulation begins."""

    def submitted(self, job: Job, now: float) -> None:
        """Take note of a job its share took: it waits."""

    def happened(self, outcome: Outcome) -> None:
        """Take note of what the scheduler reports."""

    def ended(self, job: Job, now: float, *, held: bool) -> None:
        """Take note of a job that did its work, or whose share was deleted; `held` tells whether it held capacity."""


class SimulationRecorder:
    """A :class:`SimulationObserver` that builds a :class:`~quota_scheduler.timeline.Timeline`.

    Memory is bounded by what can hold capacity at a time, not by the number of jobs.
    """

    def __init__(self) -> None:
        self._builder: TimelineBuilder | None = None
        self._end = 0.0
        self._changes: list[tuple[QuotaPolicy, float]] = []
        """Policies that came into force after the last thing that happened."""
        self._since: dict[str, float] = {}
        """When the jobs that hold were dispatched; their own field may be further on already."""
        self._stops: dict[str, Outcome] = {}
        """The preemptions under way, by victim."""

    def timeline(self) -> Timeline:
        """Return what was recorded, up to the last thing that happened; raises RuntimeError where nothing was."""
        if self._builder is None:
            raise RuntimeError("nothing was simulated yet: give this recorder to simulate() first")
        return self._builder.build(self._end)

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Count by `policy` from `now` on."""
        if self._builder is None:
            self._builder, self._end = TimelineBuilder(policy, now), now
        else:
            self._changes.append((policy, now))

    def submitted(self, job: Job, now: float) -> None:
        """Let a job wait."""
        self._at(now).waits(job.share, 1, now)

    def happened(self, outcome: Outcome) -> None:
        """Record a dispatch, a preemption or an end by time limit."""
        kind, job, at = outcome.kind, outcome.job, outcome.at
        if kind is OutcomeKind.DISPATCHED:
            builder = self._at(at)
            builder.waits(job.share, -1, at)
            builder.holds(job.share, job.demand, 1, at)
            builder.dispatched(job.share, at)
            self._since[job.id] = at
        elif kind is OutcomeKind.PREEMPTING:
            self._at(at).preempting(job.share, at)
            self._stops[job.id] = outcome
        elif kind is OutcomeKind.PREEMPTED:
            self._preempted(outcome)
        elif kind is OutcomeKind.TERMINATED:
            self._at(at).waits(job.share, -1, at)

    def ended(self, job: Job, now: float, *, held: bool) -> None:
        """Let a job hold nothing and wait for nothing any more."""
        if held:
            self._at(now).holds(job.share, job.demand, -1, now)
            del self._since[job.id]
            self._stops.pop(job.id, None)
        else:
            self._at(now).waits(job.share, -1, now)

    def _at(self, now: float) -> TimelineBuilder:
        """Return the builder for something that happens now, with the policy in force."""
        assert self._builder is not None, "a simulation begins with its policy"
        for policy, since in self._changes:
            self._builder.adopt(policy, since)
        self._changes.clear()
        self._end = now
        return self._builder

    def _preempted(self, outcome: Outcome) -> None:
        job, at = outcome.job, outcome.at
        builder = self._at(at)
        builder.holds(job.share, job.demand, -1, at)
        if not outcome.after.final:
            builder.waits(job.share, 1, at)
        since, stop = self._since.pop(job.id), self._stops.pop(job.id)
        if stop.decision is None or stop.preemption is None:
            return
        instances = sum(count for _, count in job.demand)
        builder.link(
            PreemptionLink(
                decided=stop.at,
                stopped=at,
                kind=stop.preemption,
                victim=job.id,
                victim_share=job.share,
                beneficiary=stop.decision.job,
                beneficiary_share=stop.decision.share,
                instances=instances,
                instance_s=instances * (at - since),
                failed=outcome.after.final,
            )
        )
