"""Where the commands print for people."""

from __future__ import annotations

from rich.console import Console

__all__ = ["make_console"]


def make_console() -> Console:
    """Return a console for standard output: plain when piped, without colours where NO_COLOR is set."""
    return Console(highlight=False, emoji=False)
