"""The ``batch-quota`` command: one module for each subcommand."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from constructs_qm._version import __version__
from constructs_qm.cli.audit import audit
from constructs_qm.cli.demo import demo
from constructs_qm.cli.deployment import export_deployed, import_file
from constructs_qm.cli.explain import explain
from constructs_qm.cli.local import local
from constructs_qm.cli.replay import replay
from constructs_qm.cli.simulate import simulate
from constructs_qm.cli.validate import validate
from preemption_auditor.exceptions import AuditorError
from quota_scheduler import QuotaSchedulerError

__all__ = ["app", "main"]

app = typer.Typer(
    name="batch-quota",
    help="Declare, check, try, predict and prove AWS Batch quota management policies.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (audit, demo, explain, local, replay, simulate, validate):
    app.command()(_command)
app.command("import")(import_file)
app.command("export")(export_deployed)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command line; bad input is one line on standard error and exit status 2."""
    try:
        status = app(prog_name="batch-quota", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "batch-quota"
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        _stop(f"{message.rstrip('.')} (see {command} --help)")
    except (QuotaSchedulerError, AuditorError, OSError) as error:
        _stop(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _stop(message: str) -> None:
    line = " ".join(message.split())
    typer.echo(f"batch-quota: {line}", err=True)
    sys.exit(2)
