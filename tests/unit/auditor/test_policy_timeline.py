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
