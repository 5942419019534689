"""The endpoint: every account and Region, one clock, one lock, one event log."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from constructs_qm.local import (  # noqa: F401 - their operations register themselves
    job_lists,
    job_queues,
    quota_shares,
    scheduling_policies,
    service_environments,
    service_jobs,
    snapshot,
    tags,
)
from constructs_qm.local.arns import ArnMaker
from constructs_qm.local.controls import CONTROLS, DEFAULT_FAILURE, find_by_any_name
from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import Event, EventLog
from constructs_qm.local.operations import at, perform
from constructs_qm.local.state import BatchState
from constructs_qm.local.timers import Timers
from constructs_qm.local.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.clock import Clock, Timeline
    from constructs_qm.local.faults import Faults
    from constructs_qm.local.lambdas import Lambdas
    from constructs_qm.local.rogue import Rogue
    from constructs_qm.local.scripts import Script
    from constructs_qm.local.settings import Settings

__all__ = ["Endpoint"]

Result = TypeVar("Result")

_SAVED = (
    "settings",
    "log",
    "faults",
    "_held",
    "_scripts",
    "_rogue",
    "_seed",
    "_states",
    "_timers",
)
"""Attributes that make up an endpoint's state."""


class Endpoint:
    """AWS Batch quota management in this process.

    Made by :func:`~constructs_qm.local.mock_quota_management` or
    :func:`~constructs_qm.local.server.start`.

    Parameters
    ----------
    clock : Clock
        What time it is, and how it passes.
    settings : Settings
    seed : int or None
        Makes the ids of jobs and events repeatable.

    Attributes
    ----------
    log : EventLog
    timelines : list of Timeline
        What else happens in time, besides Batch.
    closers : list of callable
        Called by :meth:`stop`.
    url : str or None
        Where it is reached by HTTP, if it is.
    lambdas : Lambdas or None
        The functions that run.
    faults : Faults or None
        What happens to events on their way.
    """

    def __init__(self, clock: Clock, settings: Settings, seed: int | None = None) -> None:
        self.clock = clock
        self.settings = settings
        self.log = EventLog()
        self.timelines: list[Timeline] = []
        self.closers: list[Callable[[], None]] = []
        self.url: str | None = None
        self.lambdas: Lambdas | None = None
        self._seed = seed
        self.faults: Faults | None = None
        self._held: list[Event] = []
        """Events that arrive after the next one."""
        self._scripts: tuple[Script, ...] = ()
        self._rogue: Rogue | None = None
        self._states: dict[tuple[str, str], BatchState] = {}
        self._timers = Timers()
        self._lock = threading.RLock()
        self._work = Work(inline=clock.stepped)

    def start(self) -> None:
        """Let time pass."""
        self._work.start()
        self.clock.drive(self)

    def stop(self) -> None:
        """Let nothing happen any more, and end every thread and process."""
        self.clock.stop()
        self._work.stop()
        for close in reversed(self.closers):
            close()

    @property
    def events(self) -> list[Event]:
        """Every event so far, in order, as EventBridge would deliver it."""
        with self._lock:
            return list(self.log.events)

    @property
    def delivered(self) -> list[Event]:
        """Every event that has arrived, in order of arrival: differs from :attr:`events` by :attr:`faults`."""
        with self._lock:
            return list(self.log.delivered)

    def state(self, account: str, region: str, partition: str = "aws") -> BatchState:
        """Return the resources and jobs of one account and Region."""
        with self._lock:
            key = (account, region)
            if key not in self._states:
                seed = None if self._seed is None else self._seed + len(self._states)
                arns = ArnMaker(partition, region, account)
                state = self._states[key] = BatchState(arns, self.settings, self.log, seed)
                state.scripts, state.rogue = self._scripts, self._rogue
            return self._states[key]

    def forget(self, account: str, region: str) -> None:
        """Drop the resources and jobs of one account and Region."""
        with self._lock:
            self._states.pop((account, region), None)

    def look(self, look: Callable[[list[BatchState]], Result]) -> Result:
        """Return what `look` makes of all accounts and Regions, while nothing happens to them."""
        with self._lock:
            return look(list(self._states.values()))

    def perform(self, state: BatchState, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out an operation, now; see :func:`constructs_qm.local.operations.perform`."""
        with self._lock:
            answer = perform(state, operation, request, self.clock.now())
        self._after_change()
        return answer

    def later(self, seconds: float, task: Callable[[], None]) -> None:
        """Do `task` once `seconds` have passed, in turn with what else happens, outside the lock."""
        if seconds == 0:
            self._work.add(task)
        else:
            with self._lock:
                self._timers.at(self.clock.now() + seconds, partial(self._work.add, task))
        self._after_change()

    def soon(self, task: Callable[[], None]) -> None:
        """Do `task` when what happens now is over: for timelines, which run under the lock."""
        self._work.add(task)

    # -- saving -----------------------------------------------------------------------

    def process_parts(self) -> dict[str, Any]:
        """Return the parts that aren't saved, since they belong to the process; saved ones may refer to them."""
        return {"endpoint": self, "work": self._work, "clock": self.clock, "lock": self._lock}

    def to_save(self) -> dict[str, Any]:
        """Return what is saved: for :mod:`~constructs_qm.local.saved_state`."""
        with self._lock:
            return {"now": self.clock.now(), **{name: getattr(self, name) for name in _SAVED}}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved."""
        with self._lock:
            self.clock.start_from(saved["now"])
            sinks = self.log.sinks
            for name in _SAVED:
                setattr(self, name, saved[name])
            self.log.sinks = sinks

    # -- controls for tests -----------------------------------------------------------

    def finish(self, job: str) -> None:
        """End a dispatched job as SUCCEEDED.

        Parameters
        ----------
        job : str
            Id, ARN or, for the latest of that name, name.

        Raises
        ------
        ClientException
            There is no such job, or it isn't dispatched.
        """
        self.control("finish", job)

    def fail(self, job: str, reason: str = DEFAULT_FAILURE) -> None:
        """Let the training job of a dispatched job fail; errors and `job` as for :meth:`finish`.

        Parameters
        ----------
        job : str
        reason : str
            As SageMaker gives it: the job's retry strategy decides by ``Received status from
            SageMaker: `` and this whether it is tried again.
        """
        self.control("fail", job, reason=reason)

    def lack_capacity(self, job: str) -> None:
        """Put a dispatched job back to RUNNABLE as if SageMaker had no capacity; see :meth:`finish`."""
        self.control("lack-capacity", job)

    def control(self, what: str, job: str, **request: Any) -> None:
        """Do one of :data:`~constructs_qm.local.controls.CONTROLS` to a job, now."""
        with self._lock:
            for state in self._states.values():
                found = find_by_any_name(state, job)
                if found is not None:
                    at(state, self.clock.now(), partial(CONTROLS[what], state, found, request))
                    break
            else:
                raise ClientException(f"Service job {job} does not exist")
        self._after_change()

    @property
    def scripts(self) -> tuple[Script, ...]:
        """What becomes of jobs, by :meth:`script`."""
        return self._scripts

    def script(self, *scripts: Script) -> None:
        """Decide what becomes of jobs dispatched from now on: for each the first script that matches."""
        with self._lock:
            self._scripts = scripts
            for state in self._states.values():
                state.scripts = scripts

    @property
    def rogue(self) -> Rogue | None:
        """What breaks a rule, or None; set it to break one from now on."""
        return self._rogue

    @rogue.setter
    def rogue(self, rogue: Rogue | None) -> None:
        with self._lock:
            self._rogue = rogue
            for state in self._states.values():
                state.rogue = rogue
                for queue in state.queues.values():
                    queue.heed_environment()
                at(state, self.clock.now(), lambda: None)
        self._after_change()

    def change_settings(self, **changes: Any) -> None:
        """Change settings, from now on.

        Parameters
        ----------
        **changes : object
            Fields of :class:`~constructs_qm.local.Settings`; ``assumptions`` stay as they are for queues there are.

        Raises
        ------
        ValueError
            A value isn't allowed; nothing has changed.
        TypeError
            There is no such setting.
        """
        with self._lock:
            self.settings = replace(self.settings, **changes)
            for state in self._states.values():
                state.settings = self.settings
                for queue in state.queues.values():
                    queue.scheduler.preemption_seconds = self.settings.preemption_seconds

    # -- a timeline, for the clock --------------------------------------------------

    def next_due(self) -> float | None:
        """Return when something will happen by itself, in seconds, or None."""
        with self._lock:
            times = [self._timers.next_due()]
            times += [state.next_due() for state in self._states.values()]
            times += [timeline.next_due() for timeline in self.timelines]
        return min((time for time in times if time is not None), default=None)

    def run(self, now: float) -> None:
        """Let everything happen that is due by `now`, in seconds."""
        with self._lock:
            for state in self._states.values():
                state.run(now)
            self._timers.fire(now)
            for timeline in self.timelines:
                timeline.run(now)
            self._queue_events()
        self._work.do()

    def _after_change(self) -> None:
        with self._lock:
            self._queue_events()
        self._work.do()
        self.clock.wake()

    def _queue_events(self) -> None:
        """Send new events on their way."""
        while (event := self.log.take_unsent()) is not None:
            held, self._held = self._held, []
            for seconds in [0.0] if self.faults is None else self.faults.copies():
                if seconds is None:
                    self._held.append(event)
                else:
                    self._send(event, seconds)
            for earlier in held:
                self._send(earlier, 0)

    def _send(self, event: Event, seconds: float) -> None:
        arrive = partial(self._work.add, partial(self.log.arrive, event))
        if seconds == 0:
            arrive()
        else:
            self._timers.at(self.clock.now() + seconds, arrive)
