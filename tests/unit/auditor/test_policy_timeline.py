"""The policy over time: edits of one second, whose order isn't known."""

from __future__ import annotations

from functools import partial

from support.recording import G5

from preemption_auditor import PolicyTimeline
from preemption_auditor.instants import Span
from quota_scheduler import QuotaPolicy, QuotaShare


def with_share(share: QuotaShare, policy: QuotaPolicy) -> QuotaPolicy:
    return policy.with_share(share)


def test_shares_added_in_one_second_are_the_same_policy_in_every_order() -> None:
    """Eight of them have 40,320 orders."""
    shares = tuple(QuotaShare(f"s{number}", {G5: 1}) for number in range(8))
    timeline = PolicyTimeline.constant(QuotaPolicy({G5: 8}))
    for share in shares:
        assert timeline.change(Span(1000, 1999), partial(with_share, share))
    [policy] = timeline.within(2000, 2000)
    assert {share.name: share for share in policy.shares} == {share.name: share for share in shares}
    possible = timeline.within(1000, 1999)
    assert len({frozenset(share.name for share in policy.shares) for policy in possible}) == 2**8
    assert len(possible) <= 2**8 + 1, "the first policy is named by two versions"


def test_all_shares_of_a_queue_may_be_added_in_one_second() -> None:
    shares = tuple(QuotaShare(f"s{number}", {G5: 1}) for number in range(20))
    timeline = PolicyTimeline.constant(QuotaPolicy({G5: 20}))
    for share in shares:
        assert timeline.change(Span(1000, 1999), partial(with_share, share))
    [policy] = timeline.within(2000, 2000)
    assert {share.name: share for share in policy.shares} == {share.name: share for share in shares}


def test_of_many_edits_in_one_second_two_of_one_share_may_have_come_either_way() -> None:
    timeline = PolicyTimeline.constant(QuotaPolicy({G5: 20}))
    edits = [QuotaShare(f"s{number}", {G5: 1}) for number in range(9)]
    for share in (*edits[:5], QuotaShare("s8", {G5: 7}), *edits[5:]):
        assert timeline.change(Span(1000, 1999), partial(with_share, share))
    limits = [{share.name: share.limits[G5] for share in policy.shares} for policy in timeline.within(2000, 2000)]
    assert sorted(policy["s8"] for policy in limits) == [1, 7]
    assert all(len(policy) == 9 for policy in limits)
