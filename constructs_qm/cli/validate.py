"""``batch-quota validate``: the policy rules on files, and on what is deployed."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constructs_qm.cli.console import make_console, print_text, show_progress
from constructs_qm.validation.checks import check
from constructs_qm.validation.declared import Declarations
from constructs_qm.validation.deployed_reader import look_up
from constructs_qm.validation.drift import compare
from constructs_qm.validation.form_error import FormError
from constructs_qm.validation.inputs import read_input
from constructs_qm.validation.report_formats import as_json, as_junit, as_sarif, as_text
from constructs_qm.validation.report_rows import rows_of, rows_of_form
from constructs_qm.validation.what_if import what_if
from quota_scheduler import DocumentError, Level
from quota_scheduler.findings import errors_in
from quota_scheduler.what_if import Thresholds

if TYPE_CHECKING:
    from constructs_qm.validation.declared import DeclaredQueue
    from constructs_qm.validation.located import Located
    from constructs_qm.validation.report_rows import Row
    from constructs_qm.validation.what_if import WhatIf

__all__ = ["validate"]


class Format(str, Enum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Policy or deployment files, cdk.out folders, CloudFormation templates (JSON or YAML).",
        ),
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="Deployed queue; with PATH, what differs from it is told too.")
    ] = None,
    endpoint_url: Annotated[str | None, typer.Option(metavar="URL", help="Endpoint other than AWS's.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print findings.")] = Format.TEXT,
    as_json_too: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")] = False,
    trace: Annotated[
        Path | None, typer.Option("--simulate", metavar="TRACE", help="Tell what the change does to this workload.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="OLD", help="What PATH is to replace; with --simulate.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="UNIT", help="Capacity unit the trace counts (default: the only one)."),
    ] = None,
    max_wait_growth: Annotated[
        float | None, typer.Option(min=0, metavar="PERCENT", help="Fail where a share's waits grow by more.")
    ] = None,
    max_preemption_growth: Annotated[
        float | None, typer.Option(min=0, metavar="PERCENT", help="Fail where preemptions grow by more.")
    ] = None,
    max_utilisation_loss: Annotated[
        float | None, typer.Option(min=0, metavar="POINTS", help="Fail where utilisation falls by more.")
    ] = None,
) -> int:
    r"""Check quota policies, as declared or as deployed.

    Exit status 1 where a finding fails, 2 where a file has the wrong form.

    Examples
    --------
    # a policy or deployment file, or what the CDK synthesised
    batch-quota validate quota.yaml
    batch-quota validate cdk.out --strict --format sarif > findings.sarif

    # a deployed queue by itself, or what differs from the file
    batch-quota validate --queue training
    batch-quota validate quota.yaml --queue training

    # what a change does to a workload; fails where waits grow by over 20 %
    batch-quota validate new.yaml --baseline old.yaml --simulate trace.csv \
      --max-wait-growth 20
    """
    if not paths and queue is None:
        raise typer.BadParameter("give PATH, --queue NAME, or both to compare them")
    if endpoint_url is not None and queue is None:
        raise typer.BadParameter("--endpoint-url goes with --queue")
    if (trace is None) != (baseline is None):
        raise typer.BadParameter("--simulate TRACE and --baseline OLD go together")
    thresholds = Thresholds(max_wait_growth, max_preemption_growth, max_utilisation_loss)
    if trace is None and thresholds != Thresholds():
        raise typer.BadParameter("thresholds go with --simulate")
    shown, acknowledged, declared, malformed = _check(paths or [])
    if malformed:
        rows = [*rows_of(shown), *(row for error in malformed for row in rows_of_form(error))]
        _print(Format.JSON if as_json_too else form, rows, acknowledged, None, strict=strict)
        raise malformed[0]
    if queue is not None:
        with show_progress(f"looking up {queue}"):
            deployed = look_up(queue, endpoint_url)
        shown += _deployed(deployed, declared, compared=bool(paths))
    change = None
    if trace is not None and baseline is not None and not errors_in([item.finding for item in shown]):
        with show_progress("simulating both policies"):
            change = what_if(declared, read_input(baseline)[0].queues, trace, thresholds, unit)
        shown += change.found
    rows = rows_of(shown)
    _print(Format.JSON if as_json_too else form, rows, acknowledged, change, strict=strict)
    failing = (Level.ERROR, Level.WARNING) if strict else (Level.ERROR,)
    return 1 if any(row.level in failing for row in rows) else 0


def _check(paths: list[Path]) -> tuple[list[Located], int, list[DeclaredQueue], list[FormError]]:
    """Return the findings of some inputs, how many more were acknowledged, their queues, and which have no form."""
    shown, acknowledged, declared, malformed = [], 0, [], []
    for path in paths:
        try:
            declarations, assembly = read_input(path)
        except FormError as error:
            malformed.append(error)
            continue
        found = check(declarations)
        left = [item for item in found if assembly.acknowledgement(item.source.path, item.finding.rule) is None]
        acknowledged += len(found) - len(left)
        shown += left
        declared += declarations.queues
    return shown, acknowledged, declared, malformed


def _print(form: Format, rows: list[Row], acknowledged: int, change: WhatIf | None, *, strict: bool) -> None:
    match form:
        case Format.JSON:
            more = {} if change is None else {"what_if": change.to_document()}
            typer.echo(as_json(rows, acknowledged, **more))
        case Format.SARIF:
            typer.echo(as_sarif(rows))
        case Format.JUNIT:
            typer.echo(as_junit(rows, strict=strict))
        case Format.TEXT:
            console = make_console()
            if change is not None:
                print_text(console, change.to_text())
            print_text(console, as_text(rows, acknowledged))


def _deployed(deployed: DeclaredQueue, declared: list[DeclaredQueue], *, compared: bool) -> list[Located]:
    """Return the findings of a deployed queue, or how it differs from the one declared."""
    if not compared:
        return check(Declarations(queues=[deployed]))
    own = [queue for queue in declared if queue.owned]
    named = [queue for queue in own if queue.name.value == deployed.name.value] or own
    if len(named) != 1:
        names = ", ".join(queue.source.path for queue in named) or "none"
        raise DocumentError(
            f"job queue {deployed.name.value!r} can't be compared: name one declared queue so (declared: {names})"
        )
    return list(compare(named[0], deployed))
