"""``batch-quota simulate``: what policies would do to a workload."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constructs_qm.cli.console import make_console, print_text, show_progress
from constructs_qm.cli.simulation_tables import share_tables, totals_table
from constructs_qm.policy_versions import read_policy_versions
from constructs_qm.report.report_file import check_report, write_report
from constructs_qm.simulation_measures import rows_lines
from constructs_qm.workload_files import read_workload
from quota_scheduler import DocumentError, QuotaSchedulerError, TimeLimit
from quota_scheduler.simulation_recorder import SimulationRecorder
from quota_scheduler.simulation_settings import SimulationSettings
from quota_scheduler.simulator import simulate as simulate_policy
from quota_scheduler.time_limits import REASONS
from quota_scheduler.traces import TraceReading

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy
    from quota_scheduler.workload import Workload

__all__ = ["simulate"]


def simulate(
    policies: Annotated[
        list[Path], typer.Option("--policy", metavar="FILE", help="Policy file; more of them are compared.")
    ],
    trace: Annotated[Path, typer.Option(metavar="FILE", help="Workload: CSV, .swf, or a description (.json, .yaml).")],
    more_policies: Annotated[
        list[Path] | None, typer.Argument(metavar="POLICY", help="More policies, as --policy *.yaml gives them.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="UNIT", help="Capacity unit the trace counts (default: the only one)."),
    ] = None,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", metavar="TEAM=SHARE", help="Share of a team not called like it.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of drawn workloads and hashed priorities.")] = 0,
    hash_priorities: Annotated[
        int | None, typer.Option(min=1, max=10_000, metavar="N", help="Give each job a priority of 0 to N-1 by its id.")
    ] = None,
    preemption_seconds: Annotated[float, typer.Option(metavar="SECONDS", help="How long stopping a job takes.")] = 20,
    checkpoint_seconds: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="A preempted job resumes at a multiple of this (default: restarts)."),
    ] = None,
    time_limit: Annotated[
        int | None, typer.Option(metavar="SECONDS", help="When a job that can never run is ended (default: never).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write what happened as one HTML file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    r"""Simulate policies on the same workload, and compare what becomes of it.

    Examples
    --------
    # what a workload becomes under two policies
    batch-quota simulate --policy reserve.yaml --policy share.yaml \
      --trace workload.csv

    # a drawn workload with checkpoints every ten minutes, for a program
    batch-quota simulate --policy share.yaml --trace three-teams.yaml \
      --seed 7 --checkpoint-seconds 600 --json
    """
    if report is not None:
        check_report(report)
    settings = SimulationSettings(preemption_seconds, checkpoint_seconds)
    limits = () if time_limit is None else tuple(TimeLimit(reason, time_limit) for reason in REASONS)
    versions = [(str(path), read_policy_versions(path)) for path in (*policies, *(more_policies or ()))]
    reading = _reading(versions, unit, mapping or [])
    with show_progress(f"reading {trace.name}"):
        workload = read_workload(trace, reading, seed)
    if hash_priorities is not None:
        workload = workload.with_hashed_priorities(hash_priorities, seed)
    recorders = [SimulationRecorder() if report is not None else None for _ in versions]
    results = [
        _run(name, timed, workload, settings, limits, recorder)
        for (name, timed), recorder in zip(versions, recorders, strict=True)
    ]
    rows = workload.rows.to_document()
    if report is not None:
        from constructs_qm.report.simulation_page import simulation_page

        timelines = [recorder.timeline() for recorder in recorders if recorder is not None]
        write_report(report, simulation_page(trace.name, rows, results, timelines))
    if as_json:
        typer.echo(json.dumps({"policies": results, "rows": rows}))
        return 0
    console = make_console()
    console.print(totals_table(console, results), *share_tables(console, results))
    for line in rows_lines(rows):
        print_text(console, line)
    return 0


def _reading(
    versions: list[tuple[str, list[tuple[float, QuotaPolicy]]]], unit: str | None, mapping: list[str]
) -> TraceReading:
    policies = [policy for _, timed in versions for _, policy in timed]
    units = {known for policy in policies for known in policy.environment}
    shares = frozenset(share.name for policy in policies for share in policy.shares)
    teams = {}
    for entry in mapping:
        team, _, share = entry.rpartition("=")
        if not team or share not in shares:
            raise typer.BadParameter(f"--map {entry}: give TEAM=SHARE with one of {', '.join(sorted(shares))}")
        teams[team] = share
    if unit is not None and unit not in units:
        raise typer.BadParameter(f"--unit {unit} is not in the policy: use {', '.join(sorted(units))}")
    return TraceReading(unit or (next(iter(units)) if len(units) == 1 else None), shares, teams)


def _run(
    name: str,
    versions: list[tuple[float, QuotaPolicy]],
    workload: Workload,
    settings: SimulationSettings,
    limits: tuple[TimeLimit, ...],
    recorder: SimulationRecorder | None,
) -> dict[str, Any]:
    """Return an entry of ``policies``, with how fast it was made."""
    (_, policy), *changes = versions
    started = time.perf_counter()
    with show_progress(Path(name).name, len(workload.jobs)) as update:
        try:
            result = simulate_policy(
                policy,
                workload,
                settings,
                changes=changes,
                time_limits=limits,
                on_progress=update,
                observer=recorder,
            )
        except QuotaSchedulerError as error:
            raise DocumentError(f"{name}: {error}") from None
    wall = time.perf_counter() - started
    speed = {"jobs_per_second": result.jobs / wall, "wall_s": wall, "peak_rss_mib": _peak_rss_mib()}
    return {"policy": name, **result.to_document(), **speed}


def _peak_rss_mib() -> float | None:
    """Return the most memory this process has used so far; None where the system doesn't tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
