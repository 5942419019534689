"""``batch-quota demo``: the launch article's walk-through, step by step."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constructs_qm.cli.audit import verdict_table
from constructs_qm.cli.console import make_console, make_table, print_text, show_progress
from constructs_qm.report.report_file import check_report, write_report

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from constructs_qm.demo import DemoStep

__all__ = ["demo"]


def demo(
    app: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, help="CDK app whose queue is deployed and used.")
    ] = None,
    cdk: Annotated[str, typer.Option(metavar="PROGRAM", help="The cdk CLI that deploys it.")] = "cdk",
    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write what happened as one HTML file.")
    ] = None,
) -> int:
    """Run the launch article's walk-through; exit status 1 where a step differs from it.

    A real boto3 client talks to the embedded endpoint, and the auditor judges what happened.

    Examples
    --------
    # the queue is created by API calls
    batch-quota demo

    # the queue is deployed by the real cdk CLI
    batch-quota demo --app examples/article.py --cdk node_modules/.bin/cdk
    """
    from constructs_qm.demo import run
    from constructs_qm.local.cdk_cli import CdkError
    from constructs_qm.local.server import LIMITS

    if report_to is not None:
        check_report(report_to)
    console = make_console()
    print_text(console, LIMITS, style="dim")
    steps: list[DemoStep] = []
    differences: list[str] = []

    def show(step: DemoStep) -> None:
        waiting.close()
        steps.append(step)
        differences.extend(step.differs)
        console.print(f"\n[bold]{step.title}[/bold]")
        console.print(_transitions(console, step), _usage(console, step))
        for difference in step.differs:
            print_text(console, f"differs from the article: {difference}", style="bold red")
        if not step.differs:
            console.print("as in the article", style="green")
        waiting.enter_context(show_progress("going on"))

    with ExitStack() as waiting:
        waiting.enter_context(show_progress(f"deploying {app}" if app else "starting the endpoint"))
        try:
            report = run(show, app, cdk)
        except CdkError as error:
            raise typer.TyperException(str(error)) from None
    if report_to is not None:
        from constructs_qm.report.demo_page import demo_page

        write_report(report_to, demo_page(steps, report))
    console.print("\n[bold]Audit[/bold]")
    console.print(verdict_table(console, report))
    for finding in report.findings:
        print_text(console, f"{finding.rule} {finding.kind.value}: {finding.seen}", style="bold red")
    coverage = report.coverage
    print_text(
        console,
        f"{coverage.used} of {coverage.read} events used; {coverage.judged} of {coverage.decisions} decisions judged, "
        f"{len(report.findings)} findings",
    )
    return 1 if differences or report.findings or coverage.unknown else 0


def _transitions(console: Console, step: DemoStep) -> Table:
    table = make_table(console, "time", "job", "share", "state", "reason")
    for entry in step.transitions:
        table.add_row(entry.at[11:19], entry.job, entry.share, entry.status, entry.reason)
    return table


def _usage(console: Console, step: DemoStep) -> Table:
    table = make_table(console, "share", "use", "limit", "running", "waiting")
    for share, limit, use, running, waiting in step.usage:
        table.add_row(share, str(use), str(limit), ", ".join(running), ", ".join(waiting))
    return table
