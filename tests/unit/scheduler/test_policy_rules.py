"""QM004, QM005 and QM009 to QM012: each fires, and stays silent on its nearest neighbour."""

from __future__ import annotations

import pytest

from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing, check_policy, dump_policy, load_policy

G5, P5 = "ml.g5.xlarge", "ml.p5.48xlarge"
LEND, RESERVE, BORROW = ResourceSharing.lend(), ResourceSharing.reserve(), ResourceSharing.lend_and_borrow()
A_SHARING, G5_CAPACITY = "shares.A.sharing", f"environment.{G5}"


def borrow(percent: int) -> ResourceSharing:
    return ResourceSharing.lend_and_borrow(limit_percent=percent)


def share(name: str, limits: dict[str, int], sharing: ResourceSharing = LEND) -> QuotaShare:
    return QuotaShare(name, limits, sharing)


def lenders(count: int) -> list[QuotaShare]:
    return [share(f"S{index}", {G5: 1}) for index in range(count)]


@pytest.mark.parametrize(
    ("environment", "shares", "expected"),
    [
        ({G5: 20}, lenders(20), []),
        ({G5: 21}, lenders(21), [("QM004", "error", "shares")]),
        ({G5: 2}, [share("A", {G5: 1}), share("A", {G5: 1})], [("QM004", "error", "shares.A")]),
        ({G5: 2}, [share("A", {G5: 1}), share("B", {G5: 1})], []),
        (
            {G5: 1},
            [share("A", {G5: 2})],
            [("QM005", "error", f"shares.A.limits.{G5}"), ("QM009", "warning", G5_CAPACITY)],
        ),
        ({G5: 1}, [share("A", {G5: 1, P5: 1})], [("QM005", "error", f"shares.A.limits.{P5}")]),
        ({G5: 3}, [share("A", {G5: 2}), share("B", {G5: 2})], [("QM009", "warning", G5_CAPACITY)]),
        ({G5: 4}, [share("A", {G5: 2}), share("B", {G5: 2})], []),
        ({G5: 5}, [share("A", {G5: 2}), share("B", {G5: 2})], [("QM010", "warning", G5_CAPACITY)]),
        ({G5: 5}, [], []),
        ({G5: 2}, [share("A", {G5: 2}, BORROW)], [("QM011", "warning", A_SHARING)]),
        ({G5: 3}, [share("A", {G5: 2}, BORROW), share("B", {G5: 1}, RESERVE)],
         [("QM011", "warning", A_SHARING)]),
        ({G5: 2, P5: 1}, [share("A", {G5: 2}, BORROW), share("B", {P5: 1})],
         [("QM011", "warning", A_SHARING)]),
        ({G5: 3}, [share("A", {G5: 2}, BORROW), share("B", {G5: 1})], []),
        ({G5: 3}, [share("A", {G5: 1}, borrow(200)), share("B", {G5: 2})], []),
        ({G5: 3}, [share("A", {G5: 1}, borrow(300)), share("B", {G5: 2})], [("QM012", "warning", A_SHARING)]),
        # one percentage serves both units: still of use for the second
        ({G5: 2, P5: 4}, [share("A", {G5: 1, P5: 1}, borrow(200)), share("B", {G5: 1, P5: 3})], []),
    ],
)  # fmt: skip
def test_rule(environment: dict, shares: list[QuotaShare], expected: list[tuple[str, str, str]]) -> None:
    findings = check_policy(QuotaPolicy(environment, tuple(shares)))
    assert [(finding.rule, finding.level.value, finding.path) for finding in findings] == expected


def test_messages_name_what_was_given_and_what_is_allowed() -> None:
    policy = QuotaPolicy({G5: 3}, (share("A", {G5: 4}),))
    assert str(check_policy(policy)[0]) == (
        "shares.A.limits.ml.g5.xlarge: capacity limit 4 of ml.g5.xlarge "
        "is above the service environment's 3: lower it or raise the environment's [QM005]"
    )


def test_a_policy_survives_being_written_down() -> None:
    policy = QuotaPolicy(
        {G5: 3, P5: 1},
        (
            QuotaShare("A", {G5: 1}, borrow(200), in_share_preemption=True),
            QuotaShare("B", {G5: 2, P5: 1}, RESERVE, enabled=False),
        ),
    )
    assert load_policy(dump_policy(policy)) == policy
