"""``batch-quota explain``: why a job waits, whom it would preempt, who preempted it; and dry runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constructs_qm.cli.console import make_console, print_text, show_progress
from constructs_qm.documents import read_document
from constructs_qm.live_queue import read_live_queue
from quota_scheduler import DocumentError, QuotaSchedulerError
from quota_scheduler.case import load_case, replay
from quota_scheduler.dry_run import dry_run, parse_submission
from quota_scheduler.explain import explain as explain_job
from quota_scheduler.recorded_explanation import explain_recorded, name_jobs
from quota_scheduler.recorded_state import find_job, load_state

if TYPE_CHECKING:
    from quota_scheduler.dry_run import DryRun
    from quota_scheduler.explain import Explanation

__all__ = ["explain"]


def _known_jobs(context: typer.Context) -> list[str]:
    """Return the jobs of the case or state that is given already, for the shell to complete."""
    given = context.params.get("case") or context.params.get("state")
    try:
        document = read_document(Path(given)) if given else {}
        return sorted(
            {entry["job"] for part in ("steps", "jobs") for entry in document.get(part, ()) if "job" in entry}
        )
    except (QuotaSchedulerError, AttributeError, TypeError):  # a file of another form has none to offer
        return []


def explain(
    job: Annotated[
        str | None,
        typer.Option(metavar="ID", autocompletion=_known_jobs, help="Job to explain, by id or unique name."),
    ] = None,
    submit: Annotated[
        str | None,
        typer.Option(
            metavar="JOB", help="Job to try out: share=B,demand=ml.p4d.24xlarge=4,priority=5 (several units with ;)."
        ),
    ] = None,
    case: Annotated[Path | None, typer.Option(metavar="FILE", help="Known-answer case; it is run to its end.")] = None,
    state: Annotated[Path | None, typer.Option(metavar="FILE", help="Recorded state: a policy with its jobs.")] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Live queue, by name or ARN.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(metavar="URL", help="Endpoint other than AWS's.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the live queue's state there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    r"""Say why a job waits, whom it would preempt and who preempted it, or what a submission would lead to.

    Examples
    --------
    # why a job of a queue waits, and the state of the queue kept in a file
    batch-quota explain --job train-7 --queue training --save state.json

    # whom a job would preempt if it were submitted now
    batch-quota explain --queue training \
      --submit share=B,demand=ml.p4d.24xlarge=4,priority=5

    # the same questions about a recorded state or a case, without AWS
    batch-quota explain --job train-7 --state state.json
    batch-quota explain --job qs1_job_low \
      --case tests/cases/article-qs1-qs2-qs3.json
    """
    if (job is None) is (submit is None):
        raise typer.BadParameter("give one of --job and --submit")
    if sum(source is not None for source in (case, state, queue)) != 1:
        raise typer.BadParameter("give one of --case, --state and --queue")
    if queue is None and (endpoint_url or save):
        raise typer.BadParameter("--endpoint-url and --save go with --queue")
    if case is not None:
        document: Any = {}
        answer = _of_case(case, job, submit)
    else:
        document = read_document(state) if state is not None else _look_up(str(queue), endpoint_url, job, save)
        answer = _of_state(document, str(state or f"queue {queue}"), job, submit)
    if as_json:
        typer.echo(json.dumps(answer.to_document()))
    else:
        print_text(make_console(), name_jobs(answer.text, document))
    return 0


def _of_case(path: Path, job: str | None, submit: str | None) -> Explanation | DryRun:
    document = read_document(path)
    try:
        run = replay(load_case(document))
        if job is not None:
            return explain_job(run.scheduler, job, run.outcomes)
        return dry_run(run.scheduler, parse_submission(submit or ""), run.now, in_place=True)
    except QuotaSchedulerError as error:
        raise DocumentError(f"{path}: {error}") from None


def _of_state(document: object, name: str, job: str | None, submit: str | None) -> Explanation | DryRun:
    try:
        scheduler, now = load_state(document)
        if job is not None:
            return explain_recorded(scheduler, find_job(document, job))
        return dry_run(scheduler, parse_submission(submit or ""), now, in_place=True)
    except QuotaSchedulerError as error:
        raise DocumentError(f"{name}: {error}") from None


def _look_up(queue: str, endpoint_url: str | None, job: str | None, save: Path | None) -> Any:
    with show_progress(f"looking up {queue}"):
        document = read_live_queue(queue, endpoint_url=endpoint_url, job=job)
    if save is not None:
        save.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return document
