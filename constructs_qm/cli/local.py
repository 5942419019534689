"""``batch-quota local``: the embedded endpoint."""

from __future__ import annotations

from typing import Annotated

import typer

from constructs_qm.cli.console import make_console

__all__ = ["local"]


def local(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 4577,
    speed: Annotated[float, typer.Option(min=0.001, help="Seconds that pass at the endpoint in one second.")] = 1.0,
) -> int:
    """Start the embedded endpoint, until interrupted.

    Example: batch-quota local --port 0 --speed 60
    """
    from constructs_qm.local import RealClock
    from constructs_qm.local.server import LIMITS, start

    console = make_console()
    with start(port, clock=RealClock(speed=speed)) as server:
        console.print(f"AWS endpoint at {server.url}", soft_wrap=True)
        console.print(LIMITS, style="dim")
        server.wait()
    return 0
