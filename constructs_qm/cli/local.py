"""``batch-quota local``: the embedded endpoint."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from constructs_qm.cli.console import make_console, print_text

__all__ = ["local"]


def local(
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on; 0 picks a free one.")
    ] = 4577,
    speed: Annotated[
        float, typer.Option(metavar="FACTOR", min=0.001, help="Seconds that pass at the endpoint in one second.")
    ] = 1.0,
    stepped: Annotated[
        bool, typer.Option("--stepped", help="Let time pass only by steps, from the live view or POST /_quota/clock.")
    ] = False,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on from the state saved there, and save it at the end.")
    ] = None,
    env: Annotated[
        bool, typer.Option("--env", help="Print what clients need in their environment, as export commands.")
    ] = False,
) -> int:
    """Start the embedded endpoint, until interrupted.

    With --env it also writes a config file for SageMaker's SDK, .batch-quota-sagemaker.yaml, and names it.

    Examples
    --------
    # a minute passes in a second, and the state is kept between runs
    batch-quota local --speed 60 --state lab.state

    # then, in another terminal, with any client of AWS
    export AWS_ENDPOINT_URL=http://127.0.0.1:4577
    aws batch list-scheduling-policies
    """
    from constructs_qm.local import RealClock, SteppedClock
    from constructs_qm.local.live_view import PAGE
    from constructs_qm.local.saved_state import StateError
    from constructs_qm.local.server import LIMITS, start

    if state is not None and not state.parent.is_dir():
        raise typer.BadParameter(f"--state {state}: there is no folder {state.parent} to save it in: make it first")
    if stepped and speed != 1:
        raise typer.BadParameter("a stepped clock has no speed: give --stepped or --speed, not both")
    console = make_console()
    clock = SteppedClock(int(time.time())) if stepped else RealClock(speed=speed)
    try:
        server = start(port, clock=clock, state_file=state)
    except StateError as error:
        raise typer.TyperException(str(error)) from None
    with server, suppress(KeyboardInterrupt):  # an interrupt may come before it waits for one
        console.print(f"AWS endpoint at {server.url}", soft_wrap=True)
        console.print(f"Live view at {server.url}{PAGE}", soft_wrap=True)
        print_text(console, LIMITS, style="dim")
        if env:
            for name, value in server.environment(Path(".batch-quota-sagemaker.yaml").resolve()).items():
                console.print(f"export {name}={value}", soft_wrap=True)
        server.wait()
    return 0
