"""For whom was a job preempted? Events don't say, so it is inferred, with how sure that is.

Candidates are the waiting jobs that explain the preemption: one of each share, the one that was
first there. The dispatch that follows onto the freed capacity tells which of several it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any

from preemption_auditor.instants import iso
from preemption_auditor.rules.preemptions import could_be_entitled
from quota_scheduler import PreemptionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from preemption_auditor.instants import Span
    from preemption_auditor.jobs import Attempt, Wait
    from preemption_auditor.moments import Dispatch, Preempting

__all__ = ["Beneficiaries", "Confidence", "Inference"]


class Confidence(str, Enum):
    """How sure it is for whom a job was preempted."""

    CERTAIN = "certain"
    """Only one job explains it, and the recording is whole."""
    LIKELY = "likely"
    """Only jobs of one share could, and it was first among them; or events may be missing."""
    CONFIRMED = "confirmed"
    """Several jobs could, and one of them got the freed capacity."""
    OPEN = "open"
    """Jobs of several shares could, and nothing tells which."""
    NONE = "none"
    """No job that was seen explains it."""


@dataclass(slots=True)
class Inference:
    """For whom one job was preempted.

    Attributes
    ----------
    queue, victim, share : str
    kind : PreemptionKind or None
        None where the reason doesn't tell.
    at : Span
    candidates : tuple of (str, str)
        Job and share of those that explain it, first come first.
    alone : bool
        Whether no other job explains it, and none can be missing.
    got_it : str or None
        The candidate that was dispatched onto the freed capacity.
    """

    queue: str
    victim: str
    share: str
    kind: PreemptionKind | None
    at: Span
    candidates: tuple[tuple[str, str], ...]
    alone: bool
    got_it: str | None = None

    @property
    def confidence(self) -> Confidence:
        """Return how sure it is."""
        if not self.candidates:
            return Confidence.NONE
        if self.alone:
            return Confidence.CERTAIN
        if self.got_it is not None:
            return Confidence.CONFIRMED
        return Confidence.LIKELY if len(self.beneficiaries) == 1 else Confidence.OPEN

    @property
    def beneficiaries(self) -> tuple[tuple[str, str], ...]:
        """Return job and share of whoever it was for: of the first in each share where that is open."""
        confirmed = tuple(candidate for candidate in self.candidates if candidate[0] == self.got_it)
        firsts: dict[str, str] = {}
        for job, share in self.candidates:
            firsts.setdefault(share, job)
        return confirmed or tuple((job, share) for share, job in firsts.items())

    def to_document(self) -> dict[str, Any]:
        """Return the inference as ``batch-quota audit --json`` prints it."""
        return {
            "queue": self.queue,
            "job": self.victim,
            "share": self.share,
            "kind": self.kind.value if self.kind is not None else "unknown",
            "from": iso(self.at.lo),
            "to": iso(self.at.hi),
            "for": [{"job": job, "share": share} for job, share in self.beneficiaries],
            "confidence": self.confidence.value,
        }


@dataclass
class Beneficiaries:
    """Inferences of one queue.

    Attributes
    ----------
    inferences : list of Inference
        In order of time.
    """

    inferences: list[Inference] = field(default_factory=list)
    _open: list[tuple[Inference, Attempt]] = field(default_factory=list)

    def preempted(self, step: Preempting) -> None:
        """Infer for whom a job is stopped, from who waits now."""
        attempt = step.preemption.attempt
        if attempt is None or attempt.share is None:
            return
        explaining = {wait.job: wait.share for wait in sorted(_explaining(step, attempt), key=_place)}
        inference = Inference(
            queue=step.queue.name,
            victim=attempt.job,
            share=attempt.share,
            kind=step.preemption.kind,
            at=step.at,
            candidates=tuple(explaining.items()),
            alone=step.queue.complete and len(explaining) == 1,
        )
        self.inferences.append(inference)
        if len(explaining) > 1:
            self._open.append((inference, attempt))

    def forget(self, before: int) -> None:
        """Drop what started before a moment."""
        self.inferences = [inference for inference in self.inferences if inference.at.hi >= before]
        self._open = [(inference, victim) for inference, victim in self._open if inference.at.hi >= before]

    def dispatched(self, dispatch: Dispatch) -> None:
        """See whether one of several candidates got what was freed."""
        if not self._open:
            return
        jobs = {attempt.job for attempt in dispatch.attempts}
        still_open = []
        for inference, victim in self._open:
            got = [job for job, _ in inference.candidates if job in jobs]
            if victim.left is not None and victim.left.lo <= dispatch.at.hi and got:
                inference.got_it = got[0] if len(got) == 1 else None
            else:
                still_open.append((inference, victim))
        self._open = still_open


def _explaining(step: Preempting, attempt: Attempt) -> Iterator[Wait]:
    """Yield waiting jobs that explain a preemption: of each group of alike jobs the first two."""
    kind, since = step.preemption.kind, step.at.lo - step.queue.lag
    waiting = step.queue.waiting
    if kind is not PreemptionKind.IN_SHARE:
        for share in waiting.shares():
            if share != attempt.share:
                for _, _, wait in waiting.groups(share, since):
                    if could_be_entitled(step, attempt, wait):
                        yield from _like(step, wait, since)
    if kind is not PreemptionKind.CROSS_SHARE:
        own = min(step.job.priorities_within(since, step.at.hi), default=0)
        for priority, _, wait in waiting.groups(attempt.share or "", since, attempt.job):
            if (priority or 0) > own:
                yield from _like(step, wait, since)


def _like(step: Preempting, wait: Wait, since: int) -> Iterator[Wait]:
    """Yield the first two waits alike to one, of those that may have gone on at `since`."""
    group = step.queue.waiting.waits(wait.share, wait.priority, wait.demand)
    yield from islice((w for w in group if w.until is None or w.until.hi >= since), 2)


def _place(wait: Wait) -> tuple[bool, int, int]:
    return bool(wait.blocked), -(wait.priority or 0), wait.created
