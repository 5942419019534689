"""The history of one queue: events in, in order of time, and out come the moments to be judged.

Everything that happens to the sums is put on an agenda, since an event pins a moment only as
a span: a job may hold from the span's beginning, and surely holds from its end.
"""

from __future__ import annotations

import heapq
from bisect import insort
from functools import partial
from typing import TYPE_CHECKING

from preemption_auditor.api_calls import changed_policy, edited_priority
from preemption_auditor.capacity_book import Bound, CapacityBook
from preemption_auditor.instants import SECOND, Span
from preemption_auditor.jobs import Attempt, JobRecord, Preemption, Wait
from preemption_auditor.moments import Dispatch, Moment, Preempting, Requeue, Transition
from preemption_auditor.observations import EventKind, Facts, Observation, job_id_of, kind_of_reason
from preemption_auditor.ordering import in_order, rank
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.waiting_book import WaitingBook
from quota_scheduler import JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from preemption_auditor.api_calls import ApiCall
    from preemption_auditor.policy_timeline import PolicyTimeline
    from quota_scheduler import QuotaPolicy

__all__ = ["QueueHistory"]

_LOSE, _GAIN, _JUDGE = 0, 1, 2
"""At equal times a sum's lower bound is left first and its upper bound last, so that every order is covered."""


