"""``batch-quota audit``: judges recorded events against a policy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from constructs_qm.cli.console import make_console, make_table, print_text, show_progress
from constructs_qm.documents import read_document
from constructs_qm.report.report_file import check_report, write_report
from preemption_auditor.audit import audit as audit_events
from preemption_auditor.policy_timeline import load_policy_timeline
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.verdicts import Kind
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.table import Table

    from preemption_auditor.report import Report

__all__ = ["audit", "verdict_table"]

_STRIDE = 1000
"""Events between two updates of the progress."""


def audit(
    events: Annotated[
        Path,
        typer.Argument(
            metavar="EVENTS", help="Recorded EventBridge events, a JSON object a line; - is standard input."
        ),
    ],
    policy: Annotated[Path, typer.Option(metavar="FILE", help="Policy file: environment and shares, JSON or YAML.")],
    delivery: Annotated[Delivery, typer.Option(help="Whether the recording is whole or may lack events.")] = (
        Delivery.LOSSY
    ),
    decision_lag: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a decision may precede the event that shows it.")
    ] = 30,
    tolerance: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a job may wait before a timing rule speaks.")
    ] = 900,
    lateness: Annotated[
        float, typer.Option(metavar="SECONDS", help="How late an event may be and still be on time.")
    ] = 300,
    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write the findings as one HTML file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    r"""Say whether the service kept the policy, from the events it sent.

    Exit status 1 where it didn't, or did otherwise than we would.

    Examples
    --------
    # events that a rule of EventBridge wrote to a file; some may be lost
    batch-quota audit events.jsonl --policy policy.yaml

    # a whole recording, from a pipe, for a program
    zcat events.jsonl.gz | \
      batch-quota audit - --policy policy.yaml --delivery complete --json
    """
    if report_to is not None:
        check_report(report_to)
    settings = AuditSettings(delivery, decision_lag, tolerance, lateness)
    timeline = load_policy_timeline(read_document(policy))
    with show_progress("auditing", _size(events)) as update:
        report = audit_events(_lines(events, update), timeline, settings)
    coverage = report.coverage
    if coverage.read and coverage.unreadable == coverage.read:
        raise DocumentError(f"{events}: none of {coverage.read} lines is an EventBridge event: record JSON lines")
    if report_to is not None:
        from constructs_qm.report.audit_page import audit_page

        write_report(report_to, audit_page(events.name, report.to_document()))
    if as_json:
        typer.echo(json.dumps(report.to_document()))
    else:
        _print(make_console(), report)
    return 1 if any(finding.kind is not Kind.NOTE for finding in report.findings) else 0


def verdict_table(console: Console, report: Report) -> Table:
    """Return how often each rule gave each answer."""
    table = make_table(console, "rule", "pass", "violation", "unknown")
    for rule, answers in report.answers.items():
        counts = {answer.value: count for answer, count in answers.items()}
        table.add_row(rule, *(str(counts.get(answer, 0)) for answer in ("pass", "violation", "unknown")))
    return table


def _lines(path: Path, update: Callable[[float], None]) -> Iterator[bytes]:
    if str(path) == "-":
        yield from sys.stdin.buffer
        return
    read = 0
    try:
        with path.open("rb") as recording:
            for count, line in enumerate(recording):
                read += len(line)
                if count % _STRIDE == 0:
                    update(read)
                yield line
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None


def _size(path: Path) -> int | None:
    """Return how many bytes there are to read, where that is known."""
    return path.stat().st_size if path.is_file() else None


def _print(console: Console, report: Report) -> None:
    console.print(verdict_table(console, report))
    for finding in report.findings:
        line = f"{finding.rule} {finding.kind.value}: {finding.seen}; expected {finding.expected}"
        print_text(console, line, style="red")
    for item in report.unknown:
        print_text(console, f"{item.rule} unknown: {item.gap}")
    coverage = report.coverage
    print_text(
        console,
        f"{coverage.used} of {coverage.read} events used ({coverage.duplicate} duplicate, {coverage.late} late, "
        f"{coverage.unreadable} unreadable); {coverage.judged} of {coverage.decisions} decisions judged; "
        f"{len(report.findings)} findings",
    )
