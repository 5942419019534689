"""Counts what happens in a simulation, and sums it up."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from quota_scheduler.action import Rule
from quota_scheduler.capacity_meter import CapacityMeter
from quota_scheduler.simulation_result import ShareResult, SimulationResult, Spread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.policy import QuotaPolicy
    from quota_scheduler.workload import WorkloadJob

__all__ = ["ResultBuilder"]


class _Tally:
    """What is counted of one share."""

    __slots__ = ("blocked", "finished", "jobs", "lost", "preempted", "reclaim_s", "rejected", "terminated", "waits")

    def __init__(self) -> None:
        self.jobs = self.finished = self.rejected = self.terminated = self.preempted = 0
        self.lost = 0.0
        self.waits: list[float] = []
        self.reclaim_s: list[float] = []
        self.blocked: set[str] = set()


class ResultBuilder:
    """Collects what happens in a simulation; every event costs the same, however many jobs there are.

    Parameters
    ----------
    policy : QuotaPolicy
    now : float
        When the simulation begins, in seconds.
    """

    def __init__(self, policy: QuotaPolicy, now: float) -> None:
        self._start = self._last_event = now
        self._meter = CapacityMeter(now)
        self._tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
        self._kinds = {"cross-share": 0, "in-share": 0}
        self._failed = 0
        self._reclaims: dict[str, float] = {}
        """When capacity was taken back for a job that doesn't have it yet."""
        self.adopt(policy, now)

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Count by `policy` from `now` on, in seconds; shares that are gone have limits of 0."""
        self._meter.adopt(policy, now)

    def submitted(self, jobs: Iterable[WorkloadJob]) -> None:
        """Count submissions."""
        for share, count in Counter(job.share for job in jobs).items():
            self._tallies[share].jobs += count

    def dispatched(self, job: Job, now: float, *, first: bool) -> None:
        """Count a dispatch, and the wait where it is the first."""
        self._last_event = now
        self._meter.change(job.share, job.demand, 1, now)
        if first:
            self._tallies[job.share].waits.append(now - job.created)
        if self._reclaims:
            since = self._reclaims.pop(job.id, None)
            if since is not None:
                self._tallies[job.share].reclaim_s.append(now - since)

    def released(self, job: Job, now: float) -> None:
        """Count that `job` holds nothing any more."""
        self._last_event = now
        self._meter.change(job.share, job.demand, -1, now)

    def preempting(self, job: Job, outcome: Outcome) -> None:
        """Count a preemption that starts."""
        if outcome.preemption is not None:
            self._kinds[outcome.preemption.value] += 1
        self._tallies[job.share].preempted += 1
        if outcome.decision is not None and outcome.decision.rule is Rule.RECLAIM:
            self._reclaims.setdefault(outcome.decision.job, outcome.at)

    def lost(self, job: Job, seconds: float) -> None:
        """Count work of `job` that was done in vain, in seconds of all its instances."""
        self._tallies[job.share].lost += seconds * sum(count for _, count in job.demand)

    def finished(self, job: Job, now: float) -> None:
        """Count a job that ended by itself."""
        self._last_event = now
        self._meter.change(job.share, job.demand, -1, now)
        self._tallies[job.share].finished += 1

    def failed(self) -> None:
        """Count a job that ran out of preemption retries."""
        self._failed += 1

    def rejected(self, share: str) -> None:
        """Count a job that `share` doesn't take."""
        self._tallies[share].rejected += 1

    def terminated(self, job: Job) -> None:
        """Count a job that was ended from outside."""
        self._tallies[job.share].terminated += 1

    def blocked(self, job: Job) -> None:
        """Count a job that can never run, once."""
        self._tallies[job.share].blocked.add(job.id)

    def build(self) -> SimulationResult:
        """Sum up."""
        meter, tallies = self._meter, self._tallies
        meter.add_up(self._last_event)
        shares = {name: self._share_result(name) for name in dict.fromkeys([*meter.shares(), *tallies])}
        return SimulationResult(
            jobs=sum(share.jobs for share in shares.values()),
            finished=sum(share.finished for share in shares.values()),
            failed=self._failed,
            blocked=sum(share.blocked for share in shares.values()),
            never_dispatched=sum(share.never_dispatched for share in shares.values()),
            rejected=sum(share.rejected for share in shares.values()),
            terminated=sum(share.terminated for share in shares.values()),
            span_s=self._last_event - self._start,
            utilisation=meter.held_s() / meter.capacity_s if meter.capacity_s else 0.0,
            preemptions=self._kinds,
            lost_instance_s=sum(share.lost_instance_s for share in shares.values()),
            borrowed_instance_s=sum(share.borrowed_instance_s for share in shares.values()),
            lent_instance_s=sum(share.lent_instance_s for share in shares.values()),
            reclaim_s=Spread.of([seconds for tally in tallies.values() for seconds in tally.reclaim_s]),
            wait_s=Spread.of([wait for tally in tallies.values() for wait in tally.waits]),
            shares=shares,
        )

    def _share_result(self, name: str) -> ShareResult:
        tally = self._tallies[name]
        return ShareResult(
            jobs=tally.jobs,
            finished=tally.finished,
            wait_s=Spread.of(tally.waits),
            never_dispatched=tally.jobs - tally.rejected - len(tally.waits),
            blocked=len(tally.blocked),
            rejected=tally.rejected,
            terminated=tally.terminated,
            reclaim_s=Spread.of(tally.reclaim_s),
            borrowed_instance_s=self._meter.borrowed_s(name),
            lent_instance_s=self._meter.lent_s(name),
            preempted=tally.preempted,
            lost_instance_s=tally.lost,
        )
