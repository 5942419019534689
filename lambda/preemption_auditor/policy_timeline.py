"""The policy over time: which versions may have been in force at a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from preemption_auditor.exceptions import AuditorError
from preemption_auditor.instants import Span, to_milliseconds
from quota_scheduler import load_policy
from quota_scheduler.policy_document import require_mapping

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy

__all__ = ["Edit", "PolicyTimeline", "load_policy_timeline"]

Edit: TypeAlias = "Callable[[QuotaPolicy], QuotaPolicy | None]"
_Policies: TypeAlias = "tuple[QuotaPolicy, ...]"

_TOGETHER = 8
"""Edits of one second whose orders are all tried; of more, one order and its reverse."""


@dataclass(frozen=True, slots=True)
class _Version:
    """What may be in force from some moment of `since` on.

    `passing` are policies that may have been in force within that span only, `edits` what led here.
    """

    since: Span
    policies: tuple[QuotaPolicy, ...]
    passing: tuple[QuotaPolicy, ...] = ()
    edits: tuple[Edit, ...] = ()


class PolicyTimeline:
    """Versions of a policy, each in force until the next one.

    Parameters
    ----------
    versions : iterable of (float or str, QuotaPolicy)
        Since when each is in force, in seconds or as ISO 8601 text. The first one counts from the
        beginning of time.

    Attributes
    ----------
    version : int
        Grows with every change.
    over_time : bool
        Whether it was given as versions over time: then it tells of every change.

    Raises
    ------
    AuditorError
        There is no version, or a time can't be read.
    """

    def __init__(self, versions: Iterable[tuple[float | str, QuotaPolicy]]) -> None:
        timed = [(to_milliseconds(at, "policy version's at"), policy) for at, policy in versions]
        timed.sort(key=lambda version: version[0])
        if not timed:
            raise AuditorError("policy over time has no version: give at least one")
        self._versions = [_Version(Span(at, at), (policy,)) for at, policy in timed]
        self.version = self._dropped = 0
        self.over_time = True

    @classmethod
    def constant(cls, policy: QuotaPolicy) -> PolicyTimeline:
        """Return a timeline on which `policy` is always in force."""
        timeline = cls([(0, policy)])
        timeline.over_time = False
        return timeline

    def copy(self) -> PolicyTimeline:
        """Return a timeline of its own, to be changed."""
        other = PolicyTimeline.__new__(PolicyTimeline)
        other._versions = list(self._versions)
        other.version, other._dropped, other.over_time = self.version, self._dropped, self.over_time
        return other

    def changes(self) -> list[int]:
        """Return when another version comes into force, in milliseconds."""
        return [version.since.lo for version in self._versions[1:]]

    def change(self, at: Span, edit: Edit, *, sure: bool = True) -> bool:
        """Let an edit come into force at some moment of `at`; return whether it is about this policy.

        Edits of one second may have come in any order, so what any order leads to may be in
        force. Versions announced for later stay as they are.

        Parameters
        ----------
        at : Span
        edit : callable
            From a policy to the changed one, or to None where it isn't about it.
        sure : bool
            Whether it surely is about this policy: where it isn't, what was in force before may still be.
        """
        place = self._place(at.lo)
        last = self._versions[place]
        if all(edit(policy) is None for policy in last.policies):
            return False
        self.version += 1
        if not sure:
            edited = [edit(policy) or policy for policy in last.policies]
            self._versions.insert(place + 1, _Version(at, _distinct([*last.policies, *edited])))
        elif last.edits and at.lo <= last.since.hi:
            edits = (*last.edits, edit)
            since = Span(last.since.lo, max(last.since.hi, at.hi))
            self._versions[place] = _edited(self._versions[place - 1], since, edits)
        else:
            self._versions.insert(place + 1, _edited(last, at, (edit,)))
        return True

    def within(self, lo: int, hi: int) -> list[QuotaPolicy]:
        """Return every policy that may have been in force at some moment from `lo` to `hi`, latest last."""
        found: list[QuotaPolicy] = []
        for index, version in enumerate(self._versions):
            after = self._versions[index + 1] if index + 1 < len(self._versions) else None
            if (index and version.since.lo > hi) or (after is not None and after.since.hi < lo):
                continue
            found += version.passing if version.since.hi >= lo else ()
            found += version.policies
        return found

    def forget(self, before: int) -> None:
        """Drop versions that were replaced before a moment."""
        while len(self._versions) > 1 and self._versions[1].since.hi < before:
            del self._versions[0]
            self._dropped += 1

    def stamp(self, time: int) -> tuple[int, int]:
        """Return what tells the policy in force at a moment from that at another one."""
        return self.version, self._dropped + self._place(time)

    def _place(self, time: int) -> int:
        """Return the index of the version announced last by a moment."""
        index = 0
        while index + 1 < len(self._versions) and self._versions[index + 1].since.lo <= time:
            index += 1
        return index


def _edited(base: _Version, since: Span, edits: tuple[Edit, ...]) -> _Version:
    """Return what edits, which may have come in any order, may make of a version."""
    tried = _in_any_order if len(edits) <= _TOGETHER else _in_two_orders
    ends, passing = tried(base.policies, edits)
    return _Version(since, ends, passing, edits)


def _in_any_order(policies: _Policies, edits: tuple[Edit, ...]) -> tuple[_Policies, _Policies]:
    """Return where edits may lead to, and what they may pass: from every subset of them, by one more."""
    reached: dict[int, _Policies] = {0: policies}
    everything = (1 << len(edits)) - 1
    for done in range(1, everything + 1):
        steps = [(edit, done & ~(1 << bit)) for bit, edit in enumerate(edits) if done >> bit & 1]
        reached[done] = _distinct([edit(policy) or policy for edit, before in steps for policy in reached[before]])
    ends = reached.pop(everything)
    return ends, _distinct([policy for policies in reached.values() for policy in policies])


def _in_two_orders(policies: _Policies, edits: tuple[Edit, ...]) -> tuple[_Policies, _Policies]:
    """Return where edits lead to in the order given or in its reverse, and what they pass on the way."""
    ends, passing = [], []
    for order in (edits, edits[::-1]):
        for policy in policies:
            edited = policy
            for edit in order:
                passing.append(edited)
                edited = edit(edited) or edited
            ends.append(edited)
    return _distinct(ends), _distinct(passing)


def _distinct(policies: list[QuotaPolicy]) -> tuple[QuotaPolicy, ...]:
    """Return policies that differ; the order of shares has no meaning."""
    distinct: list[tuple[object, QuotaPolicy]] = []
    for policy in policies:
        content = policy.environment, {share.name: share for share in policy.shares}
        if all(content != known for known, _ in distinct):
            distinct.append((content, policy))
    return tuple(policy for _, policy in distinct)


def load_policy_timeline(document: object) -> PolicyTimeline:
    """Make a timeline from a policy document or a list of ``{"at": ..., ...policy}``.

    Raises
    ------
    AuditorError
        A version has no readable ``at``, or the list is empty.
    DocumentError, PolicyError
        As for :func:`quota_scheduler.load_policy`.
    """
    if isinstance(document, str) or not isinstance(document, Sequence):
        return PolicyTimeline.constant(load_policy(document))
    versions = []
    for index, entry in enumerate(document):
        version = require_mapping(entry, f"policy version [{index}]")
        if "at" not in version:
            raise AuditorError(f"policy version [{index}] has no 'at': give seconds or ISO 8601")
        versions.append((version["at"], load_policy(version)))
    return PolicyTimeline(versions)
