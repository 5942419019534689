"""Times in the unit that suits them."""

from __future__ import annotations

import pytest

from constructs_qm.report.time_axis import DateAxis, TimeAxis

DAY = 86_400


@pytest.mark.parametrize(
    ("span", "title", "at", "x", "text"),
    [
        (10, "seconds since the beginning", 5, 5, "5s"),
        (600, "minutes since the beginning", 90, 1.5, "1.5m"),
        (DAY, "hours since the beginning", 5400, 1.5, "1.5h"),
        (30 * DAY, "days since the beginning", 36 * 3600, 1.5, "1.5d"),
    ],
)
def test_the_unit_suits_the_span(span: float, title: str, at: float, x: float, text: str) -> None:
    axis = TimeAxis(1000, 1000 + span, "the beginning")
    assert (axis.title, axis.x(1000 + at), axis.text(1000 + at)) == (title, x, text)
    assert axis.range == [0, axis.x(1000 + span)]


def test_a_simulation_in_which_nothing_takes_time_has_an_axis() -> None:
    assert TimeAxis(5, 5, "the beginning").range == [0, 1]


def test_dates_are_in_utc_with_room_at_both_ends() -> None:
    axis = DateAxis(0, 100)
    assert (axis.x(1.5), axis.text(1.5), axis.text(60)) == (
        "1970-01-01 00:00:01.500",
        "1970-01-01 00:00:01.500",
        "1970-01-01 00:01:00",
    )
    assert axis.range == ["1969-12-31 23:59:57.000", "1970-01-01 00:01:43.000"]
