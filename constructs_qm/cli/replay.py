"""``batch-quota replay``: runs known-answer cases through the reference scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constructs_qm.cli.console import show_progress
from constructs_qm.documents import read_document
from quota_scheduler import DocumentError, QuotaSchedulerError
from quota_scheduler.case import load_case
from quota_scheduler.case import replay as replay_case

if TYPE_CHECKING:
    from quota_scheduler.case import CaseRun

__all__ = ["replay"]


def replay(
    paths: Annotated[list[Path], typer.Argument(metavar="CASE", help="Case files, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document a case and line.")] = False,
) -> int:
    """Run known-answer cases through the reference scheduler.

    Exit status 1 where an answer differs.

    Examples
    --------
    # every case of a folder
    batch-quota replay tests/cases

    # what the scheduler did, for programs: one JSON document a line
    batch-quota replay --json tests/cases/article-qs1-qs2-qs3.json
    """
    runs = _run_all(_case_files(paths))
    for run in runs:
        if as_json:
            typer.echo(json.dumps(run.to_document()))
        else:
            typer.echo(f"{'ok     ' if run.ok else 'DIFFERS'} {run.id}")
            for difference in run.differs:
                typer.echo(f"        {difference}")
    failed = sum(not run.ok for run in runs)
    if not as_json:
        typer.echo(f"{len(runs) - failed} of {len(runs)} cases ok")
    return 1 if failed else 0


def _case_files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(entry for entry in path.iterdir() if entry.suffix in (".json", ".yaml", ".yml"))
            if not found:
                raise DocumentError(f"{path}: no case files (.json, .yaml, .yml) in this folder")
            files += found
        else:
            files.append(path)
    return files


def _run_all(paths: list[Path]) -> list[CaseRun]:
    runs = []
    with show_progress("replaying cases", len(paths)) as update:
        for path in paths:
            runs.append(_run(path))
            update(len(runs))
    return runs


def _run(path: Path) -> CaseRun:
    document = read_document(path)
    try:
        return replay_case(load_case(document))
    except QuotaSchedulerError as error:
        raise DocumentError(f"{path}: {error}") from None
