"""One run of the judge of a deployed auditor: go on where the last run stopped, judge, commit.

Whatever crashes before the commit leaves everything as it was, and the next run does the same again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from preemption_auditor.audit import Auditor
from preemption_auditor.coverage import Coverage
from preemption_auditor.instants import SECOND
from preemption_auditor.snapshots import restore, take_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from preemption_auditor.findings import Finding
    from preemption_auditor.policy_timeline import PolicyTimeline
    from preemption_auditor.report import Report
    from preemption_auditor.settings import AuditSettings
    from preemption_auditor.stores import Store
    from quota_scheduler import QuotaPolicy

__all__ = ["Run", "judge_queue"]

_OVERLAP = 120 * SECOND
"""How long an event may be on its way into the store: so far back is read again."""
_WHOLE_RUN = 10**9
"""Events that are put into order together: all of a run."""
_REACH = 3600.0
"""Seconds by which an event may be late and still be judged in its place."""
_TOLD = 100
"""Preemptions, and decisions that couldn't be judged, a summary tells of: the latest."""
_LEASE = 15 * 60 * SECOND
"""Longer than a function can run: a run that crashed is taken over after this."""


@dataclass(frozen=True)
class Run:
    """What a run came to.

    Attributes
    ----------
    queue : str
    read : int
        Events read for the first time.
    news : tuple of Finding
        New and changed findings.
    coverage : Coverage
        What this run added.
    fresh : bool
        Whether it began anew, without an earlier state.
    """

    queue: str
    read: int
    news: tuple[Finding, ...]
    coverage: Coverage
    fresh: bool


@dataclass
class _State:
    """What is kept between two runs: the auditor, what it read in the time that is read again, and its coverage."""

    auditor: Auditor
    recent: set[str]
    counted: Coverage


def judge_queue(
    store: Store,
    queue: str,
    owner: str,
    now: int,
    policy: QuotaPolicy | PolicyTimeline,
    settings: AuditSettings,
    *,
    look_up: Callable[[list[str]], Iterable[Mapping[str, Any]]] | None = None,
) -> Run | None:
    """Judge what is new of a queue, and commit it.

    Parameters
    ----------
    store : Store
    queue : str
    owner : str
        Who judges, different for each run.
    now : int
        Milliseconds.
    policy : QuotaPolicy or PolicyTimeline
        As declared; only used where there is no earlier state.
    settings : AuditSettings
    look_up : callable, optional
        From the jobs that hold, as far as is known, to look-ups as events.

    Returns
    -------
    Run or None
        None where somebody else judges the queue.

    Raises
    ------
    LeaseLostError
        It took so long that somebody else took over; nothing was committed.
    """
    head = store.lease(queue, owner, now, _LEASE)
    if head is None:
        return None
    state, fresh = _go_on(head.state, policy, settings)
    since = max(0, head.written - _OVERLAP)
    recent: set[str] = set()
    read = 0
    for key, body in store.events(queue, since):
        recent.add(key)
        if key not in state.recent:
            state.auditor.feed(body)
            read += 1
    for event in look_up(state.auditor.holding()) if look_up is not None else ():
        state.auditor.feed(event)
    news = state.auditor.publish(now / SECOND)
    state.recent = {key for key in recent if int(key.partition("#")[0]) >= now - _OVERLAP}
    added, state.counted = state.auditor.coverage.minus(state.counted), state.auditor.coverage
    report = state.auditor.so_far()
    kept = replace(head, written=now, state=take_snapshot(state), summary=_summary(report))
    store.commit(queue, owner, kept, [(finding_key(finding), report.document_of(finding)) for finding in news])
    return Run(queue, read, tuple(news), added, fresh)


def finding_key(finding: Finding) -> str:
    """Return what a finding is stored under, whatever its revision."""
    return f"{finding.rule}#{blake2b(repr(finding.about).encode(), digest_size=10).hexdigest()}"


def _summary(report: Report) -> dict[str, Any]:
    """Return a report's document without what would grow for ever: findings are kept elsewhere."""
    document = report.to_document()
    return {**document, **{name: document[name][-_TOLD:] for name in ("preemptions", "unknown")}}


def _go_on(kept: bytes | None, policy: QuotaPolicy | PolicyTimeline, settings: AuditSettings) -> tuple[_State, bool]:
    """Return the state that was kept, or a new one where there is none that can be read."""
    if kept is not None:
        try:
            return restore(kept), False
        except ValueError:
            pass  # of another version: what happened before isn't known, as on the first day
    return _State(Auditor(policy, settings, batch=_WHOLE_RUN, reach=_REACH), set(), Coverage()), True
