"""``batch-quota audit``: judges recorded events against a policy, or tells what a deployed auditor found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constructs_qm.cli.console import make_console, make_table, print_text, show_progress
from constructs_qm.deployed_audit import read_deployed_audit
from constructs_qm.documents import read_document
from constructs_qm.report.report_file import check_report, write_report
from preemption_auditor.audit import audit as audit_events
from preemption_auditor.exceptions import AuditorError
from preemption_auditor.policy_timeline import load_policy_timeline
from preemption_auditor.reading import only_events
from preemption_auditor.recordings import open_recording
from preemption_auditor.settings import AuditSettings, Delivery
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console
    from rich.table import Table

    from preemption_auditor.report import Report

__all__ = ["audit", "verdict_table"]

_STRIDE = 1000
"""Events between two updates of the progress."""


def audit(
    context: typer.Context,
    events: Annotated[
        Path | None,
        typer.Argument(
            metavar="EVENTS",
            help="Recorded EventBridge events: JSON lines or CloudWatch Logs, gzip or not; - is standard input.",
        ),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Policy file: environment and shares, JSON or YAML.")
    ] = None,
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
    event: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Take only events of these ids: a finding names its own.")
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="Queue of a deployed auditor, by name or ARN, instead of EVENTS.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", envvar="AUDITOR_TABLE", help="Its DynamoDB table; with --queue.")
    ] = None,
    region: Annotated[str | None, typer.Option(metavar="NAME", help="Region of the table.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(metavar="URL", help="Endpoint other than AWS's.")] = None,
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

    # what a deployed auditor found
    batch-quota audit --queue training --table auditor
    """
    if report_to is not None:
        check_report(report_to)
    if queue is not None:
        if given := _given(context, "events", "policy", "delivery", "decision_lag", "tolerance", "lateness", "event"):
            raise typer.BadParameter(f"--queue tells what a deployed auditor found: leave {', '.join(given)} out")
        if table is None:
            raise typer.BadParameter("--queue needs --table NAME, or AUDITOR_TABLE: the deployed auditor's table")
        with show_progress(f"reading {table}"):
            document = read_deployed_audit(queue, table, endpoint_url=endpoint_url, region=region)
    elif events is None or policy is None:
        raise typer.BadParameter("give EVENTS and --policy FILE, or --queue NAME of a deployed auditor")
    elif endpoint_url is not None or region is not None:
        raise typer.BadParameter("--region and --endpoint-url go with --queue")
    else:
        document = _audited(events, policy, AuditSettings(delivery, decision_lag, tolerance, lateness), event)
    if report_to is not None:
        from constructs_qm.report.audit_page import audit_page

        write_report(report_to, audit_page(queue or ("" if events is None else events.name), document))
    if as_json:
        typer.echo(json.dumps(document))
    else:
        _print(make_console(), document)
    return 1 if _accusations(document) else 0


def verdict_table(console: Console, report: Report) -> Table:
    """Return how often each rule gave each answer."""
    return _table(console, report.to_document()["rules"])


def _given(context: typer.Context, *names: str) -> list[str]:
    """Return those of a command's parameters that stand on the command line, as they are written there."""
    parameters = {parameter.name: parameter for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in names}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    return ["EVENTS" if name == "events" else parameters[name].opts[0] for name in given]


def _audited(events: Path, policy: Path, settings: AuditSettings, ids: list[str] | None) -> dict[str, Any]:
    timeline = load_policy_timeline(read_document(policy))
    with show_progress("auditing", _size(events)) as update:
        entries = _entries(events, update)
        report = audit_events(only_events(entries, ids) if ids else entries, timeline, settings)
    coverage = report.coverage
    if ids and not coverage.read:
        raise DocumentError(f"{events}: has none of the events {', '.join(ids)}: name ids of events in it")
    if coverage.read and coverage.unreadable == coverage.read:
        raise DocumentError(f"{events}: none of {coverage.read} lines is an EventBridge event: record JSON lines")
    return report.to_document()


def _entries(path: Path, update: Callable[[float], None]) -> Iterator[Any]:
    try:
        if str(path) == "-":
            yield from open_recording(sys.stdin.buffer)
            return
        with path.open("rb") as recording:
            for count, entry in enumerate(open_recording(recording)):
                if count % _STRIDE == 0:
                    update(recording.tell())
                yield entry
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except AuditorError as error:
        raise AuditorError(f"{path}: {error}") from None


def _size(path: Path) -> int | None:
    """Return how many bytes there are to read, where that is known."""
    return path.stat().st_size if path.is_file() else None


def _accusations(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in document["findings"] if finding["kind"] != "note"]


def _table(console: Console, rules: Mapping[str, Mapping[str, int]]) -> Table:
    table = make_table(console, "rule", "pass", "violation", "unknown")
    for rule, counts in rules.items():
        table.add_row(rule, *(str(counts.get(answer, 0)) for answer in ("pass", "violation", "unknown")))
    return table


def _print(console: Console, document: Mapping[str, Any]) -> None:
    console.print(_table(console, document["rules"]))
    found, coverage = _accusations(document), document["coverage"]
    for finding in found:
        line = f"{finding['rule']} {finding['kind']}: {finding['seen']}; expected {finding['expected']}"
        print_text(console, line, style="red")
    for item in document["unknown"]:
        print_text(console, f"{item['rule']} unknown: {item['gap']}")
    print_text(
        console,
        f"{coverage['used']} of {coverage['read']} events used ({coverage['duplicate']} duplicate, "
        f"{coverage['late']} late, {coverage['unreadable']} unreadable); {coverage['judged']} of "
        f"{coverage['decisions']} decisions judged; {len(found)} findings",
    )
