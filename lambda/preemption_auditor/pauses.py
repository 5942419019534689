"""What is disabled: a service environment, or the queue itself.

A service environment that is DISABLED starts no jobs (update-service-environments). A queue that is takes none;
whether those in it go on being started isn't documented, so we take it that they needn't be. Neither leaves a job
event: calls to the API tell of it, and so do look-ups.
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

_FOREVER = 10**18
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
    disabled : dict
        By kind and name what was disabled, another queue's environments, too: the end of the second in which it
        was, and the moment until which it may still be, in milliseconds.
    call : str
        Id of a call: where one is recorded, calls that disable something are, too.
    """

    queue: str
    environments: frozenset[str] | None = None
    disabled: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    call: str = ""
    _first: tuple[int, str] | None = None
    _last: tuple[int, str] | None = None

    def at(self, time: int) -> frozenset[tuple[str, str]]:
        """Return what may be disabled at a moment and keep jobs of the queue from being dispatched."""
        lasting = (one for one, (_, until) in self.disabled.items() if until >= time)
        return frozenset(one for one in lasting if one[0] != "environment" or self._may_be_its_own(one[1]))

    def is_about(self, call: ApiCall) -> bool | None:
        """Whether a call is about this queue's environment, if it is about one; None where nobody knows."""
        if call.name not in _ENVIRONMENT_CALLS or _environment(call) is None:
            return True
        return None if self.environments is None else _environment(call) in self.environments

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
            self._set("queue", self.queue, state, call.at)
        elif call.name in _ENVIRONMENT_CALLS:
            self._set("environment", _environment(call) or "", state, call.at)

    def take_look_up(self, found: PolicyFound) -> None:
        """Take in what a look-up of the policy told besides."""
        if found.environments:
            self._belong(found.environments)
        if found.paused is None:
            return
        self._last = found.at.hi, found.event
        self._first = self._first or self._last
        if found.paused:
            self.disabled["look-up", found.event] = found.at.hi, _FOREVER
        else:  # a call of that second may have come after it
            self.disabled = {one: since for one, since in self.disabled.items() if since[0] >= found.at.lo}

    def _belong(self, environments: Iterable[Any]) -> None:
        self.environments = frozenset(name for name in map(job_id_of, environments) if name is not None)

    def _may_be_its_own(self, environment: str) -> bool:
        return self.environments is None or environment in self.environments

    def _set(self, kind: str, name: str, state: object, at: Span) -> None:
        since, _ = self.disabled.get((kind, name), (at.lo, 0))
        if state == "DISABLED":
            self.disabled[kind, name] = at.hi, _FOREVER
        elif state == "ENABLED" and since < at.lo:  # of two calls of one second nobody knows the order
            self.disabled[kind, name] = since, at.hi


def _environment(call: ApiCall) -> str | None:
    return job_id_of(call.request.get("serviceEnvironment") or call.request.get("serviceEnvironmentName"))
