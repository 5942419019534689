"""``batch-quota validate``: the policy rules on files, and on what is deployed."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constructs_qm.validation.assembly_reader import Assembly
from constructs_qm.validation.checks import check
from constructs_qm.validation.declared import Declarations
from constructs_qm.validation.deployed_reader import look_up
from constructs_qm.validation.drift import compare
from constructs_qm.validation.inputs import read_input
from constructs_qm.validation.report_formats import as_json, as_junit, as_sarif, as_text
from constructs_qm.validation.report_rows import rows_of
from quota_scheduler import DocumentError, Level

if TYPE_CHECKING:
    from constructs_qm.validation.declared import DeclaredQueue
    from constructs_qm.validation.located import Located

__all__ = ["validate"]


class Format(str, Enum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


def validate(
    path: Annotated[
        Path | None,
        typer.Argument(help="Policy or deployment file, cdk.out folder, or CloudFormation template (JSON or YAML)."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="Deployed queue; with PATH, what differs from it is told too.")
    ] = None,
    endpoint_url: Annotated[str | None, typer.Option(metavar="URL", help="Endpoint other than AWS's.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print findings.")] = Format.TEXT,
    as_json_too: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")] = False,
) -> int:
    """Check a quota policy; exit status 1 where a finding fails.

    Example: batch-quota validate cdk.out --strict --format sarif
    """
    if path is None and queue is None:
        raise typer.BadParameter("give PATH, --queue NAME, or both to compare them")
    if endpoint_url is not None and queue is None:
        raise typer.BadParameter("--endpoint-url goes with --queue")
    declarations, assembly = (Declarations(), Assembly()) if path is None else read_input(path)
    found = check(declarations)
    if queue is not None:
        found += _deployed(look_up(queue, endpoint_url), declarations.queues, compared=path is not None)
    shown = [item for item in found if assembly.acknowledgement(item.source.path, item.finding.rule) is None]
    acknowledged, rows = len(found) - len(shown), rows_of(shown)
    match Format.JSON if as_json_too else form:
        case Format.JSON:
            typer.echo(as_json(rows, acknowledged))
        case Format.SARIF:
            typer.echo(as_sarif(rows))
        case Format.JUNIT:
            typer.echo(as_junit(rows, strict=strict))
        case Format.TEXT:
            typer.echo(as_text(rows, acknowledged))
    failing = (Level.ERROR, Level.WARNING) if strict else (Level.ERROR,)
    return 1 if any(row.level in failing for row in rows) else 0


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
