"""What a simulation measured, per share and in all."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quota_scheduler.scheduling_pass import Rule

if TYPE_CHECKING:
    from quota_scheduler.demand import Demand
    from quota_scheduler.job import Job
    from quota_scheduler.outcome import Outcome
    from quota_scheduler.policy import QuotaPolicy

__all__ = ["ResultBuilder", "ShareResult", "SimulationResult", "Spread"]


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


class _Meter:
    """Running integrals of one share and unit."""

    __slots__ = ("borrowed", "lends", "lent", "limit", "pool_integral", "since", "use")

    def __init__(self, now: float, pool_integral: float) -> None:
        self.limit = 0
        self.lends = False
        self.use = 0
        self.since = now
        self.borrowed = 0.0
        self.lent = 0.0
        self.pool_integral = pool_integral

    @property
    def over(self) -> int:
        return max(0, self.use - self.limit)

    @property
    def idle(self) -> int:
        return max(0, self.limit - self.use)

    def advance(self, now: float, pool_integral: float) -> None:
        """Add up since the last change; of what is lent, the share's part is its part of all that is lendable."""
        self.borrowed += self.over * (now - self.since)
        if self.lends:
            self.lent += self.idle * (pool_integral - self.pool_integral)
        self.since = now
        self.pool_integral = pool_integral


class _Pool:
    """Of one unit: what is borrowed and lendable now, and the integral of their ratio."""

    __slots__ = ("borrowed", "held", "integral", "lendable", "since", "total")

    def __init__(self, now: float) -> None:
        self.lendable = 0
        self.borrowed = 0
        self.total = 0
        self.held = 0.0
        self.integral = 0.0
        self.since = now

    def advance(self, now: float) -> None:
        elapsed = now - self.since
        if elapsed:
            self.since = now
            self.held += self.total * elapsed
            if self.borrowed and self.lendable:
                self.integral += self.borrowed / self.lendable * elapsed


