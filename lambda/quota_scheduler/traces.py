"""Reading workloads from traces: CSV and the Standard Workload Format.

Real traces are dirty. A row is mended by a stated rule or left out, and either is counted with
its reason; nothing disappears silently.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from quota_scheduler.demand import Demand, make_demand
from quota_scheduler.exceptions import DocumentError, JobError
from quota_scheduler.value_rules import MAX_PRIORITY
from quota_scheduler.workload import RowReport, Workload, WorkloadJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["TraceReading", "read_csv", "read_swf"]

_REQUIRED = ("job_id", "submit_s", "duration_s", "team")
_SWF_FIELDS = 18
_Row = TypeVar("_Row")


class _UnusableRowError(Exception):
    """The row can't be used; the message is the reason it is counted under."""


@dataclass(frozen=True)
class TraceReading:
    """How to read a trace.

    Parameters
    ----------
    unit : str, optional
        Capacity unit that the trace's ``gpus`` column counts; None for a trace without it.
    shares : collection of str
        Names of the policy's shares; rows of other teams are left out.
    team_shares : mapping of str to str
        Team to share, for teams that aren't called like their share.
    """

    unit: str | None
    shares: frozenset[str]
    team_shares: Mapping[str, str] = field(default_factory=dict)

    def share_of(self, team: str) -> str:
        """Return the share of `team`; raises where it has none."""
        share = self.team_shares.get(team, team)
        if share not in self.shares:
            raise _UnusableRowError("team without a share")
        return share


def read_csv(lines: Iterable[str], reading: TraceReading) -> Workload:
    """Read a workload from CSV.

    Parameters
    ----------
    lines : iterable of str
        The first names the columns: ``job_id, submit_s, duration_s, team`` and ``gpus`` (a number of
        instances of ``reading.unit``) or ``demand`` (``ml.g5.xlarge=2;ml.p5.48xlarge=1``); optional are
        ``priority``, ``preemption_retries`` and any others, which are ignored.
    reading : TraceReading

    Returns
    -------
    Workload

    Raises
    ------
    DocumentError
        A column is missing, it isn't CSV, or there are ``gpus`` and ``reading`` names no unit.
    """
    table = csv.DictReader(lines)
    try:
        table.fieldnames = columns = [column.strip() for column in table.fieldnames or ()]
        _require_columns(columns)
        return _read(table, lambda row, mended: _csv_job(row, reading, mended))
    except csv.Error as error:
        raise DocumentError(f"after line {table.line_num}: not CSV: {error}") from None


def _require_columns(columns: list[str]) -> None:
    missing = [column for column in _REQUIRED if column not in columns]
    if not missing and "gpus" not in columns and "demand" not in columns:
        missing = ["gpus"]
    if missing:
        raise DocumentError(f"trace has no column {missing[0]!r}: the first line names {', '.join(_REQUIRED)}, gpus")


def read_swf(lines: Iterable[str], reading: TraceReading) -> Workload:
    """Read a workload in the Standard Workload Format.

    A job's team is its queue number (field 15), or its group (field 13) where it has no queue; its
    instances are the requested processors (field 8), or the allocated ones (field 5).

    Parameters
    ----------
    lines : iterable of str
        Lines that begin with ``;`` are comments.
    reading : TraceReading
    """
    rows = (line.split() for line in lines if line.strip() and not line.lstrip().startswith(";"))
    return _read(rows, lambda row, mended: _swf_job(row, reading, mended))


def _read(rows: Iterable[_Row], make_job: Callable[[_Row, list[str]], WorkloadJob]) -> Workload:
    report = RowReport()

    def jobs() -> Iterator[WorkloadJob]:
        seen: Counter[str] = Counter()
        latest = -math.inf
        for row in rows:
            report.read += 1
            mended: list[str] = []
            try:
                job = make_job(row, mended)
            except _UnusableRowError as reason:
                report.skipped[str(reason)] += 1
                continue
            seen[job.id] += 1
            if seen[job.id] > 1:
                mended.append("job id given before: numbered")
                job = job._replace(id=f"{job.id}#{seen[job.id]}")
            if job.submit < latest:
                mended.append("not in order of submission: sorted")
            latest = max(latest, job.submit)
            report.fixed += bool(mended)
            report.fixed_reasons.update(mended)
            yield job

    return Workload.of(jobs(), report)


def _csv_job(row: Mapping[str, str | None], reading: TraceReading, mended: list[str]) -> WorkloadJob:
    cells = {key: (value or "").strip() for key, value in row.items() if isinstance(value, str)}
    if not cells.get("job_id"):
        raise _UnusableRowError("no job id")
    demand = cells.get("demand", "")
    return WorkloadJob(
        cells["job_id"],
        reading.share_of(cells.get("team", "")),
        _number(cells.get("submit_s", ""), "submit time"),
        _duration(cells.get("duration_s", "")),
        _demand(demand) if demand else _instances(cells.get("gpus", ""), reading, mended),
        _priority(cells.get("priority", ""), mended),
        _retries(cells.get("preemption_retries", "")),
    )


def _swf_job(fields: list[str], reading: TraceReading, mended: list[str]) -> WorkloadJob:
    if len(fields) < _SWF_FIELDS:
        raise _UnusableRowError(f"fewer than {_SWF_FIELDS} fields")
    team = fields[14] if fields[14] != "-1" else fields[12]
    processors = fields[7] if fields[7] != "-1" else fields[4]
    return WorkloadJob(
        fields[0],
        reading.share_of(team),
        _number(fields[1], "submit time"),
        _duration(fields[3]),
        _instances(processors, reading, mended),
    )


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise _UnusableRowError(f"{what} is no number") from None
    if not math.isfinite(number):
        raise _UnusableRowError(f"{what} is no number")
    return number


def _duration(text: str) -> float:
    duration = _number(text, "duration")
    if duration < 0:
        raise _UnusableRowError("duration unknown (negative)")
    return duration


def _instances(text: str, reading: TraceReading, mended: list[str]) -> Demand:
    if reading.unit is None:
        raise DocumentError("the trace counts gpus, and there are several capacity units: name the one it counts")
    count = _number(text, "gpus")
    if count <= 0:
        raise _UnusableRowError("no gpus")
    if count != math.ceil(count):
        mended.append("fraction of a gpu: rounded up")
    return make_demand({reading.unit: math.ceil(count)})


def _demand(text: str) -> Demand:
    try:
        pairs = [part.split("=") for part in text.split(";") if part.strip()]
        return make_demand({unit.strip(): int(count) for unit, count in pairs})
    except (ValueError, JobError):
        raise _UnusableRowError("demand unreadable") from None


def _priority(text: str, mended: list[str]) -> int | None:
    if not text:
        return None
    try:
        priority = int(float(text))
    except (ValueError, OverflowError):
        mended.append("priority is no number: left out")
        return None
    if not 0 <= priority <= MAX_PRIORITY:
        mended.append(f"priority outside 0 to {MAX_PRIORITY}: nearest taken")
    return min(max(priority, 0), MAX_PRIORITY)


def _retries(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise _UnusableRowError("preemption retries unreadable")
    return int(text)
