"""How shares stand: use, what they borrow, leave idle and lend."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import QuotaPolicy

P5 = "ml.p5.48xlarge"


def standing(lab: Lab, name: str) -> tuple[float, ...]:
    """Return use, limit, borrowed, idle and lent of a share."""
    [line] = lab.scheduler.state.ledger.standings(name)
    return line.use, line.limit, line.borrowed, line.idle, line.lent


@pytest.mark.parametrize(
    ("held", "lender", "other", "reserver"),
    [
        (1, (0, 1, 0, 1, 0), (0, 2, 0, 2, 0), (0, 1, 0, 1, 0)),
        (2, (0, 1, 0, 1, Fraction(1, 3)), (0, 2, 0, 2, Fraction(2, 3)), (0, 1, 0, 1, 0)),
        (4, (0, 1, 0, 1, 1), (0, 2, 0, 2, 2), (0, 1, 0, 1, 0)),
    ],
)
def test_what_is_borrowed_is_lent_by_all_lenders_in_proportion(
    held: int, lender: tuple[float, ...], other: tuple[float, ...], reserver: tuple[float, ...]
) -> None:
    lab = Lab(5, share("borrower", 1, BORROW), share("B", 1, LEND), share("C", 2, LEND), share("D", 1, RESERVE))
    lab.submit("job", "borrower", held)
    assert standing(lab, "borrower") == (held, 1, held - 1, 0, 0)
    assert [standing(lab, name) for name in "BCD"] == [pytest.approx(line) for line in (lender, other, reserver)]


def test_nobody_lends_more_than_is_idle() -> None:
    """Limits that were lowered leave more borrowed than anybody lends."""
    lab = Lab(3, share("A", 3, BORROW), share("B", 1, LEND))
    lab.submit("a", "A", 3)
    lab.scheduler.set_policy(QuotaPolicy({G5: 3}, (share("A", 1, BORROW), share("B", 1, LEND))))
    assert standing(lab, "A") == (3, 1, 2, 0, 0)
    assert standing(lab, "B") == (0, 1, 0, 1, 1)


def test_idle_is_what_the_limit_leaves() -> None:
    lab = Lab(12, share("A", 8, LEND), share("B", 4, RESERVE))
    lab.submit("a", "A", 3)
    lab.submit("b", "B", 1)
    assert standing(lab, "A") == (3, 8, 0, 5, 0)
    assert standing(lab, "B") == (1, 4, 0, 3, 0)


def test_units_without_limit_and_use_are_left_out() -> None:
    lab = Lab({G5: 2, P5: 2}, share("A", {G5: 1}, BORROW), share("B", {G5: 1, P5: 2}))
    ledger = lab.scheduler.state.ledger
    assert [line.unit for line in ledger.standings("A")] == [G5]
    assert [(line.unit, line.ceiling, line.lends) for line in ledger.standings("B")] == [(G5, 1, True), (P5, 2, True)]


def test_capacity_nobody_has_a_part_of() -> None:
    ledger = Lab(3).scheduler.state.ledger
    assert (ledger.total(G5), ledger.borrowed(G5), ledger.lendable(G5)) == (0, 0, 0)
