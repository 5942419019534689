"""A report of a small simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.report.simulation_page import simulation_page
from quota_scheduler.simulation_recorder import SimulationRecorder
from quota_scheduler.simulation_settings import SimulationSettings
from quota_scheduler.simulator import simulate
from quota_scheduler.workload import RowReport, Workload, WorkloadJob

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy

__all__ = ["reported"]


def reported(policies: dict[str, QuotaPolicy], *jobs: WorkloadJob, trace: str = "trace.csv") -> str:
    """Return the page for jobs under policies, by the names of their files."""
    workload = Workload.of(jobs, RowReport(read=len(jobs)))
    results: list[dict[str, Any]] = []
    recorders = []
    for name, policy in policies.items():
        recorder = SimulationRecorder()
        result = simulate(policy, workload, SimulationSettings(2), observer=recorder)
        speed = {"jobs_per_second": 1.0, "wall_s": 1.0, "peak_rss_mib": 1.0}
        results.append({"policy": name, **result.to_document(), **speed})
        recorders.append(recorder)
    return simulation_page(trace, workload.rows.to_document(), results, [recorder.timeline() for recorder in recorders])
