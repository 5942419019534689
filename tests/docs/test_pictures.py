"""The pictures: readable by people who see colours otherwise or not at all, in light and dark, and on any page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from support.documentation import DOCS, PAGES

if TYPE_CHECKING:
    from pathlib import Path

PICTURES = sorted((DOCS / "images").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {"#0072b2", "#56b4e9", "#d55e00", "#e69f00"}
"""Of Okabe and Ito, told apart by colour-blind readers; the rest is black, white and grey."""
ON_COLOUR = {"on-own": ("#ffffff", ["#0072b2"]), "on-light": ("#000000", ["#e69f00", "#d55e00"])}


def names_of(path: Path) -> str:
    return path.name


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def fill(style: str, name: str) -> str:
    found = re.search(rf"\.{name} {{ fill: (#[0-9a-f]{{6}})", style)
    assert found, name
    return found[1]


@pytest.mark.parametrize("picture", PICTURES, ids=names_of)
def test_a_picture_says_what_it_shows(picture: Path) -> None:
    root = ElementTree.parse(picture).getroot()
    labels = {root.find(f"{SVG}title"), root.find(f"{SVG}desc")}
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby") or "").split() == ["title", "desc"]
    assert all(label is not None and label.text and label.get("id") for label in labels)
    assert not re.search(r"<script|<image|href=\"(?!#)|url\((?!#)", picture.read_text())


@pytest.mark.parametrize("picture", PICTURES, ids=names_of)
def test_a_picture_is_readable_in_light_and_dark(picture: Path) -> None:
    light, _, dark = picture.read_text().partition("</style>")[0].partition("@media (prefers-color-scheme: dark)")
    for style in (light, dark):
        for words in ("ink", "faint"):
            assert contrast(fill(style, words), fill(style, "bg")) >= 4.5
    for words, (colour, behind) in ON_COLOUR.items():
        assert fill(light, words) == colour
        assert all(contrast(colour, other) >= 4.5 for other in behind)
    greys = [colour for colour in re.findall(r"#[0-9a-f]{6}", light + dark) if colour not in COLOURS]
    spread = [max(part) - min(part) for part in (bytes.fromhex(grey[1:]) for grey in greys)]
    assert max(spread) <= 20, "a colour that isn't one of the four"


@pytest.mark.parametrize("picture", PICTURES, ids=names_of)
def test_a_picture_is_shown_with_words_beside_it(picture: Path) -> None:
    shown = [
        words
        for page in PAGES
        for words, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text())
        if (page.parent / path).resolve() == picture.resolve()
    ]
    assert shown
    assert all(len(words) > 40 for words in shown)
