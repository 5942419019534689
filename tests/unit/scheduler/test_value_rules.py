"""QM001, QM002, QM003 and QM006: values that must and must not raise."""

from __future__ import annotations

import pytest

from quota_scheduler import PolicyError, QuotaPolicy, QuotaShare, ResourceSharing
from quota_scheduler.value_rules import check_limits, check_sharing

G5 = "ml.g5.xlarge"


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 128])
def test_names_that_are_allowed(name: str) -> None:
    assert QuotaShare(name, {G5: 1}).name == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "a.b", "ü", "a\n", None, 5])
def test_fails_for_a_name_outside_the_alphabet(name: object) -> None:
    with pytest.raises(PolicyError, match=r"use 1 to 128 characters .* \[QM001\]"):
        QuotaShare(name, {G5: 1})


@pytest.mark.parametrize(
    ("limits", "rule", "says"),
    [
        ({}, "QM002", "0 capacity limits given: give 1 to 5"),
        ({f"ml.g{i}.xlarge": 1 for i in range(6)}, "QM002", "6 capacity limits given"),
        ({G5: 0}, "QM002", "capacity 0 of ml.g5.xlarge"),
        ({G5: -1}, "QM002", "capacity -1"),
        ({G5: 1.5}, "QM002", "capacity 1.5"),
        ({G5: True}, "QM002", "capacity True"),
        ({G5: "2"}, "QM002", "capacity '2'"),
        ([(G5, 1), (G5, 2)], "QM002", "ml.g5.xlarge is given twice"),
        ("ml.g5.xlarge", "QM002", "not a map"),
        (None, "QM002", "not a map"),
        ([(G5,)], "QM002", "not a map"),
        ({"NUM_INSTANCES": 1}, "QM003", "NUM_INSTANCES is not allowed"),
        ({"g5.xlarge": 1}, "QM003", "'g5.xlarge' is not a SageMaker training instance type"),
        ({"ml.g5": 1}, "QM003", "'ml.g5' is not"),
        ({"ml.G5.xlarge": 1}, "QM003", "'ml.G5.xlarge' is not"),
        ({5: 1}, "QM003", "5 is not"),
    ],
)
def test_limits_that_are_refused(limits: object, rule: str, says: str) -> None:
    findings = list(check_limits(limits))
    assert [finding.rule for finding in findings] == [rule]
    assert says in findings[0].message


@pytest.mark.parametrize("unit", [G5, "ml.p4d.24xlarge", "ml.trn1n.32xlarge", "ml.p5en.48xlarge", "ml.u-6tb1.metal"])
def test_units_that_are_allowed(unit: str) -> None:
    assert list(check_limits({unit: 1})) == []


@pytest.mark.parametrize(
    ("strategy", "borrow_limit", "allowed"),
    [
        ("RESERVE", None, True),
        ("LEND", None, True),
        ("LEND_AND_BORROW", None, True),
        ("LEND_AND_BORROW", -1, True),
        ("LEND_AND_BORROW", 0, True),
        ("LEND_AND_BORROW", 200, True),
        ("LEND_AND_BORROW", -2, False),
        ("LEND_AND_BORROW", 1.5, False),
        ("LEND_AND_BORROW", True, False),
        ("LEND_AND_BORROW", "200", False),
        ("LEND", 0, False),
        ("RESERVE", -1, False),
        ("BORROW", None, False),
        (None, None, False),
    ],
)
def test_sharing(strategy: object, borrow_limit: object, allowed: bool) -> None:
    assert [finding.rule for finding in check_sharing(strategy, borrow_limit)] == ([] if allowed else ["QM006"])
    if not allowed:
        with pytest.raises(PolicyError, match="QM006"):
            ResourceSharing(strategy, borrow_limit)


def test_an_environment_is_checked_like_a_share() -> None:
    with pytest.raises(PolicyError, match=r"environment: capacity 0 .*\[QM002\]"):
        QuotaPolicy({G5: 0})


def test_several_findings_are_counted() -> None:
    with pytest.raises(PolicyError, match=r"\(and 1 more\)") as caught:
        QuotaShare("", {G5: 0})
    assert [finding.rule for finding in caught.value.findings] == ["QM001", "QM002"]


@pytest.mark.parametrize(
    ("sharing", "unit", "most"),
    [
        (ResourceSharing.reserve(), G5, 0),
        (ResourceSharing.lend(), G5, 0),
        (ResourceSharing.lend_and_borrow(), G5, float("inf")),
        (ResourceSharing.lend_and_borrow(limit_percent=0), G5, 0),
        (ResourceSharing.lend_and_borrow(limit_percent=200), G5, 6),
        (ResourceSharing.lend_and_borrow(limit_percent=50), G5, 1),  # 1.5, rounded down
        (ResourceSharing.lend_and_borrow(limit_percent=50), "ml.p5.48xlarge", 0),
    ],
)
def test_borrow_limit_is_a_percentage_of_the_capacity_limit(sharing, unit, most) -> None:
    assert QuotaShare("A", {G5: 3}, sharing).borrowable(unit) == most


def test_a_policy_cannot_be_changed_behind_its_back() -> None:
    limits = {G5: 1}
    share = QuotaShare("A", limits)
    limits[G5] = 7
    assert share.limits[G5] == 1
    with pytest.raises(TypeError):
        share.limits[G5] = 7
