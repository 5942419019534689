"""The endpoint: every account and Region, one clock, one lock, one event log."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

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
from constructs_qm.local.controls import CONTROLS, find_by_any_name
from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import Event, EventLog
from constructs_qm.local.operations import at, perform
from constructs_qm.local.state import BatchState

if TYPE_CHECKING:
    from constructs_qm.local.clock import Clock
    from constructs_qm.local.settings import Settings

__all__ = ["Endpoint"]


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
    """

    def __init__(self, clock: Clock, settings: Settings, seed: int | None = None) -> None:
        self.clock = clock
        self.settings = settings
        self.log = EventLog()
        self._seed = seed
        self._states: dict[tuple[str, str], BatchState] = {}
        self._lock = threading.RLock()
        self._delivering = threading.Lock()

    @property
    def events(self) -> list[Event]:
        """Every event so far, in order, as EventBridge would deliver it."""
        with self._lock:
            return list(self.log.events)

    def state(self, account: str, region: str, partition: str = "aws") -> BatchState:
        """Return the resources and jobs of one account and Region."""
        with self._lock:
            key = (account, region)
            if key not in self._states:
                seed = None if self._seed is None else self._seed + len(self._states)
                arns = ArnMaker(partition, region, account)
                self._states[key] = BatchState(arns, self.settings, self.log, seed)
            return self._states[key]

    def forget(self, account: str, region: str) -> None:
        """Drop the resources and jobs of one account and Region."""
        with self._lock:
            self._states.pop((account, region), None)

    def perform(self, state: BatchState, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out an operation, now; see :func:`constructs_qm.local.operations.perform`."""
        with self._lock:
            answer = perform(state, operation, request, self.clock.now())
        self._after_change()
        return answer

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

    def fail(self, job: str, reason: str = "AlgorithmError: exit code 1") -> None:
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

    # -- a timeline, for the clock --------------------------------------------------

    def next_due(self) -> float | None:
        """Return when something will happen by itself, in seconds, or None."""
        with self._lock:
            times = [state.next_due() for state in self._states.values()]
        return min((time for time in times if time is not None), default=None)

    def run(self, now: float) -> None:
        """Let everything happen that is due by `now`, in seconds."""
        with self._lock:
            for state in self._states.values():
                state.run(now)
        self._deliver()

    def _after_change(self) -> None:
        self._deliver()
        self.clock.wake()

    def _deliver(self) -> None:
        """Hand new events to the sinks: in order, one at a time and outside the lock.

        A sink may call the endpoint again, even from another thread that it waits for;
        what that adds is delivered by whoever is at it already.
        """
        while self._delivering.acquire(blocking=False):
            try:
                while (event := self._next_event()) is not None:
                    for sink in self.log.sinks:
                        sink(event)
            finally:
                self._delivering.release()
            with self._lock:
                if not self.log.undelivered:
                    return

    def _next_event(self) -> Event | None:
        with self._lock:
            return self.log.take_undelivered()
