"""A short way to write scheduler scenarios: one unit, shares by one line each."""

from __future__ import annotations

from quota_scheduler import (
    Assumptions,
    Job,
    JobState,
    Outcome,
    QuotaPolicy,
    QuotaShare,
    ResourceSharing,
    RetryStrategy,
    Scheduler,
    TimeLimit,
    make_demand,
)

G5 = "ml.g5.xlarge"

RESERVE = ResourceSharing.reserve()
LEND = ResourceSharing.lend()
BORROW = ResourceSharing.lend_and_borrow()


def share(
    name: str, limit: int | dict[str, int], sharing: ResourceSharing = LEND, in_share: bool = False
) -> QuotaShare:
    return QuotaShare(name, limit if isinstance(limit, dict) else {G5: limit}, sharing, in_share)


class Lab:
    """A scheduler whose time moves when told, and its jobs by id."""

    def __init__(
        self,
        environment: int | dict[str, int],
        *shares: QuotaShare,
        preemption_seconds: float = 0,
        time_limits: tuple[TimeLimit, ...] = (),
        **assumptions: object,
    ) -> None:
        capacity = environment if isinstance(environment, dict) else {G5: environment}
        self.scheduler = Scheduler(
            QuotaPolicy(capacity, shares),
            assumptions=Assumptions(**assumptions),
            preemption_seconds=preemption_seconds,
            time_limits=time_limits,
        )
        self.now = 0.0
        self.outcomes: list[Outcome] = []
        self.made: dict[str, Job] = {}

    def submit(
        self,
        name: str,
        share: str,
        need: int | dict[str, int] = 1,
        priority: int | None = 0,
        *,
        preemption_retries: int | None = None,
        retry: RetryStrategy | None = None,
        timeout: float | None = None,
        run: bool = True,
    ) -> Job:
        demand = make_demand(need if isinstance(need, dict) else {G5: need})
        job = Job(name, share, demand, priority, self.now, 0, preemption_retries, retry, timeout)
        self.scheduler.submit(job, self.now)
        self.made[name] = job
        if run:
            self.run()
        return job

    def run(self) -> list[Outcome]:
        outcomes = self.scheduler.run(self.now)
        self.outcomes += outcomes
        return outcomes

    def wait(self, seconds: float) -> list[Outcome]:
        self.now += seconds
        return self.run()

    def finish(self, name: str) -> None:
        self.scheduler.finish(name)
        self.run()

    @property
    def holding(self) -> set[str]:
        return {job.id for job in self.scheduler.jobs.values() if job.state.holds and not job.stopping}

    @property
    def stopping(self) -> set[str]:
        return {job.id for job in self.scheduler.jobs.values() if job.stopping}

    @property
    def waiting(self) -> set[str]:
        return {job.id for job in self.scheduler.jobs.values() if job.state is JobState.RUNNABLE}

    @property
    def preempted(self) -> list[tuple[str, str]]:
        """Every preemption that started so far: victim and kind, in order."""
        return [(o.job.id, o.preemption.value) for o in self.outcomes if o.kind.value == "preempting"]
