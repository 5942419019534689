"""What is disabled: a service environment that is DISABLED starts no jobs, and a queue that is takes none.

Neither leaves a job event (facts.md: resources). Calls to the API tell of it, and so do look-ups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from preemption_auditor.observations import job_id_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preemption_auditor.api_calls import ApiCall
    from preemption_auditor.instants import Span
    from preemption_auditor.reading import PolicyFound

__all__ = ["Pauses"]

_ENVIRONMENT_CALLS = ("CreateServiceEnvironment", "UpdateServiceEnvironment")


@dataclass
class Pauses:
    """What is disabled of one queue, as far as is known.

    Attributes
    ----------
    queue : str
        Its name.
    environments : frozenset of str or None
        Names of its service environments; None where nothing told them: then any may be one of them.
    disabled : set of (str, str)
        Kind and name of what was disabled last it was heard of; another queue's environments, too.
    call : str
        Id of a call: where one is recorded, calls that disable something are, too.
    """

    queue: str
    environments: frozenset[str] | None = None
    disabled: set[tuple[str, str]] = field(default_factory=set)
    call: str = ""
    _first: tuple[int, str] | None = None
    _last: tuple[int, str] | None = None

    @property
    def now(self) -> frozenset[tuple[str, str]]:
        """Return what is disabled and keeps jobs of the queue from being dispatched, or may do so."""
        return frozenset(one for one in self.disabled if one[0] == "queue" or self.may_be_its_own(one[1]))

    def is_about(self, call: ApiCall) -> bool | None:
        """Whether a call is about this queue's environment, if it is about one; None where nobody knows."""
        if call.name not in _ENVIRONMENT_CALLS or _environment(call) is None:
            return True
        return None if self.environments is None else _environment(call) in self.environments

    def may_be_its_own(self, environment: str) -> bool:
        """Whether a service environment is one of the queue's, or nobody knows."""
        return self.environments is None or environment in self.environments

    def shown(self, at: Span) -> tuple[str, ...] | None:
        """Return the events that show that nothing was disabled unseen in a stretch; None where it may have been.

        Either calls are recorded, or look-ups before and after the stretch told the state.
        """
        if self.call:
            return (self.call,)
        first, last = self._first, self._last
        if first is None or last is None or first[0] > at.lo or last[0] < at.hi:
            return None
        return first[1], last[1]

    def take_call(self, call: ApiCall) -> None:
        """Take in a call to the API."""
        self.call = self.call or call.event
        request, state = call.request, call.request.get("state")
        if call.name in ("CreateJobQueue", "UpdateJobQueue"):
            if job_id_of(request.get("jobQueue") or request.get("jobQueueName")) != self.queue:
                return
            order = request.get("serviceEnvironmentOrder")
            if isinstance(order, list) and order:
                self._belong(entry.get("serviceEnvironment") for entry in order if isinstance(entry, dict))
            self._set("queue", self.queue, state)
        elif call.name in _ENVIRONMENT_CALLS:
            self._set("environment", _environment(call) or "", state)

    def take_look_up(self, found: PolicyFound) -> None:
        """Take in what a look-up of the policy told besides."""
        if found.environments:
            self._belong(found.environments)
        if found.paused is None:
            return
        self._last = found.at.hi, found.event
        self._first = self._first or self._last
        self.disabled = {("queue", self.queue)} if found.paused else set()

    def _belong(self, environments: Iterable[Any]) -> None:
        self.environments = frozenset(name for name in map(job_id_of, environments) if name is not None)

    def _set(self, kind: str, name: str, state: object) -> None:
        if state == "DISABLED":
            self.disabled.add((kind, name))
        elif state == "ENABLED":
            self.disabled.discard((kind, name))


def _environment(call: ApiCall) -> str | None:
    return job_id_of(call.request.get("serviceEnvironment") or call.request.get("serviceEnvironmentName"))
