"""The audits of all queues, and how they go back when an event comes late.

After every step a snapshot is kept. An event that belongs before it sends everything back to the
last snapshot before the event, from where all that came since is judged again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from preemption_auditor.api_calls import ApiCall, edited_priority, queue_of
from preemption_auditor.judge import Judge
from preemption_auditor.observations import Observation
from preemption_auditor.queue_history import QueueHistory
from preemption_auditor.reading import PolicyFound
from preemption_auditor.snapshots import restore, take_snapshot

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from preemption_auditor.policy_timeline import PolicyTimeline
    from preemption_auditor.reading import Item
    from preemption_auditor.settings import AuditSettings

__all__ = ["GENERATIONS", "QueueAudit", "QueueAudits"]

GENERATIONS = 3
"""Snapshots kept: an event may be late by up to as many steps."""
_BEGINNING = -(10**15)


@dataclass
class QueueAudit:
    """One queue: what is known of it, and what was judged.

    Attributes
    ----------
    history : QueueHistory
    judge : Judge
    """

    history: QueueHistory
    judge: Judge


@dataclass
class _Generation:
    """A snapshot, and what came in after it."""

    position: int
    snapshot: bytes
    items: list[Item] = field(default_factory=list)


class QueueAudits:
    """The audits of all queues.

    Parameters
    ----------
    policy : PolicyTimeline
    settings : AuditSettings
    spacing : int
        Milliseconds between two snapshots, at least: how far back they reach together.

    Attributes
    ----------
    queues : dict of str to QueueAudit
        By name; the empty name holds what belongs to no known queue.
    """

    def __init__(self, policy: PolicyTimeline, settings: AuditSettings, spacing: int = 0) -> None:
        self._policy = policy
        self._spacing = spacing
        self._settings = settings
        self.queues: dict[str, QueueAudit] = {}
        self._generations = deque([_Generation(_BEGINNING, take_snapshot({}))], maxlen=GENERATIONS)
        self._orphans: list[Item] = []
        self._of_all: dict[Hashable, ApiCall] = {}

    @property
    def position(self) -> int:
        """Moment up to which everything was judged, in milliseconds."""
        return self._generations[-1].position

    @property
    def reach(self) -> int:
        """Moment back to which late events are judged again, in milliseconds."""
        return self._generations[0].position

    @property
    def jobs(self) -> int:
        """How many jobs are remembered."""
        return sum(len(queue.history.jobs) for queue in self.queues.values())

    def step(self, new: Iterable[Item], watermark: int, *, last: bool = False, clock: bool = False) -> None:
        """Judge everything up to the watermark, from as far back as the oldest new item asks.

        Parameters
        ----------
        new : iterable of Item
            What came in since the last step, in any order.
        watermark : int
            Milliseconds.
        last : bool
            Whether nothing will follow.
        clock : bool
            Whether time passes without events, too.
        """
        items = self._admit(new, last)
        oldest = min((item.at.lo for item in items), default=watermark)
        judged, earlier, reach = self.position, self.queues, self.reach
        late = oldest < judged
        if late:
            items = self._go_back(oldest, items)
        self._generations[-1].items.extend(items)
        self._route(items)
        for name, queue in self.queues.items():
            for moment in queue.history.advance(watermark, clock=clock):
                queue.judge.judge(moment)
            if late:
                before = earlier[name].judge if name in earlier else Judge(name)
                queue.judge.revise(before, self.position, judged)
                if oldest < reach:
                    queue.judge.withdraw(oldest)
        if not last:
            self._keep(watermark)

    def _keep(self, position: int) -> None:
        """Keep a snapshot, in place of the last one where that is close to the one before."""
        generations = self._generations
        if len(generations) > 1 and position - generations[-2].position < self._spacing:
            between = generations.pop()
            generations[-1].items.extend(between.items)
        generations.append(_Generation(position, take_snapshot(self.queues)))

    def _admit(self, new: Iterable[Item], last: bool) -> list[Item]:
        """Return what is to be judged now; preemptions of jobs nothing tells of yet wait for a later step."""
        items, self._orphans = [*self._orphans, *new], []
        described = {item.job for item in items if isinstance(item, Observation) and item.facts is not None}
        admitted: list[Item] = []
        for item in items:
            known = not isinstance(item, Observation) or item.job in described or self._home(item.job) is not None
            (admitted if known or last or item.at.lo < self.reach else self._orphans).append(item)
        return admitted

    def _go_back(self, oldest: int, items: list[Item]) -> list[Item]:
        """Return to the last state before `oldest`, or to the first there is; return all that came in since."""
        while True:
            generation = self._generations[-1]
            items = generation.items + items
            generation.items = []
            if generation.position <= oldest or len(self._generations) == 1:
                break
            self._generations.pop()
        self.queues = restore(generation.snapshot)
        return items

    # -- which queue an item belongs to ---------------------------------------------------

    def _route(self, items: list[Item]) -> None:
        """Hand every item to its queue; preemption events and most calls only name a job."""
        jobs = [item for item in items if isinstance(item, Observation)]
        homes = {item.job: item.facts.queue or "" for item in jobs if item.facts is not None}
        for item in jobs:
            name = homes.get(item.job) or self._home(item.job) or ""  # the queue of jobs nothing else is known of
            self._queue(name).history.observe(item)
        for other in items:
            if isinstance(other, ApiCall):
                self._route_call(other, homes)
            elif isinstance(other, PolicyFound):
                for name in list(self.queues) if other.queue is None else [other.queue]:
                    self._queue(name).history.record_policy(other)

    def _route_call(self, call: ApiCall, homes: Mapping[str, str]) -> None:
        edit = edited_priority(call)
        about = queue_of(call) if edit is None else homes.get(edit[0]) or self._home(edit[0])
        if about is None and edit is None:
            self._of_all[call.event, call.at] = call
        for name in list(self.queues) if about is None else [about]:
            self._queue(name).history.record_call(call)

    def _home(self, job: str) -> str | None:
        return next((name for name, queue in self.queues.items() if queue.history.knows(job)), None)

    def _queue(self, name: str) -> QueueAudit:
        queue = self.queues.get(name)
        if queue is None:
            history = QueueHistory(name, self._policy, self._settings)
            queue = self.queues[name] = QueueAudit(history, Judge(name))
            for call in self._of_all.values():  # calls from before that name no queue
                history.record_call(call)
        return queue