class ResultBuilder:
    """Collects what happens in a simulation; every event costs the same, however many jobs there are.

    Parameters
    ----------
    policy : QuotaPolicy
    """

    def __init__(self, policy: QuotaPolicy) -> None:
        self._policy = policy
        self._capacity_s = self._capacity_since = 0.0
        self._start = self.last_event = 0.0
        self._jobs: Counter[str] = Counter()
        self._waits: defaultdict[str, list[float]] = defaultdict(list)
        self._finished: Counter[str] = Counter()
        self._preempted: Counter[str] = Counter()
        self._lost: defaultdict[str, float] = defaultdict(float)
        self._kinds: Counter[str] = Counter({"cross-share": 0, "in-share": 0})
        self._failed = 0
        self._rejected: Counter[str] = Counter()
        self._terminated: Counter[str] = Counter()
        self._blocked: dict[str, str] = {}
        """Share of each job that can never run."""
        self._reclaims: dict[str, float] = {}
        self._reclaim_s: defaultdict[str, list[float]] = defaultdict(list)
        self._meters: dict[str, dict[str, _Meter]] = {}
        self._pools: dict[str, _Pool] = {}

    def begin(self, now: float) -> None:
        """Start measuring at `now`, in seconds."""
        self._start = self.last_event = self._capacity_since = now
        self.adopt(self._policy, now)

    def adopt(self, policy: QuotaPolicy, now: float) -> None:
        """Count by `policy` from `now` on, in seconds; shares that are gone have limits of 0."""
        self._add_up(now)
        self._policy = policy
        for unit in policy.environment:
            self._pools.setdefault(unit, _Pool(now))
        shares = {share.name: share for share in policy.shares}
        for name in [*self._meters, *(name for name in shares if name not in self._meters)]:
            share, meters = shares.get(name), self._meters.setdefault(name, {})
            for unit, pool in self._pools.items():
                meter = meters.setdefault(unit, _Meter(now, pool.integral))
                meter.limit = share.limits.get(unit, 0) if share is not None else 0
                meter.lends = share is not None and share.sharing.lends
        for unit, pool in self._pools.items():
            meters_of_unit = [meters[unit] for meters in self._meters.values()]
            pool.borrowed = sum(meter.over for meter in meters_of_unit)
            pool.lendable = sum(meter.idle for meter in meters_of_unit if meter.lends)

    def _add_up(self, now: float) -> None:
        """Bring every integral up to `now`."""
        self._capacity_s += sum(self._policy.environment.values()) * (now - self._capacity_since)
        self._capacity_since = now
        for pool in self._pools.values():
            pool.advance(now)
        for meters in self._meters.values():
            for unit, meter in meters.items():
                meter.advance(now, self._pools[unit].integral)

    def submitted(self, share: str) -> None:
        """Count a submission."""
        self._jobs[share] += 1

    def dispatched(self, job: Job, outcome: Outcome) -> None:
        """Count a dispatch, and the wait where it was the first."""
        self._move(job.share, job.demand, 1, outcome.at)
        if not job.preemptions:
            self._waits[job.share].append(outcome.at - job.created)
        if self._reclaims:
            since = self._reclaims.pop(job.id, None)
            if since is not None:
                self._reclaim_s[job.share].append(outcome.at - since)

    def released(self, job: Job, now: float) -> None:
        """Count that `job` holds nothing any more."""
        self._move(job.share, job.demand, -1, now)

    def preempting(self, job: Job, outcome: Outcome) -> None:
        """Count a preemption that starts."""
        if outcome.preemption is not None:
            self._kinds[outcome.preemption.value] += 1
        self._preempted[job.share] += 1
        if outcome.decision is not None and outcome.decision.rule is Rule.RECLAIM:
            self._reclaims.setdefault(outcome.decision.job, outcome.at)

    def lost(self, job: Job, seconds: float) -> None:
        """Count work of `job` that was done in vain, in seconds of all its instances."""
        self._lost[job.share] += seconds * sum(count for _, count in job.demand)

    def finished(self, job: Job) -> None:
        """Count a job that ended by itself."""
        self._finished[job.share] += 1

    def failed(self) -> None:
        """Count a job that ran out of preemption retries."""
        self._failed += 1

    def rejected(self, share: str) -> None:
        """Count a job that `share` doesn't take."""
        self._rejected[share] += 1

    def terminated(self, job: Job) -> None:
        """Count a job that was ended from outside."""
        self._terminated[job.share] += 1

    def blocked(self, job: Job) -> None:
        """Count a job that can never run, once."""
        self._blocked[job.id] = job.share

    def build(self) -> SimulationResult:
        """Sum up."""
        self._add_up(self.last_event)
        blocked = Counter(self._blocked.values())
        shares = {name: self._share_result(name, blocked[name]) for name in {**self._meters, **self._jobs}}
        held = sum(pool.held for pool in self._pools.values())
        return SimulationResult(
            jobs=self._jobs.total(),
            finished=self._finished.total(),
            failed=self._failed,
            blocked=blocked.total(),
            never_dispatched=sum(share.never_dispatched for share in shares.values()),
            rejected=self._rejected.total(),
            terminated=self._terminated.total(),
            span_s=self.last_event - self._start,
            utilisation=held / self._capacity_s if self._capacity_s else 0.0,
            preemptions=dict(self._kinds),
            lost_instance_s=sum(self._lost.values()),
            borrowed_instance_s=sum(share.borrowed_instance_s for share in shares.values()),
            lent_instance_s=sum(share.lent_instance_s for share in shares.values()),
            reclaim_s=Spread.of(list(chain.from_iterable(self._reclaim_s.values()))),
            wait_s=Spread.of(list(chain.from_iterable(self._waits.values()))),
            shares=shares,
        )

    def _share_result(self, name: str, blocked: int) -> ShareResult:
        meters = self._meters.get(name, {}).values()
        return ShareResult(
            jobs=self._jobs[name],
            finished=self._finished[name],
            wait_s=Spread.of(self._waits[name]),
            never_dispatched=self._jobs[name] - self._rejected[name] - len(self._waits[name]),
            blocked=blocked,
            rejected=self._rejected[name],
            terminated=self._terminated[name],
            reclaim_s=Spread.of(self._reclaim_s[name]),
            borrowed_instance_s=sum(meter.borrowed for meter in meters),
            lent_instance_s=sum(meter.lent for meter in meters),
            preempted=self._preempted[name],
            lost_instance_s=self._lost[name],
        )

    def _move(self, share: str, demand: Demand, sign: int, now: float) -> None:
        self.last_event = now
        meters = self._meters[share]
        for unit, count in demand:
            pool, meter = self._pools[unit], meters[unit]
            pool.advance(now)
            meter.advance(now, pool.integral)
            over, idle = meter.over, meter.idle
            meter.use += sign * count
            pool.total += sign * count
            pool.borrowed += meter.over - over
            if meter.lends:
                pool.lendable += meter.idle - idle
