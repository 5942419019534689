"""The RUNNABLE jobs of a share in their order (contract.md section 2).

A heap whose outdated entries are dropped when they come up: adding, removing and
reordering a job cost the logarithm of the number of jobs waiting, and looking at
the front costs nothing.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler.job import Job

__all__ = ["WaitingQueue"]


class WaitingQueue:
    """Jobs by priority, highest first, then by time, then by order of submission."""

    __slots__ = ("_count", "_heap")

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, int, Job]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, job: Job, time: float) -> None:
        """Add `job` with its place among equal priorities given by `time`, in seconds."""
        job.entry = (-job.rank, time, job.sequence, job)
        heapq.heappush(self._heap, job.entry)
        self._count += 1

    def remove(self, job: Job) -> None:
        """Take `job` out, wherever it stands."""
        job.entry = None
        self._count -= 1
        if len(self._heap) > 64 and self._count * 2 < len(self._heap):
            self._heap = [entry for entry in self._heap if entry[3].entry is entry]
            heapq.heapify(self._heap)

    def reorder(self, job: Job) -> None:
        """Give `job` the place its changed priority gives it."""
        if job.entry is not None:
            time = job.entry[1]
            self.remove(job)
            self.add(job, time)

    def front(self) -> Job | None:
        """Return the first job, or None."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if entry[3].entry is entry:
                return entry[3]
            heapq.heappop(heap)
        return None

    def first(self, count: int) -> list[Job]:
        """Return the first `count` jobs in order."""
        return [entry[3] for entry in heapq.nsmallest(count, self._live())]

    def __iter__(self) -> Iterator[Job]:
        """Iterate over all jobs, in no order."""
        return (entry[3] for entry in self._live())

    def _live(self) -> Iterator[tuple[int, float, int, Job]]:
        return (entry for entry in self._heap if entry[3].entry is entry)
