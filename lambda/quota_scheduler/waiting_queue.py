"""The RUNNABLE jobs of a share in their order (contract.md section 2).

A heap whose outdated entries are dropped as soon as one of them would be the first: adding,
removing and reordering a job cost the logarithm of the number of jobs waiting, and looking at
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
    """Jobs by priority, highest first, then by time, then by order of submission.

    Attributes
    ----------
    front : Job or None
        The first job.
    """

    __slots__ = ("_count", "_heap", "front")

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, int, Job]] = []
        self._count = 0
        self.front: Job | None = None

    def __len__(self) -> int:
        return self._count

    def add(self, job: Job, time: float) -> None:
        """Add `job` with its place among equal priorities given by `time`, in seconds."""
        job.entry = entry = (-job.rank, time, job.sequence, job)
        heap = self._heap
        heapq.heappush(heap, entry)
        self._count += 1
        if heap[0] is entry:
            self.front = job

    def remove(self, job: Job) -> None:
        """Take `job` out, wherever it stands."""
        job.entry = None
        self._count -= 1
        heap = self._heap
        while heap and heap[0][3].entry is not heap[0]:
            heapq.heappop(heap)
        self.front = heap[0][3] if heap else None
        if len(heap) > 64 and self._count * 2 < len(heap):
            self._heap = [entry for entry in heap if entry[3].entry is entry]
            heapq.heapify(self._heap)

    def reorder(self, job: Job) -> None:
        """Give `job` the place its changed priority gives it."""
        if job.entry is not None:
            time = job.entry[1]
            self.remove(job)
            self.add(job, time)

    def first(self, count: int) -> list[Job]:
        """Return the first `count` jobs in order."""
        return [entry[3] for entry in heapq.nsmallest(count, self._live())]

    def __iter__(self) -> Iterator[Job]:
        """Iterate over all jobs, in no order."""
        return (entry[3] for entry in self._live())

    def _live(self) -> Iterator[tuple[int, float, int, Job]]:
        return (entry for entry in self._heap if entry[3].entry is entry)
