"""The ``batch-quota`` application: its commands, and what becomes of their errors."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from constructs_qm._version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["STAGES", "InputError", "run"]

READER_GONE = 141
"""128 and SIGPIPE, as shells have it."""

_INTERRUPTED = 130

STAGES = {
    "Declare": {
        "import": ("deployment:import_file", "turn AWS's published sample into a deployment file"),
        "export": ("deployment:export_deployed", "turn a deployed queue into a deployment file"),
    },
    "Check": {
        "validate": ("validate:validate", "check policies, templates or a deployed queue"),
    },
    "Try": {
        "demo": ("demo:demo", "run the launch article's walk-through"),
        "local": ("local:local", "start the embedded endpoint"),
    },
    "Predict": {
        "simulate": ("simulate:simulate", "compare what policies do to a workload"),
        "explain": ("explain:explain", "say why a job waits, or what a submission would do"),
        "replay": ("replay:replay", "run known-answer cases through the scheduler"),
    },
    "Prove": {
        "audit": ("audit:audit", "judge recorded events against a policy"),
    },
}
"""Each command's function, as module and name, and its summary, by what the command is for."""

_EXAMPLES = "Examples\n--------\n"


class InputError(Exception):
    """What was given can't be used; the message says what to do about it."""


class _Command(TyperCommand):
    """A command whose help ends with its examples, line for line."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records = {param: param.get_help_record(ctx) for param in self.get_params(ctx)}
        arguments = [(param.metavar or "", param.help or "") for param in records if isinstance(param, TyperArgument)]
        options = [record for param, record in records.items() if record and not isinstance(param, TyperArgument)]
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=26)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}".rstrip() + "\n" for line in self.epilog.splitlines()))


class _CommandToImport(TyperCommand):
    """Stands for a command in lists, and makes room for it once it is called."""

    def __init__(self, name: str, function: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self._module, self._function = function.split(":")

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        module = import_module(f"constructs_qm.cli.{self._module}")
        command = _make_command(getattr(module, self._function))
        return command.make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    """The commands, listed by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for stage, commands in STAGES.items():
            with formatter.section(stage):
                formatter.write_dl([(f"{name:<8}", summary) for name, (_, summary) in commands.items()])

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # typer would end with 1, which stands for findings
            raise typer.Exit(READER_GONE) from None


def run() -> int:
    """Run the command that the arguments name.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    InputError
        For all bad input.
    """
    try:
        status = _make_application()(prog_name="batch-quota", standalone_mode=False)
    except typer.TyperException as error:
        raise InputError(_usage_message(error)) from error
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if isinstance(error, _input_errors()):
            raise InputError(str(error)) from error
        raise
    if status == _INTERRUPTED:  # how typer passes it on
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _make_application() -> TyperGroup:
    settings = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(cls=_Commands, rich_markup_mode=None, context_settings=settings)
    app.callback()(_options)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for commands in STAGES.values():
        for name, (function, summary) in commands.items():
            group.add_command(_CommandToImport(name, function, summary))
    return group


def _make_command(function: Callable[..., int]) -> Any:
    """Return the command of a function; its docstring is the help, and has the examples in a section of their own."""
    help_text, _, examples = (getdoc(function) or "").partition(_EXAMPLES)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=_Command, help=help_text, epilog=examples)(function)
    return typer.main.get_command(app)


def _print_version(asked: bool) -> None:
    if asked:
        compiled = find_spec("quota_scheduler__mypyc") is not None  # what hatch_build.py adds
        typer.echo(f"{__version__} (scheduler compiled)" if compiled else __version__)
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Declare, check, try, predict and prove AWS Batch quota management policies.

    batch-quota COMMAND --help has examples. Exit status: 0 fine, 1 findings, 2 bad input.
    """


def _usage_message(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "batch-quota"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return f"{message.rstrip('.')} (see {command} --help)"


def _input_errors() -> tuple[type[Exception], ...]:
    """Return what bad input raises; these come with packages that a listing of the commands doesn't need."""
    from preemption_auditor.exceptions import AuditorError
    from quota_scheduler import QuotaSchedulerError

    return QuotaSchedulerError, AuditorError, OSError
