"""Contract.md section 3 a second time, word for word and without thrift, to hold the pass against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.book import Book, victim_order

from quota_scheduler import Job, JobState, PreemptionKind

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy
    from quota_scheduler.queue_state import QueueState

Expected = tuple[str, Job, tuple[tuple[Job, PreemptionKind], ...], set[Job]]


class Contract:
    """What a pass must do in a state, with our default assumptions."""

    def __init__(self, state: QueueState, jobs: list[Job]) -> None:
        self.policy: QuotaPolicy = state.policy
        self.jobs = jobs
        self.now = Book.of(self.policy, jobs)
        self.settled = Book.of(self.policy, jobs, settled=True)
        self.victims_of: dict[str, list[Job]] = {share.name: [] for share in self.policy.shares}
        for job, lane in state.stopping.items():
            if lane is not None:
                self.victims_of.setdefault(lane.share, []).append(job)

    def front(self, share: str) -> Job | None:
        waiting = [job for job in self.jobs if job.state is JobState.RUNNABLE and job.share == share]
        front = min(waiting, key=lambda job: (-job.rank, job.created, job.sequence, job.id), default=None)
        return None if front is None or front.blocked else front

    def next_action(self) -> Expected | None:
        fronts = [front for share in self.policy.shares if (front := self.front(share.name)) is not None]
        fronts.sort(key=lambda job: (job.created, -job.rank, job.sequence, job.id))
        for step in (self.own_quota, self.reclaim, self.borrow, self.in_share):
            for job in fronts:
                action = step(job)
                if action is not None:
                    return action
        return None

    def later(self, share: str, *, borrowing: bool) -> Book:
        """Return the settled book with what others claim."""
        book = self.settled
        for other, victims in self.victims_of.items():
            front = self.front(other)
            if other != share and victims and front is not None and (borrowing or self.settled.entitled(front)):
                book = book.plus(front)
        return book

    def own_quota(self, job: Job) -> Expected | None:
        later = self.later(job.share, borrowing=False)
        if self.now.entitled(job) and not self.now.short_units(job) and not later.short_units(job):
            return "own-quota", job, (), set()
        return None

    def reclaim(self, job: Job) -> Expected | None:
        if not self.now.entitled(job):
            return None
        plan = self.plan(job, self.later(job.share, borrowing=False))
        if plan is None or plan == ([], []):
            return None
        victims, taken_over = plan
        return "reclaim", job, tuple((v, PreemptionKind.CROSS_SHARE) for v in victims), set(taken_over)

    def plan(self, job: Job, book: Book) -> tuple[list[Job], list[Job]] | None:
        victims = book.borrowers_to_stop(job)
        if victims is None:
            return None
        of_borrowers = []
        for share, stopping in self.victims_of.items():
            front = self.front(share)
            if share != job.share and (front is None or not self.settled.entitled(front)):
                of_borrowers += stopping
        still_holding = book
        for victim in of_borrowers:
            still_holding = still_holding.plus(victim)
        short = still_holding.short_units(job)
        return victims, [v for v in of_borrowers if any(unit in short for unit, _ in v.demand)]

    def borrows(self, job: Job) -> bool:
        return self.policy.share(job.share).sharing.borrows

    def borrow(self, job: Job) -> Expected | None:
        if self.now.entitled(job) or not self.borrows(job):
            return None
        books = (self.now, self.later(job.share, borrowing=True))
        if all(not book.short_units(job) and book.i2_i3_with(job) for book in books):
            return "borrow", job, (), set()
        return None

    def in_share(self, job: Job) -> Expected | None:
        if not self.policy.share(job.share).in_share_preemption or self.victims_of[job.share]:
            return None
        if self.serves(job, []):
            return None
        book = self.later(job.share, borrowing=False)
        lower = [h for h in book.holding if h.share == job.share and h.rank < job.rank and h.state.holds]
        picks: list[Job] = []
        for holder in sorted(lower, key=victim_order):
            without = book.minus(picks)
            needed = [
                unit
                for unit, count in job.demand
                if not without.entitled_in(job, unit) or unit in without.short_units(job)
            ]
            if any(unit in needed for unit, _ in holder.demand):
                picks.append(holder)
                if self.serves(job, picks):
                    break
        else:
            return None
        for pick in reversed(picks):
            kept = [other for other in picks if other is not pick]
            if self.serves(job, kept):
                picks = kept
        others, taken_over = self.plan(job, book.minus(picks)) if book.minus(picks).entitled(job) else ([], [])
        victims = [(v, PreemptionKind.IN_SHARE) for v in picks] + [(v, PreemptionKind.CROSS_SHARE) for v in others]
        return "in-share", job, tuple(victims), set(taken_over)

    def serves(self, job: Job, gone: list[Job]) -> bool:
        """Whether 1, 2 or 3 can serve `job` once everything under way is done and `gone` have stopped."""
        book = self.later(job.share, borrowing=False).minus(gone)
        if book.entitled(job):
            return self.plan(job, book) is not None
        book = self.later(job.share, borrowing=True).minus(gone)
        return self.borrows(job) and not book.short_units(job) and book.i2_i3_with(job)
