"""The RUNNABLE jobs of a share in their order (contract.md section 2).

A heap whose outdated entries are dropped as soon as one of them would be the first: adding,
removing and reordering a job cost the logarithm of the number of jobs waiting, and looking at
the front costs nothing.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, nsmallest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler.job import Entry, Job

__all__ = ["WaitingQueue"]


class WaitingQueue:
    """Jobs by priority, highest first, then by time, then by order of submission.

    Attributes
    ----------
    front : Job or None
        The first job.
    """

    __slots__ = ("_gone", "_heap", "front")

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._gone = 0
        self.front: Job | None = None

    def __len__(self) -> int:
        return len(self._heap) - self._gone

    def add(self, job: Job, time: float) -> None:
        """Add `job` with its place among equal priorities given by `time`, in seconds."""
        entry: Entry = (-(job.priority or 0), time, job.sequence, job.id, job)
        job.entry = entry
        heap = self._heap
        heappush(heap, entry)
        if heap[0] is entry:
            self.front = job

    def remove(self, job: Job) -> None:
        """Take `job` out, wherever it stands."""
        job.entry = None
        heap = self._heap
        if self.front is job:
            heappop(heap)
            while heap and heap[0][4].entry is not heap[0]:
                heappop(heap)
                self._gone -= 1
            self.front = heap[0][4] if heap else None
        else:
            self._gone += 1
            if self._gone > 32 and self._gone * 2 > len(heap):
                self._heap = list(self._live())
                heapify(self._heap)
                self._gone = 0

    def reorder(self, job: Job) -> None:
        """Give `job` the place its changed priority gives it."""
        if job.entry is not None:
            time = job.entry[1]
            self.remove(job)
            self.add(job, time)

    def first(self, count: int) -> list[Job]:
        """Return the first `count` jobs in order."""
        return [entry[4] for entry in nsmallest(count, self._live())]

    def __iter__(self) -> Iterator[Job]:
        """Iterate over all jobs, in no order."""
        return (entry[4] for entry in self._live())

    def _live(self) -> Iterator[Entry]:
        return (entry for entry in self._heap if entry[4].entry is entry)
