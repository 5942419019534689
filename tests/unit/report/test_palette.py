"""Colours that everybody can tell from the background, and colour-blind readers from each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from constructs_qm.report.chart import line_style
from constructs_qm.report.palette import DARK, LIGHT, LINES, dark_of_light

PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
DRAWN = ("own", "borrowed", "reserved", "lendable", "in_share", "focus", *LINES)
MACHADO = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Machado, Oliveira and Fernandes (2009): what remains of linear red, green and blue."""


def linear(colour: str) -> tuple[float, ...]:
    channels = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio."""
    low, high = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def lab(rgb: tuple[float, ...]) -> tuple[float, ...]:
    """CIELAB of linear sRGB, white point D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = (
        sum(w * c for w, c in zip(row, rgb, strict=True)) / n for row, n in zip(rows, (0.9505, 1, 1.089), strict=True)
    )
    x, y, z = (max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: str, other: str, sight: str) -> float:
    def seen(colour: str) -> tuple[float, ...]:
        return lab(tuple(sum(w * c for w, c in zip(row, linear(colour), strict=True)) for row in MACHADO[sight]))

    return sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5


@PALETTES
def test_text_and_drawings_stand_out_from_their_background(palette: dict[str, str]) -> None:
    for ground in ("background", "panel"):
        assert contrast(palette["text"], palette[ground]) >= 7
        assert contrast(palette["muted"], palette[ground]) >= 4.5
        assert contrast(palette["link"], palette[ground]) >= 4.5
    for role in DRAWN:
        assert contrast(palette[role], palette["background"]) >= 3, role
    assert contrast(palette["borrowed"], palette["borrowed_tint"]) >= 3


@PALETTES
@pytest.mark.parametrize("sight", MACHADO)
def test_colour_blind_readers_can_tell_areas_and_lines_apart(palette: dict[str, str], sight: str) -> None:
    areas = [("own", "reserved_tint"), ("own", "lendable_tint"), ("borrowed", "reserved_tint"), ("own", "borrowed")]
    for one, other in (*areas, ("borrowed", "in_share"), *combinations(LINES[:3], 2)):
        assert difference(palette[one], palette[other], sight) >= 10, (one, other)


def test_every_light_colour_has_one_dark_colour() -> None:
    assert set(LIGHT) == set(DARK)
    assert len(dark_of_light()) == len(LIGHT)


def test_twenty_shares_have_twenty_lines() -> None:
    assert len({tuple(line_style(index).values()) for index in range(25)}) == 25
