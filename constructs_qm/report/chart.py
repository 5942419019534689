"""A chart: a figure, the sentence that says what it shows, and a table of the same figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from constructs_qm.report.palette import DASHES, LIGHT, LINES

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Chart", "Table", "label", "line_style", "short_label", "style"]

_LABEL = 24


@dataclass(frozen=True)
class Table:
    """A table of a report; cells are text as it is, escaped when the page is made.

    Attributes
    ----------
    caption : str
    columns : list of str
    rows : list of list of str
    headings : int
        How many columns at the beginning say what a row is about; the others are aligned as figures
        where `figures` is set.
    figures : bool
    """

    caption: str
    columns: list[str]
    rows: list[list[str]]
    headings: int = 1
    figures: bool = True


@dataclass(frozen=True)
class Chart:
    """A chart with its table.

    Attributes
    ----------
    id : str
        Unique in the page.
    title : str
    summary : str
        What it shows, for those who see it and those who don't.
    figure : Figure
    table : Table
    timed : bool
        Whether its horizontal axis is the page's time, so that charts zoom together.
    counts : Table, optional
        Another table, of what the first one doesn't list.
    selects : bool
        Whether each row of the first table stands for something that can be picked in the figure: its points
        carry the number of the row.
    """

    id: str
    title: str
    summary: str
    figure: Figure
    table: Table = field(repr=False)
    timed: bool = True
    counts: Table | None = field(default=None, repr=False)
    selects: bool = False

    @property
    def json(self) -> str:
        """The figure as JSON; plotly escapes what could end the HTML script element it stands in."""
        text: str = self.figure.to_json()
        return text


def label(text: str) -> str:
    """Return text as plotly, which reads some HTML in labels, shows it unchanged."""
    return escape(text, quote=False)


def short_label(text: str) -> str:
    """Return a label for an axis or a legend, with its end left out where that would take the chart's place."""
    return label(text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}\u2026")


def line_style(index: int) -> dict[str, Any]:
    """Return colour and dash of the line with a number; the first 25 differ."""
    return {"color": LIGHT[LINES[index % len(LINES)]], "dash": DASHES[(index + index // len(LINES)) % len(DASHES)]}


def style(figure: Figure, height: int) -> Figure:
    """Give a figure the look of the page; colours are the light ones, which the page turns into dark ones."""
    axis = {
        "gridcolor": LIGHT["grid"],
        "linecolor": LIGHT["muted"],
        "zeroline": False,
        "tickfont": {"color": LIGHT["muted"]},
        "title": {"font": {"color": LIGHT["muted"], "size": 13}, "standoff": 8},
    }
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 48, "r": 12, "t": 40, "b": 58},
        paper_bgcolor=LIGHT["background"],
        plot_bgcolor=LIGHT["background"],
        font={"family": "system-ui, sans-serif", "size": 13, "color": LIGHT["text"]},
        hoverlabel={"bgcolor": LIGHT["panel"], "bordercolor": LIGHT["muted"], "font": {"color": LIGHT["text"]}},
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "font": {"size": 13}},
        dragmode="zoom",
    )
    figure.update_xaxes(axis)
    figure.update_yaxes(axis, automargin=True)  # not the other way: plotly can't come to rest with both
    return figure
