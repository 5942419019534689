"""The shell of every report: one HTML file that loads nothing."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from constructs_qm._version import __version__
from constructs_qm.report.palette import DARK, LIGHT, dark_of_light

__all__ = ["render"]


def render(template: str, **values: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        Name of a template; whatever it shows of `values` is escaped.
    **values
        What it shows.

    Returns
    -------
    str
        HTML with its styles, scripts and data. Its policy lets the browser run these scripts alone, and
        load nothing.
    """
    environment = Environment(
        loader=PackageLoader("constructs_qm.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    colours = "const DARK = " + json.dumps(dark_of_light()) + ";\n"
    scripts = [get_plotlyjs(), colours + _asset("report.js")]
    return environment.get_template(template).render(
        version=__version__,
        scripts=[Markup(script) for script in scripts],
        hashes=[b64encode(sha256(script.encode()).digest()).decode() for script in scripts],
        style=Markup(_asset("report.css")),
        light=LIGHT,
        dark=DARK,
        **values,
    )


def _asset(name: str) -> str:
    return (files("constructs_qm.report") / "assets" / name).read_text(encoding="utf-8")
