"""Random policies, and random calls that drive a scheduler through everything it can meet."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, Any

from quota_scheduler import (
    Assumptions,
    ExitRule,
    HeadOfLine,
    Job,
    JobState,
    QuotaPolicy,
    QuotaShare,
    ResourceSharing,
    RetryStrategy,
    Scheduler,
    TimeLimit,
    make_demand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["UNITS", "digests", "new_scheduler", "random_call", "seen"]

UNITS = ("ml.g5.xlarge", "ml.p5.48xlarge")
SHARING = (
    ResourceSharing.lend_and_borrow(),
    ResourceSharing.lend_and_borrow(limit_percent=100),
    ResourceSharing.lend(),
    ResourceSharing.reserve(),
)
RETRY = RetryStrategy(3, (ExitRule("RETRY", "oops*"), ExitRule("EXIT", "*")))
LIMIT = TimeLimit("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", 600)
HAPPENED = ("at", "kind", "before", "after", "reason", "decision", "preemption")
SHOWN = ("state", "stopping", "blocked", "priority", "preemptions", "attempts_used", "dispatched_at", "dispatch_order")


def new_scheduler(draw: random.Random, head_of_line: HeadOfLine, preemption_seconds: float) -> Scheduler:
    """Return a scheduler under a random policy, without jobs."""
    shares = tuple(random_share(draw, f"S{index}") for index in range(draw.randint(2, 4)))
    return Scheduler(
        random_policy(draw, shares),
        assumptions=Assumptions(head_of_line=head_of_line),
        preemption_seconds=preemption_seconds,
        time_limits=(LIMIT,),
    )


def random_share(draw: random.Random, name: str) -> QuotaShare:
    limits = {unit: draw.randint(1, 6) for unit in UNITS[: draw.choice((1, 2))]}
    return QuotaShare(name, limits, draw.choice(SHARING), in_share_preemption=draw.random() < 0.6)


def random_policy(draw: random.Random, shares: tuple[QuotaShare, ...]) -> QuotaPolicy:
    assigned = {unit: sum(share.limits.get(unit, 0) for share in shares) for unit in UNITS}
    return QuotaPolicy({unit: max(1, count + draw.randint(-1, 2)) for unit, count in assigned.items()}, shares)


def random_change(draw: random.Random, number: int, policy: QuotaPolicy) -> QuotaPolicy:
    """Return a policy with a share deleted, changed, added, or brought back under its name."""
    shares = list(policy.shares)
    if len(shares) > 2 and draw.random() < 0.5:
        shares.remove(draw.choice(shares))
    name = draw.choice([f"S{draw.randrange(4)}", f"N{number}"])
    others = [share for share in shares if share.name != name]
    return random_policy(draw, (*others, random_share(draw, name)))


def random_call(draw: random.Random, number: int, scheduler: Scheduler, now: float) -> Callable[[Scheduler], object]:
    """Choose something to do, by the jobs `scheduler` has, that can be done to each of two equal ones."""
    holding = sorted(job.id for job in scheduler.jobs.values() if job.state.holds)
    anyone = sorted(scheduler.jobs)
    choice = draw.random()
    if choice < 0.5 or not anyone:
        share = draw.choice(scheduler.policy.shares)
        units = draw.sample(sorted(share.limits), draw.randint(1, len(share.limits)))
        demand = make_demand({unit: draw.choice((1, 1, 2, 3, 9)) for unit in units})
        values: Any = (draw.randint(0, 3), now, 0, draw.choice((None, 0, 2)), RETRY, draw.choice((None, 40.0)))
        return lambda it: it.submit(Job(f"j{number}", share.name, demand, *values), now)
    if choice < 0.6 and holding:
        job = draw.choice(holding)
        return lambda it: it.finish(job)
    if choice < 0.7 and holding:
        job, reason = draw.choice(holding), draw.choice(("oops", "worse"))
        return lambda it: it.fail(job, now, reason)
    if choice < 0.75 and holding:
        job = draw.choice(holding)
        return lambda it: it.lack_capacity(job, now, now + 30)
    if choice < 0.85 and holding:
        job = draw.choice(holding)
        return lambda it: it.progress(job, JobState.RUNNING, now)
    if choice < 0.92:
        job, priority = draw.choice(anyone), draw.randint(0, 5)
        return lambda it: it.set_priority(job, priority)
    if choice < 0.95:
        job = draw.choice(anyone)
        return lambda it: it.terminate(job)
    if choice < 0.97:
        paused = not scheduler.paused
        return lambda it: setattr(it, "paused", paused)
    policy = random_change(draw, number, scheduler.policy)
    return lambda it: it.set_policy(policy)


def seen(scheduler: Scheduler, now: float) -> object:
    """Return what a user can see of a scheduler, once it has run; jobs by their ids."""
    outcomes = [(outcome.job.id, [getattr(outcome, name) for name in HAPPENED]) for outcome in scheduler.run(now)]
    jobs = [(job.id, [getattr(job, name) for name in SHOWN]) for job in scheduler.jobs.values()]
    state = scheduler.state
    shares = [(state.ledger.standings(name), share.has_claim()) for name, share in state.shares.items()]
    return outcomes, jobs, shares, scheduler.next_due()


def digests(histories: int = 40, steps: int = 120) -> Iterator[str]:
    """Digest what a scheduler shows after every step of some histories, to hold two builds of it against each other."""
    for seed in range(histories):
        draw = random.Random(seed)
        scheduler, now = new_scheduler(draw, draw.choice(list(HeadOfLine)), draw.choice((0, 20))), 0.0
        for number in range(steps):
            random_call(draw, number, scheduler, now)(scheduler)
            now += draw.choice((0, 0, 5, 20, 300))
            shown = repr(seen(scheduler, now))
            yield f"{seed} {number} {hashlib.sha256(shown.encode()).hexdigest()[:16]}"
