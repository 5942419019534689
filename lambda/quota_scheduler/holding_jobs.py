"""The jobs of a share that hold capacity, in the order in which they would be stopped (assumption A10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quota_scheduler.job import Job

__all__ = ["HoldingJobs"]

_NONE: Final = float("inf")


class HoldingJobs:
    """Jobs by priority, lowest first, then by dispatch.

    Jobs are mostly dispatched one after the other, so each priority keeps its jobs in that order and
    adding or removing one costs the same however many there are.

    Parameters
    ----------
    newest_first : bool
        Whether of equal priorities the latest dispatched comes first, or the earliest.

    Attributes
    ----------
    lowest : float
        Lowest priority there is; infinite without jobs.
    """

    __slots__ = ("_by_rank", "_latest", "_newest_first", "lowest")

    def __init__(self, newest_first: bool) -> None:
        self._newest_first = newest_first
        self._by_rank: dict[int, dict[Job, None]] = {}
        self._latest = -_NONE
        self.lowest = _NONE

    def add(self, job: Job) -> None:
        """Add a job that was just dispatched; one that was dispatched before others takes its place among them."""
        rank = job.rank
        jobs = self._by_rank.get(rank)
        if jobs is None:
            jobs = self._by_rank[rank] = {}
            if rank < self.lowest:
                self.lowest = float(rank)
        jobs[job] = None
        if job.dispatched_at >= self._latest:
            self._latest = job.dispatched_at
        else:
            self._by_rank[rank] = dict.fromkeys(sorted(jobs, key=_dispatch))

    def remove(self, job: Job) -> None:
        """Take a job out."""
        rank = job.rank
        jobs = self._by_rank[rank]
        del jobs[job]
        if not jobs:
            del self._by_rank[rank]
            if rank == self.lowest:
                self.lowest = min(self._by_rank, default=_NONE)

    def set_priority(self, job: Job, priority: int) -> None:
        """Change the priority of a job that holds."""
        self.remove(job)
        job.priority = priority
        latest, self._latest = self._latest, _NONE  # it belongs among those dispatched when it was
        self.add(job)
        self._latest = latest

    def ranks(self) -> Iterable[int]:
        """Return the priorities there are, in no order."""
        return self._by_rank

    def of_rank(self, rank: int) -> Iterator[Job]:
        """Iterate over the jobs of one priority, the next victim first."""
        jobs = self._by_rank.get(rank, {})
        return reversed(jobs) if self._newest_first else iter(jobs)

    def __iter__(self) -> Iterator[Job]:
        """Iterate over all jobs, the next victim first."""
        for rank in sorted(self._by_rank):
            yield from self.of_rank(rank)


def _dispatch(job: Job) -> tuple[float, int]:
    return job.dispatched_at, job.dispatch_order
