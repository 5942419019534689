"""The sums and clauses of contract.md, written down a second time from plain lists of jobs.

The scheduler keeps sums incrementally; here everything is counted anew, so that the two can be
compared. Nothing is imported from the ledger, the pass or the victim choice.
"""

from __future__ import annotations

from dataclasses import dataclass

from quota_scheduler import Job, QuotaPolicy, SharingStrategy


def victim_order(job: Job) -> tuple[int, float, int]:
    """Lowest priority first, then latest dispatched."""
    return job.rank, -job.dispatched_at, -job.dispatch_order


@dataclass
class Book:
    """Jobs that hold, as counted under a policy."""

    policy: QuotaPolicy
    holding: list[Job]

    @classmethod
    def of(cls, policy: QuotaPolicy, jobs: list[Job], *, settled: bool = False) -> Book:
        """Count the holding jobs; `settled` leaves out those being stopped."""
        return cls(policy, [j for j in jobs if j.state.holds and not (settled and j.stopping)])

    def plus(self, job: Job) -> Book:
        return Book(self.policy, [*self.holding, job])

    def minus(self, jobs: list[Job]) -> Book:
        return Book(self.policy, [j for j in self.holding if j not in jobs])

    def use(self, share: str, unit: str) -> int:
        return sum(dict(job.demand).get(unit, 0) for job in self.holding if job.share == share)

    def cap(self, share: str, unit: str) -> int:
        return self.policy.share(share).limits.get(unit, 0)

    def over(self, share: str, unit: str) -> int:
        return max(0, self.use(share, unit) - self.cap(share, unit))

    def total(self, unit: str) -> int:
        return sum(self.use(share.name, unit) for share in self.policy.shares)

    def borrowed(self, unit: str) -> int:
        return sum(self.over(share.name, unit) for share in self.policy.shares)

    def lendable(self, unit: str) -> int:
        return sum(
            max(0, self.cap(share.name, unit) - self.use(share.name, unit))
            for share in self.policy.shares
            if share.sharing.strategy is not SharingStrategy.RESERVE
        )

    def entitled(self, job: Job) -> bool:
        return all(self.use(job.share, u) + n <= self.cap(job.share, u) for u, n in job.demand)

    def i1(self, units: list[str]) -> bool:
        return all(self.total(u) <= self.policy.environment.get(u, 0) for u in units)

    def entitled_in(self, job: Job, unit: str) -> bool:
        return self.use(job.share, unit) + dict(job.demand)[unit] <= self.cap(job.share, unit)

    def i2_i3_with(self, job: Job) -> bool:
        """Whether I2 and I3 hold for the share of `job`, in the units it needs, once it holds too."""
        after = QuotaPolicy(self.policy.environment, (self.policy.share(job.share),))
        return Book(after, [*self.holding, job]).i2_i3([unit for unit, _ in job.demand])

    def i2_i3(self, units: list[str] | None = None) -> bool:
        for share in self.policy.shares:
            for unit in units or self.policy.environment:
                cap, ceiling = self.cap(share.name, unit), self.cap(share.name, unit)
                if share.sharing.strategy is SharingStrategy.LEND_AND_BORROW:
                    percent = share.sharing.borrow_limit
                    ceiling = cap * 10**9 if percent == -1 else cap + cap * percent // 100
                if self.use(share.name, unit) > ceiling:
                    return False
        return True

    def i4(self, units: list[str]) -> bool:
        return all(self.borrowed(u) <= self.lendable(u) for u in units)

    def runs(self, job: Job) -> bool:
        """Whether `job` could be added: within its quota or by borrowing."""
        units = [u for u, _ in job.demand]
        after = self.plus(job)
        borrows = self.policy.share(job.share).sharing.strategy is SharingStrategy.LEND_AND_BORROW
        return after.i1(units) and after.i4(units) and (self.entitled(job) or (borrows and self.i2_i3_with(job)))

    def short_units(self, job: Job) -> list[str]:
        """Units in which I1 or I4 would not hold if `job` ran too."""
        after = self.plus(job)
        return [u for u, _ in job.demand if not after.i1([u]) or not after.i4([u])]

    def borrowers_to_stop(self, job: Job) -> list[Job] | None:
        """Choose as *Victims* says: greedily in order, then drop what isn't needed, last picked first."""
        book, picks = self, []
        for holder in sorted(self.holding, key=victim_order):
            short = book.short_units(job)
            if (
                holder.share != job.share
                and holder.state.holds
                and not holder.stopping
                and any(u in short and book.over(holder.share, u) for u, _ in holder.demand)
            ):
                book, picks = book.minus([holder]), [*picks, holder]
        if book.short_units(job):
            return None
        for pick in reversed(picks):
            kept = [p for p in picks if p is not pick]
            if not self.minus(kept).short_units(job):
                picks = kept
        return picks

    def could_serve(self, job: Job) -> bool:
        """Whether own quota, reclaim or borrowing serves `job`."""
        return self.runs(job) or (self.entitled(job) and self.borrowers_to_stop(job) is not None)
