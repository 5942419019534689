"""Reading workloads from files: CSV, the Standard Workload Format, and descriptions to draw one from."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, TextIO, cast

from constructs_qm.documents import read_document
from quota_scheduler import DocumentError, QuotaSchedulerError
from quota_scheduler.traces import read_csv, read_swf
from quota_scheduler.workload_generator import generate, load_share_loads

if TYPE_CHECKING:
    from pathlib import Path

    from quota_scheduler.traces import TraceReading
    from quota_scheduler.workload import Workload

__all__ = ["read_workload"]


def read_workload(path: Path, reading: TraceReading, seed: int) -> Workload:
    """Read or draw a workload.

    Parameters
    ----------
    path : Path
        By its name: ``.swf`` is the Standard Workload Format, ``.json``, ``.yaml`` and ``.yml`` describe a
        workload to be drawn, everything else is CSV; ``.gz`` after that is compressed.
    reading : TraceReading
    seed : int
        For a workload to be drawn.

    Raises
    ------
    DocumentError
        The file can't be read, has the wrong form, or has no row that can be used.
    """
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    try:
        if kind in (".json", ".yaml", ".yml"):
            return _draw(path, reading, seed)
        with _open(path) as lines:
            workload = (read_swf if kind == ".swf" else read_csv)(lines, reading)
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error) as error:
        raise DocumentError(f"{path}: not gzip: {error}") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    except QuotaSchedulerError as error:
        raise DocumentError(f"{path}: {error}") from None
    if not workload.jobs:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in workload.rows.skipped.items())
        raise DocumentError(f"{path}: none of {workload.rows.read} rows can be used ({reasons or 'the file has none'})")
    return workload


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _draw(path: Path, reading: TraceReading, seed: int) -> Workload:
    loads, jobs = load_share_loads(read_document(path), reading.unit)
    for load in loads:
        if load.share not in reading.shares:
            names = ", ".join(sorted(reading.shares))
            raise DocumentError(f"share {load.share!r} is not in the policy: use {names}")
    return generate(loads, jobs, seed)
