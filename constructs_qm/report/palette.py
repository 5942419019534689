"""Colours of the reports, for light and for dark screens.

Okabe and Ito's colours, which colour-blind readers can tell apart, as far as each stands out from its
background. No meaning hangs on colour alone: areas have patterns, lines have dashes, markers have shapes.
"""

from __future__ import annotations

__all__ = ["DARK", "DASHES", "LIGHT", "LINES", "dark_of_light"]

LIGHT = {
    "background": "#ffffff",
    "panel": "#f4f6f8",
    "text": "#1b1f24",
    "muted": "#545d68",
    "grid": "#dde2e7",
    "link": "#0b5cad",
    "focus": "#8a3ffc",
    "own": "#0072b2",
    "dispatched": "#8fb8d3",
    "borrowed": "#d55e00",
    "borrowed_tint": "#fbe6d8",
    "reserved": "#757d86",
    "reserved_tint": "#eef0f2",
    "lendable": "#00875f",
    "lendable_tint": "#d8efe6",
    "in_share": "#b0568a",
    "line_0": "#0072b3",
    "line_1": "#d55e01",
    "line_2": "#008f68",
    "line_3": "#b9598f",
    "line_4": "#24292f",
}
DARK = {
    "background": "#10151b",
    "panel": "#181f27",
    "text": "#e6edf3",
    "muted": "#a3adb8",
    "grid": "#2b343e",
    "link": "#79b8ff",
    "focus": "#d2a8ff",
    "own": "#3d9bd6",
    "dispatched": "#33607d",
    "borrowed": "#e69f00",
    "borrowed_tint": "#3b2d0b",
    "reserved": "#8b949e",
    "reserved_tint": "#20272f",
    "lendable": "#1fae84",
    "lendable_tint": "#12302a",
    "in_share": "#d98bb5",
    "line_0": "#56b4e9",
    "line_1": "#e69f01",
    "line_2": "#19b083",
    "line_3": "#cc79a7",
    "line_4": "#f0e442",
}
"""The same roles; every value of `LIGHT` is there once, so that a drawing can be turned from one to the other."""

LINES = ("line_0", "line_1", "line_2", "line_3", "line_4")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
"""With the lines, 25 that differ."""


def dark_of_light() -> dict[str, str]:
    """Return the dark colour that stands for each light one."""
    return {LIGHT[role]: DARK[role] for role in LIGHT}
