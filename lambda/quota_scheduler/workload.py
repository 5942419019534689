"""Workloads: the jobs a simulation submits, and an account of the rows they were read from."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from quota_scheduler.value_rules import MAX_PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quota_scheduler.demand import Demand

__all__ = ["RowReport", "Workload", "WorkloadJob", "hashed_priority"]


class WorkloadJob(NamedTuple):
    """A job to be submitted.

    Attributes
    ----------
    id, share : str
    submit : float
        Seconds.
    duration : float
        Seconds of work, without interruption.
    demand : Demand
        Instances per unit.
    priority : int or None
    preemption_retries : int or None
        ``preemptionRetriesBeforeTermination``.
    """

    id: str
    share: str
    submit: float
    duration: float
    demand: Demand
    priority: int | None = None
    preemption_retries: int | None = None


@dataclass
class RowReport:
    """How many rows of a trace were used, mended or left out, and why.

    Attributes
    ----------
    read, used, fixed : int
        Rows read; those used, mended or not; and those mended.
    fixed_reasons, skipped : Counter of str
        How often each mending was done, several of one row counted each, and how many rows were left out for
        each reason. ``read`` is ``used`` and all that is ``skipped``.
    """

    read: int = 0
    used: int = 0
    fixed: int = 0
    fixed_reasons: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def to_document(self) -> dict[str, Any]:
        """Return the ``rows`` part of ``batch-quota simulate --json``."""
        return {
            "read": self.read,
            "used": self.used,
            "fixed": self.fixed,
            "fixed_reasons": dict(sorted(self.fixed_reasons.items())),
            "skipped": dict(sorted(self.skipped.items())),
        }


@dataclass
class Workload:
    """Jobs in order of submission.

    Parameters
    ----------
    jobs : list of WorkloadJob
    rows : RowReport
        Account of the rows they were read from.
    """

    jobs: list[WorkloadJob]
    rows: RowReport

    @classmethod
    def of(cls, jobs: Iterable[WorkloadJob], rows: RowReport) -> Workload:
        """Put jobs in order of submission; equal times keep theirs."""
        ordered = sorted(jobs, key=lambda job: job.submit)
        rows.used = len(ordered)
        return cls(ordered, rows)

    def with_hashed_priorities(self, levels: int, seed: int) -> Workload:
        """Return the same jobs with a priority of 0 to `levels` - 1 from a hash of seed and job id."""
        jobs = [job._replace(priority=hashed_priority(job.id, levels, seed)) for job in self.jobs]
        return Workload(jobs, self.rows)


def hashed_priority(job_id: str, levels: int, seed: int) -> int:
    """Return a priority that depends on `seed` and `job_id` only, evenly spread over `levels`.

    Parameters
    ----------
    job_id : str
    levels : int
        1 to 10,000.
    seed : int
    """
    if not 1 <= levels <= MAX_PRIORITY + 1:
        raise ValueError(f"{levels} priority levels are not allowed: use 1 to {MAX_PRIORITY + 1}")
    digest = hashlib.blake2b(f"{seed}:{job_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % levels