class QueueHistory:
    """What is known of one queue up to a moment.

    Parameters
    ----------
    name : str
    policy : PolicyTimeline
        Of its own: API calls change it.
    settings : AuditSettings

    Attributes
    ----------
    now : int
        Moment up to which the agenda was worked off, in milliseconds.
    jobs : dict of str to JobRecord
        Jobs that haven't ended long ago.
    capacity : CapacityBook
    waiting : WaitingBook
    unlogged_edits : bool
        Whether a priority changed without an API call: what isn't in the recording may explain more.
    """

    def __init__(self, name: str, policy: PolicyTimeline, settings: AuditSettings) -> None:
        self.name = name
        self.policy = policy
        self.complete = settings.delivery is Delivery.COMPLETE
        self.lag = round(settings.decision_lag * SECOND)
        self._memory = self.lag + 2 * SECOND
        self.now = -(10**18)
        self.jobs: dict[str, JobRecord] = {}
        self.capacity = CapacityBook(self._memory)
        self.waiting = WaitingBook()
        self.unlogged_edits = False
        self._agenda: list[tuple[int, int, int, Callable[..., Moment | None], tuple[object, ...]]] = []
        self._entries = 0
        self._pending: dict[str, list[tuple[int, tuple[int, int, int, int], int, Observation]]] = {}
        self._dispatched: list[Attempt] = []

    # -- evidence --------------------------------------------------------------------

    def policies(self, at: Span) -> list[QuotaPolicy]:
        """Return every policy a decision shown at `at` may have been taken under, latest last."""
        return self.policy.within(at.lo - self.lag, at.hi)

    # -- what comes in -----------------------------------------------------------------

    def observe(self, observation: Observation) -> None:
        """Take an event of a job in; its turn comes with its time."""
        self._entries += 1
        entry = observation.at.lo, rank(observation), self._entries, observation
        insort(self._pending.setdefault(observation.job, []), entry)
        self._plan(observation.at.lo, _LOSE, self._see, observation.job)

    def record_call(self, call: ApiCall) -> None:
        """Take an API call in: a policy counts from the second's beginning, a priority is settled at its end."""
        edits_job = edited_priority(call) is not None
        self._plan(*((call.at.hi, _GAIN) if edits_job else (call.at.lo, _LOSE)), self._apply_call, call)

    def advance(self, until: int) -> Iterator[Moment]:
        """Let everything up to a moment happen; each moment must be judged before the next is asked for."""
        agenda = self._agenda
        while agenda and agenda[0][0] <= until:
            time, _, _, action, arguments = heapq.heappop(agenda)
            self.now = max(self.now, time)
            moment = action(*arguments)
            if moment is not None:
                yield moment
        self.now = max(self.now, until)

    def _plan(self, time: int, phase: int, action: Callable[..., Moment | None], *arguments: object) -> None:
        self._entries += 1
        heapq.heappush(self._agenda, (time, phase, self._entries, action, arguments))

    # -- jobs ----------------------------------------------------------------------------

    def _see(self, job_id: str) -> Moment | None:
        """Let the next event of a job happen."""
        job = self.jobs.get(job_id)
        if job is None:
            job = self.jobs[job_id] = JobRecord(job_id)
        observation, hi = self._next(job)
        if observation.at.lo > self.now:
            self._plan(observation.at.lo, _LOSE, self._see, job_id)
            return None
        pending = self._pending[job_id]
        pending[:] = [entry for entry in pending if entry[3] is not observation]
        if not pending:
            del self._pending[job_id]
        return self._step(job, observation, Span(self.now, max(self.now, hi)))

    def _next(self, job: JobRecord) -> tuple[Observation, int]:
        """Return the event of a job that comes next, and the latest moment it can have happened."""
        pending = self._pending[job.id]
        group = [pending[0][3]]
        end = group[0].at.hi
        for _, _, _, observation in pending[1:]:
            if observation.at.lo <= end:
                group.append(observation)
                end = max(end, observation.at.hi)
            elif observation.kind is EventKind.STATE:  # what follows tells orders apart, too
                group.append(observation)
                break
        order = in_order(job.state, job.attempt, group)
        return order[0], min(observation.at.hi for observation in order)

    def _step(self, job: JobRecord, observation: Observation, at: Span) -> Moment | None:
        """Let an event happen; return the step to be judged, if it is one."""
        before, state = job.last, job.state
        job.terminated = job.terminated or observation.terminated
        ended = state is not None and state.final
        if observation.facts is not None:
            self._describe(job, observation, observation.facts)
        if observation.kind is EventKind.COMPLETED:
            job.preemptions += 1
            self._plan(at.hi + SECOND, _JUDGE, self._requeued, job, observation, at, job.preemptions)
        if observation.kind is EventKind.STARTED:
            if not ended:
                self._start_preemption(job, observation, at)
        elif observation.status is not None and not ended:
            self._enter(job, observation, observation.status, at)
        job.last = observation
        if before is None or state is None or observation.kind not in (EventKind.STATE, EventKind.STARTED):
            return None
        return Transition(self, at, job, state, before, observation)

    def _describe(self, job: JobRecord, observation: Observation, facts: Facts) -> None:
        job.described = True
        job.queue = facts.queue or job.queue
        job.share = facts.share or job.share
        job.demand = facts.demand or job.demand
        job.retries, job.attempts = facts.retries, facts.attempts
        if facts.priority is None:
            return
        if not job.priorities:
            job.priorities.append((Span(self.now, self.now), facts.priority))
        else:
            self._plan(observation.shown + SECOND, _GAIN, self._show_priority, job, facts.priority, observation.shown)

    def _enter(self, job: JobRecord, observation: Observation, status: JobState, at: Span) -> None:
        """Let a job come into a state."""
        attempt = job.attempt
        if attempt is not None and (not status.holds or _is_another(attempt, observation)):
            self._leave(job, attempt, at)
        waits = job.wait is not None and job.wait.until is None
        if job.wait is not None and waits and status is not JobState.RUNNABLE:
            self._end_wait(job.wait, at)
        if status.holds and job.attempt is None:
            self._take(job, observation, at)
        if status is JobState.RUNNABLE and not waits:
            self._begin_wait(job, observation.event, at)
        job.state = status
        if status.final:
            self._plan(at.hi + self._memory + 60 * SECOND, _JUDGE, self._forget, job)

    def _forget(self, job: JobRecord) -> None:
        if self.jobs.get(job.id) is job and job.id not in self._pending:
            del self.jobs[job.id]

    # -- holding -------------------------------------------------------------------------

    def _take(self, job: JobRecord, observation: Observation, at: Span) -> None:
        attempt = Attempt(job.id, job.share, job.demand, at, observation.event, observation.dispatched)
        job.attempt = attempt
        if job.ended is not None:  # one job never holds twice
            self.capacity.leave(Bound.FIRM_MAYBE, job.ended, self.now)
        self.capacity.enter(Bound.FIRM_MAYBE, attempt, self.now)
        for bound in (Bound.SURE, Bound.FIRM_SURE):
            self._plan(at.hi, _GAIN, self._count_in, bound, attempt)
        self._plan(at.hi, _JUDGE, self._judge_dispatches, attempt)

    def _leave(self, job: JobRecord, attempt: Attempt, at: Span) -> None:
        attempt.left = at
        job.attempt, job.ended = None, attempt
        for bound in (Bound.SURE, Bound.FIRM_SURE):
            self.capacity.leave(bound, attempt, self.now)
        self._plan(at.hi, _GAIN, self._count_out, Bound.FIRM_MAYBE, attempt)

    def _count_in(self, bound: Bound, attempt: Attempt) -> None:
        if bound is Bound.SURE:
            self._dispatched.append(attempt)
        self.capacity.enter(bound, attempt, self.now)

    def _count_out(self, bound: Bound, attempt: Attempt) -> None:
        self.capacity.leave(bound, attempt, self.now)

    def _judge_dispatches(self, attempt: Attempt) -> Moment | None:
        """Judge everything dispatched at this moment together: its order is open."""
        attempts, self._dispatched = tuple(self._dispatched), []
        if not attempts:
            return None
        return Dispatch(self, Span(min(a.taken.lo for a in attempts), self.now), attempts)

    # -- preemption ------------------------------------------------------------------------

    def _start_preemption(self, job: JobRecord, observation: Observation, at: Span) -> None:
        attempt = job.attempt
        preemption = Preemption(job.id, at, kind_of_reason(observation.reason), observation.event, attempt)
        if attempt is not None and attempt.stopping is None:
            attempt.stopping = preemption
            self.capacity.leave(Bound.FIRM_SURE, attempt, self.now)
            self._plan(at.hi, _GAIN, self._count_out, Bound.FIRM_MAYBE, attempt)
        self._plan(observation.shown, _JUDGE, self._judge_preemption, job, preemption)

    def _judge_preemption(self, job: JobRecord, preemption: Preemption) -> Moment:
        return Preempting(self, preemption.at, job, preemption)

    def _requeued(self, job: JobRecord, completed: Observation, at: Span, seen: int) -> Moment:
        later = job.last
        status = completed.status if completed.status in (JobState.RUNNABLE, JobState.FAILED) else None
        became = status or (job.state if later is not completed else None)
        counted = completed.attempt[0]
        count = counted if counted >= 0 else (seen if self.complete else None)
        return Requeue(self, at, job, completed, count, became)

    # -- waiting -----------------------------------------------------------------------------

    def _begin_wait(self, job: JobRecord, event: str, at: Span) -> None:
        if job.share is None:
            return
        priority = job.priorities[-1][1] if job.priorities else None
        job.wait = Wait(job.id, job.share, job.demand, priority, at, event)
        self.waiting.add(job.wait)

    def _end_wait(self, wait: Wait, at: Span) -> None:
        """End a wait, but keep it in the book for as long as decisions look back."""
        wait.until = at
        self._plan(at.hi + self._memory, _GAIN, self.waiting.remove, wait)

    # -- edits -------------------------------------------------------------------------------

    def _apply_call(self, call: ApiCall) -> None:
        edit = edited_priority(call)
        if edit is not None:
            job = self.jobs.get(edit[0])
            if job is not None:
                self._set_priority(job, edit[1], call.at, call.event)
        elif call.name in ("TerminateServiceJob", "TerminateServiceJobs"):
            for job_id in (call.request.get("jobId"), *_listed(call.request.get("jobIds"))):
                job = self.jobs.get(job_id_of(job_id) or "")
                if job is not None:
                    job.terminated = True
        else:
            self.policy.change(call.at, partial(changed_policy, call))

    def _set_priority(self, job: JobRecord, priority: int, at: Span, event: str) -> None:
        job.priorities.append((at, priority))
        del job.priorities[:-8]
        wait = job.wait
        if wait is None or (wait.until is not None and wait.until.hi < at.lo):
            return
        self._begin_wait(job, event, Span(self.now, max(self.now, at.hi)))
        if wait.until is None:
            self._end_wait(wait, at)
        elif job.wait is not None:
            self._end_wait(job.wait, wait.until)

    def _show_priority(self, job: JobRecord, priority: int, shown: int) -> None:
        """Compare the priority an event shows with those known from calls."""
        if priority in job.priorities_within(shown - 2 * SECOND, shown + SECOND):
            return
        since = job.priorities[-1][0]
        if (since, priority) in job.priorities:  # the calls of one second were taken in the wrong order
            self._set_priority(job, priority, since, "")
        else:
            self.unlogged_edits = True
            self._set_priority(job, priority, Span(min(since.hi, shown), shown), "")


def _is_another(attempt: Attempt, observation: Observation) -> bool:
    """Whether an observation of a holding job belongs to a later attempt than the one known."""
    one, other = attempt.dispatched, observation.dispatched
    return one is not None and other is not None and one < other


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
