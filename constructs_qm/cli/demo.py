"""``batch-quota demo``: the launch article's walk-through, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from constructs_qm.cli.audit import verdict_table
from constructs_qm.cli.console import make_console

if TYPE_CHECKING:
    from constructs_qm.demo import DemoStep

__all__ = ["demo"]


def demo(
    app: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, help="CDK app whose queue is deployed and used.")
    ] = None,
    cdk: Annotated[str, typer.Option(help="The cdk CLI that deploys it.")] = "cdk",
) -> int:
    """Run the launch article's walk-through; exit status 1 where a step differs from it.

    A real boto3 client talks to the embedded endpoint, and the auditor judges what happened.

    Example: batch-quota demo --app examples/article.py --cdk node_modules/.bin/cdk
    """
    from constructs_qm.demo import run
    from constructs_qm.local.cdk_cli import CdkError
    from constructs_qm.local.server import LIMITS

    console = make_console()
    console.print(LIMITS, style="dim")
    differences: list[str] = []

    def show(step: DemoStep) -> None:
        differences.extend(step.differs)
        console.print(f"\n[bold]{step.title}[/bold]")
        console.print(_transitions(step))
        console.print(_usage(step))
        for difference in step.differs:
            console.print(f"differs from the article: {difference}", style="bold red")
        if not step.differs:
            console.print("as in the article", style="green")

    try:
        report = run(show, app, cdk)
    except CdkError as error:
        raise typer.TyperException(str(error)) from None
    console.print("\n[bold]Audit[/bold]")
    console.print(verdict_table(report))
    for finding in report.findings:
        console.print(f"{finding.rule} {finding.kind.value}: {finding.seen}", style="bold red")
    coverage = report.coverage
    console.print(
        f"{coverage.used} of {coverage.read} events used; {coverage.judged} of {coverage.decisions} decisions judged, "
        f"{len(report.findings)} findings"
    )
    return 1 if differences or report.findings or coverage.unknown else 0


def _transitions(step: DemoStep) -> Table:
    table = Table("time", "job", "share", "state", "reason")
    for entry in step.transitions:
        table.add_row(entry.at[11:19], entry.job, entry.share, entry.status, entry.reason)
    return table


def _usage(step: DemoStep) -> Table:
    table = Table("share", "use", "limit", "running", "waiting")
    for share, limit, use, running, waiting in step.usage:
        table.add_row(share, str(use), str(limit), ", ".join(running), ", ".join(waiting))
    return table
