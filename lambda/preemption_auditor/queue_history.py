"""The history of one queue: events in, in order of time, and out come the moments to be judged.

Everything that happens to the sums is put on an agenda, since an event pins a moment only as
a span: a job may hold from the span's beginning, and surely holds from its end.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from preemption_auditor.agenda import Agenda, Phase
from preemption_auditor.api_calls import JOB_CALLS, changed_policy, edited_priority
from preemption_auditor.capacity_book import Bound, CapacityBook
from preemption_auditor.instants import SECOND, Span
from preemption_auditor.jobs import Attempt, JobRecord, Preemption, Wait
from preemption_auditor.moments import Blocked, Comparison, Dispatch, Moment, Preempting, Requeue, Selection, Transition
from preemption_auditor.observations import EventKind, Facts, Observation, job_id_of, kind_of_reason
from preemption_auditor.ordering import direct, in_order, rank
from preemption_auditor.pauses import Pauses
from preemption_auditor.quality import Flaw, FlawLog
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.waiting_book import WaitingBook
from preemption_auditor.watch import Watch
from quota_scheduler import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from preemption_auditor.api_calls import ApiCall
    from preemption_auditor.policy_timeline import Edit, PolicyTimeline
    from preemption_auditor.reading import PolicyFound
    from quota_scheduler import QuotaPolicy

__all__ = ["QueueHistory"]

_RESTLESS = 3600 * SECOND
"""How long after a change of the policy was seen another one may be missing."""
_FOREVER = 10**18
_KEPT = 60 * SECOND
"""How long a job that has ended is remembered, so that what follows its end is noticed."""


class QueueHistory:
    """What is known of one queue up to a moment.

    Parameters
    ----------
    name : str
    declared : PolicyTimeline
        API calls and look-ups change a copy of it.
    settings : AuditSettings

    Attributes
    ----------
    now : int
        Moment up to which everything has happened, in milliseconds.
    lag : int
        Milliseconds a decision may have been taken before the event that shows it.
    jobs : dict of str to JobRecord
        Jobs that haven't ended long ago.
    capacity : CapacityBook
    waiting : WaitingBook
    watch : Watch
        On the job at the front of each share.
    stopping : int
        Attempts being stopped now.
    stopped : int
        When last an attempt was being stopped, in milliseconds.
    flaws : FlawLog
        What was noticed about its events.
    last_event : str
        Id of the event that happened last.
    trail : str
        Id of a call about a job: where one is recorded, edits of priorities are, too.
    unlogged_edits : bool
        Whether a priority changed without an API call: what isn't in the recording may explain more.
    pauses : Pauses
        What is disabled.
    policy_moved : int or None
        When a call or look-up last showed another policy than before, in milliseconds.
    """

    def __init__(self, name: str, declared: PolicyTimeline, settings: AuditSettings) -> None:
        self.name = name
        self.declared = declared
        self.policy = declared.copy()
        self.complete = settings.delivery is Delivery.COMPLETE
        self.lag = round(settings.decision_lag * SECOND)
        self.memory = self.lag + 2 * SECOND
        self.now = -(10**18)
        self.jobs: dict[str, JobRecord] = {}
        self.capacity = CapacityBook(self.memory)
        self.waiting = WaitingBook()
        self.watch = Watch(round(settings.tolerance * SECOND))
        self.stopping = 0
        self.stopped = -(10**18)
        self.last_event = ""
        self.flaws = FlawLog()
        self.trail = ""
        self.unlogged_edits = False
        self.pauses = Pauses(name)
        self.policy_moved: int | None = None
        self._found: QuotaPolicy | None = None
        self._agenda = Agenda()
        self._pending: dict[str, list[tuple[int, tuple[int, int, int, int], int, Observation]]] = {}
        self._taken_in = 0
        self._dispatched: list[Attempt] = []
        self._doubts: dict[str, int] = {}
        self._ends: deque[Span] = deque()
        self._due = _FOREVER
        for moment in declared.changes():
            self._plan_looks(moment, moment)

    # -- evidence --------------------------------------------------------------------

    @property
    def policy_in_doubt(self) -> bool:
        """Whether changes of the policy may be missing, since it was seen to change."""
        moved = self.policy_moved is not None and self.now <= self.policy_moved + _RESTLESS
        return moved and not self.complete and not self.declared.over_time

    def policies(self, at: Span) -> list[QuotaPolicy]:
        """Return every policy a decision shown at `at` may have been taken under, latest last."""
        return self.policy.within(at.lo - self.lag, at.hi)

    def confirmed(self, attempt: Attempt, time: int) -> bool:
        """Whether an attempt that holds surely held just after `time`: what follows shows that it lasted."""
        if attempt.doubtful or self.complete:
            return not attempt.doubtful
        if attempt.seen > time:
            return True
        for _, _, _, later in self._pending.get(attempt.job, ()):
            if later.at.lo > time and later.kind in (EventKind.STATE, EventKind.LOOKED_UP):
                return (attempt.lasted_until(later) or 0) > time
        return False

    def waited(self, wait: Wait, time: int) -> bool:
        """Whether a job surely waited at `time`: what follows shows that it did."""
        if self.complete or wait.until is not None:
            return True
        for _, _, _, later in self._pending.get(wait.job, ()):
            if later.at.hi >= time and later.status is not None:
                return later.status is JobState.RUNNABLE or (later.dispatched or -1) >= time
        return False

    def is_sharp(self, time: int) -> bool:
        """Whether no end of an attempt is known so loosely that it may lie before `time` or after it."""
        while self._ends and self._ends[0].hi < time - self.memory:
            self._ends.popleft()
        loose = (end.lo < time <= end.hi or (end.lo == time and end.hi - end.lo >= SECOND - 1) for end in self._ends)
        return not any(loose)

    def shows_priorities(self, jobs: tuple[JobRecord, ...] | None, at: Span) -> tuple[str, ...] | None:
        """Return the events that show that no edit of priorities is missing; None where one may be.

        Either calls about jobs are recorded, or later events of the jobs in question show no edit.
        """
        if self.unlogged_edits:
            return None
        if self.trail:
            return (self.trail,)
        if jobs is None or any(job.shown < at.hi for job in jobs):
            return None
        return tuple(job.shown_by for job in jobs)

    def doubt(self, since: int) -> str | None:
        """Return a job whose events can be read in several orders from a moment on, or None."""
        return next((job for job, until in self._doubts.items() if until >= since), None)

    def knows(self, job: str) -> bool:
        """Whether an event of a job has come in, and the job hasn't ended long ago."""
        return job in self.jobs or job in self._pending

    # -- what comes in -----------------------------------------------------------------

    def observe(self, observation: Observation) -> None:
        """Take an event of a job in; its turn comes with its time."""
        self._taken_in += 1
        entry = observation.at.lo, rank(observation), self._taken_in, observation
        insort(self._pending.setdefault(observation.job, []), entry)
        self._agenda.plan(observation.at.lo, Phase.FIRST, self._see, observation.job)

    def record_call(self, call: ApiCall) -> None:
        """Take an API call in: a policy counts from the second's beginning, a priority is settled at its end."""
        edits_job = edited_priority(call) is not None
        time, phase = (call.at.hi, Phase.THEN) if edits_job else (call.at.lo, Phase.FIRST)
        self._agenda.plan(time, phase, self._apply_call, call)
        self._plan_looks(call.at.lo, call.at.hi)

    def record_policy(self, found: PolicyFound) -> None:
        """Take in what the policy really is."""
        self._agenda.plan(found.at.lo, Phase.FIRST, self._find_policy, found)
        self._plan_looks(found.at.lo, found.at.hi)

    def advance(self, until: int, *, clock: bool = False) -> Iterator[Moment]:
        """Let everything up to a moment happen; each moment must be judged before the next is asked for.

        Parameters
        ----------
        until : int
            Milliseconds.
        clock : bool
            Whether time passes without events, too: not in a recording, of which nobody knows that it goes on.
        """
        while True:
            time = self._agenda.next_time()
            if time is None or time > self.now:
                yield from self._review(clock)
                time = self._agenda.next_time()  # the watch may want to look earlier
                if time is None or time > until:
                    break
                self.now = max(self.now, time)
            action, arguments = self._agenda.take()
            moment = action(*arguments)
            if moment is not None:
                yield moment
        self.now = max(self.now, until)

    def _review(self, clock: bool) -> Iterator[Moment]:
        """Let the watch look at this moment, and plan when it must look again."""
        yield from self.watch.review(self)
        due = self.watch.deadline + 1
        if clock and due < self._due:
            self._due = due
            self._agenda.plan(due, Phase.JUDGE, self._look)

    def _plan_looks(self, lo: int, hi: int) -> None:
        """Let the watch look where something may change that no job event shows, and when that is over."""
        self._agenda.plan(lo, Phase.JUDGE, self._look)
        self._agenda.plan(hi + 1, Phase.JUDGE, self._look)

    def _look(self) -> None:
        """Let a moment be one at which the watch looks."""
        if self._due <= self.now:
            self._due = _FOREVER

    # -- jobs ----------------------------------------------------------------------------

    def _see(self, job_id: str) -> Moment | None:
        """Let the next event of a job happen."""
        job = self.jobs.get(job_id)
        if job is None:
            job = self.jobs[job_id] = JobRecord(job_id)
        observation, hi = self._next(job)
        if observation.at.lo > self.now:
            self._agenda.plan(observation.at.lo, Phase.FIRST, self._see, job_id)
            return None
        pending = self._pending[job_id]
        pending[:] = [entry for entry in pending if entry[3] is not observation]
        if not pending:
            del self._pending[job_id]
        if observation.at.hi >= self.now:
            return self._step(job, observation, Span(self.now, max(self.now, hi)))
        # it came too late for its time to be judged again: from here on the recording isn't whole
        self.complete = False
        if job.last is None or observation.at.lo >= job.last.at.lo:
            self._step(job, observation, Span(self.now, self.now))
        return None

    def _next(self, job: JobRecord) -> tuple[Observation, int]:
        """Return the event of a job that comes next, and the latest moment it can have happened."""
        pending = self._pending[job.id]
        first = pending[0][3]
        group, end, ahead = [first], first.at.hi, None
        for _, _, _, observation in pending[1:]:
            if observation.at.lo <= end:
                group.append(observation)
                end = max(end, observation.at.hi)
            elif observation.kind is EventKind.STATE:
                ahead = observation
                break
        order, clear = in_order(job, group, ahead)
        if not clear:
            self._doubts[job.id] = end
        elif self._doubts.get(job.id, end) < first.at.lo - self.memory:
            del self._doubts[job.id]
        return order[0], min(observation.at.hi for observation in order)

    def _step(self, job: JobRecord, observation: Observation, at: Span) -> Moment | None:
        """Let an event happen; return the step to be judged, if it is one."""
        before, state, kind = job.last, job.state, observation.kind
        ended = state is not None and state.final
        job.terminated = job.terminated or observation.terminated
        if observation.facts is not None:
            self._describe(job, observation, observation.facts)
        if kind is EventKind.COMPLETED:
            job.preemptions += 1
            job.stopping = False
            self._agenda.plan(at.hi + SECOND, Phase.JUDGE, self._requeued, job, observation, at, job.preemptions)
        if kind is EventKind.STARTED:
            if not ended:
                self._start_preemption(job, observation, at)
        elif observation.status is not None and not ended:
            self._enter(job, observation, observation.status, at)
        if kind is EventKind.BLOCKED:
            self._block(job, observation)
        if job.attempt is not None:
            job.attempt.seen = max(job.attempt.seen, job.attempt.lasted_until(observation) or 0)
        job.implied = kind is EventKind.IMPLIED
        if job.implied:
            return None
        self._notice(job, observation, state)
        job.last = observation
        self.last_event = observation.event
        if before is None or state is None or kind not in (EventKind.STATE, EventKind.STARTED):
            return None
        return Transition(self, at, job, state, before, observation)

    def _notice(self, job: JobRecord, observation: Observation, state: JobState | None) -> None:
        """Count what is wrong with an event as such."""
        status, kind = observation.status, observation.kind
        ended = state is not None and state.final
        step = kind is EventKind.STATE and status is not None and status is not state and not ended
        if step and status is not None and not direct(state, status) and not job.implied:
            self.flaws.add(Flaw.MISSING, job.id, observation.event)
        if kind in (EventKind.STARTED, EventKind.COMPLETED) and job.described_as is None:
            self.flaws.add(Flaw.UNKNOWN_JOB, job.id, observation.event)

    def _describe(self, job: JobRecord, observation: Observation, facts: Facts) -> None:
        job.described_as, job.described_by = observation.status, observation.event
        job.share = facts.share or job.share
        job.demand = facts.demand or job.demand
        job.created = facts.created if facts.created is not None else job.created
        if observation.kind is not EventKind.LOOKED_UP or facts.retries is not None:
            job.retries = facts.retries
        if facts.priority is None:
            return
        if observation.kind is not EventKind.IMPLIED:
            job.shown, job.shown_by = observation.shown, observation.event
        if not job.priorities:
            job.priorities.append((Span(self.now, self.now), facts.priority))
        elif observation.kind is not EventKind.IMPLIED:
            shown = observation.shown
            self._agenda.plan(shown + SECOND, Phase.THEN, self._show_priority, job, facts.priority, shown)

    def _enter(self, job: JobRecord, observation: Observation, status: JobState, at: Span) -> None:
        """Let a job come into a state."""
        attempt = job.attempt
        if attempt is not None and (not status.holds or attempt.is_before(observation)):
            self._leave(job, attempt, at)
        waits = job.wait is not None and job.wait.until is None
        if job.wait is not None and waits and status is not JobState.RUNNABLE:
            self._end_waits(job, job.wait, at)
        if status.holds and job.attempt is None:
            self._take(job, observation, at)
        if status is JobState.RUNNABLE and not waits:
            self._begin_wait(job, (observation.event,), at)
        job.state = status
        if status.final:
            self._agenda.plan(at.hi + self.memory + _KEPT, Phase.JUDGE, self._forget, job)

    def _forget(self, job: JobRecord) -> None:
        if self.jobs.get(job.id) is job and job.id not in self._pending:
            del self.jobs[job.id]
            self._doubts.pop(job.id, None)

    # -- holding -------------------------------------------------------------------------

    def _take(self, job: JobRecord, observation: Observation, at: Span) -> None:
        attempt = Attempt(
            job.id,
            job.share,
            job.demand,
            at,
            observation.event,
            observation.dispatched,
            observation.resource,
            doubtful=job.id in self._doubts,
        )
        job.attempt, job.stopping = attempt, False
        if not any(share.name == job.share for share in self.policy.within(at.lo, at.hi)[-1].shares):
            self.flaws.add(Flaw.UNKNOWN_SHARE, job.id, observation.event)
        if job.ended is not None:  # one job never holds twice
            self.capacity.leave(Bound.FIRM_MOST, job.ended, self.now)
        self.capacity.enter(Bound.FIRM_MOST, attempt, self.now)
        dispatched = observation.dispatched if observation.dispatched is not None else at.lo
        # what shows a job of which no event told that it was dispatched tells nothing of the state it was dispatched in
        in_time = observation.at.hi >= self.now and dispatched >= at.lo - SECOND
        self._agenda.plan(at.hi, Phase.THEN, self._hold, attempt, in_time)
        if in_time:
            self._agenda.plan(at.hi, Phase.JUDGE, self._judge_dispatches)
            self._agenda.plan(max(at.hi, observation.shown), Phase.JUDGE, self._judge_selection, attempt)

    def _hold(self, attempt: Attempt, judged: bool) -> None:
        if judged:
            self._dispatched.append(attempt)
        self.capacity.enter(Bound.HELD, attempt, self.now)
        self.capacity.enter(Bound.FIRM_LEAST, attempt, self.now)

    def _leave(self, job: JobRecord, attempt: Attempt, at: Span) -> None:
        attempt.left = at
        self._ends.append(at)
        job.attempt, job.ended = None, attempt
        self.capacity.leave(Bound.HELD, attempt, self.now)
        self.capacity.leave(Bound.FIRM_LEAST, attempt, self.now)
        self._agenda.plan(at.hi, Phase.THEN, self._count_out, attempt)
        if attempt.stopping is not None:
            self.stopping -= 1
            self.stopped = at.hi

    def _count_out(self, attempt: Attempt) -> None:
        self.capacity.leave(Bound.FIRM_MOST, attempt, self.now)

    def _judge_dispatches(self) -> Moment | None:
        """Judge everything dispatched at this moment together: its order is open."""
        attempts, self._dispatched = tuple(self._dispatched), []
        if not attempts:
            return None
        at = Span(min(attempt.taken.lo for attempt in attempts), self.now)
        return Dispatch(self, at, attempts, self.capacity)

    def _judge_selection(self, attempt: Attempt) -> Moment:
        return Selection(self, attempt.taken, attempt)

    # -- preemption ------------------------------------------------------------------------

    def _start_preemption(self, job: JobRecord, observation: Observation, at: Span) -> None:
        attempt = job.attempt
        preemption = Preemption(job.id, at, kind_of_reason(observation.reason), observation.event, attempt)
        if attempt is not None and attempt.stopping is None:
            attempt.stopping = preemption
            job.stopping = True
            self.stopping += 1
            self.stopped = at.hi
            self.capacity.leave(Bound.FIRM_LEAST, attempt, self.now)
            self._agenda.plan(at.hi, Phase.THEN, self._count_out, attempt)
        if observation.at.hi >= self.now:
            self._agenda.plan(observation.shown, Phase.JUDGE, self._judge_preemption, job, preemption)

    def _judge_preemption(self, job: JobRecord, preemption: Preemption) -> Moment:
        return Preempting(self, preemption.at, job, preemption)

    def _requeued(self, job: JobRecord, completed: Observation, at: Span, seen: int) -> Moment:
        status = completed.status if completed.status in (JobState.RUNNABLE, JobState.FAILED) else None
        became = status or (job.state if job.last is not completed else None)
        counted = completed.attempt[0]
        count = counted if counted >= 0 else (seen if self.complete else None)
        return Requeue(self, at, job, completed, count, became)

    # -- waiting -----------------------------------------------------------------------------

    def _begin_wait(self, job: JobRecord, events: tuple[str, ...], at: Span) -> None:
        if job.share is None:
            return
        priority = job.priorities[-1][1] if job.priorities else None
        created = job.created if job.created is not None else at.lo
        again = job.ended is not None and job.ended.stopping is None
        job.wait = Wait(job.id, job.share, job.demand, priority, created, at, events, after_attempt=again)
        self.waiting.add(job.wait)

    def _end_waits(self, job: JobRecord, wait: Wait, at: Span) -> None:
        """End a job's wait, whatever priority it may have had."""
        for ended in (wait, *job.other_waits):
            self._end_wait(ended, at)
        job.other_waits.clear()

    def _end_wait(self, wait: Wait, at: Span) -> None:
        """End a wait, but keep it in the book for as long as decisions look back."""
        self.waiting.end(wait, at)
        self._agenda.plan(at.hi + self.memory, Phase.THEN, self.waiting.remove, wait)

    def _block(self, job: JobRecord, observation: Observation) -> None:
        if job.wait is not None and job.wait.until is None:
            self.waiting.block(job.wait, observation.reason)
        self._agenda.plan(observation.shown, Phase.JUDGE, self._judge_block, job, observation)

    def _judge_block(self, job: JobRecord, observation: Observation) -> Moment:
        return Blocked(self, observation.at, job, observation)

    # -- edits -------------------------------------------------------------------------------

    def _apply_call(self, call: ApiCall) -> None:
        self.pauses.take_call(call)
        if call.name in JOB_CALLS and not self.trail:
            self.trail = call.event
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
            self.policy.forget(self.now - self.memory - SECOND)
            about = self.pauses.is_about(call)
            edit_policy = partial(changed_policy, call)
            if about is not False and self._change_policy(call.at, edit_policy, sure=about is True):
                self.policy_moved = self.now

    def _change_policy(self, at: Span, edit: Edit, *, sure: bool = True) -> bool:
        """Let an edit change the policy, unless the policy over time tells of it: that knows the moment better."""
        declared = self.declared.within(at.lo, at.hi) if self.declared.over_time else ()
        return all(edit(policy) not in (None, policy) for policy in declared) and self.policy.change(
            at, edit, sure=sure
        )

    def _find_policy(self, found: PolicyFound) -> Moment:
        self.policy.forget(self.now - self.memory - SECOND)
        if self._found is None:
            self._found = self.policy.within(found.at.lo, found.at.hi)[-1]
        if self._found != found.policy:
            self.policy_moved, self._found = self.now, found.policy
        declared = tuple(self.declared.within(found.at.lo - self.lag, found.at.hi))
        self._change_policy(found.at, partial(_replaced, found.policy))
        self.pauses.take_look_up(found)
        return Comparison(self, found.at, found.event, declared, found.policy)

    def _set_priority(self, job: JobRecord, priority: int, at: Span, event: str) -> None:
        together = bool(job.priorities) and job.priorities[-1][0] == at
        job.priorities.append((at, priority))
        del job.priorities[:-8]
        wait = job.wait
        if wait is None or (wait.until is not None and wait.until.hi < at.lo):
            return
        self._begin_wait(job, (*wait.events[:1], event), Span(self.now, max(self.now, at.hi)))
        if job.wait is None:
            return
        job.wait.after_attempt = wait.after_attempt
        self.waiting.block(job.wait, wait.blocked)
        if wait.until is not None:
            self._end_wait(job.wait, wait.until)
        elif together:
            wait.unsure = job.wait.unsure = True
            job.other_waits.append(wait)
        else:
            self._end_waits(job, wait, at)

    def _show_priority(self, job: JobRecord, priority: int, shown: int) -> None:
        """Compare the priority an event shows with those known from calls."""
        since = job.priorities[-1][0]
        if since.hi < shown and (since, priority) in job.priorities:
            self._settle_priority(job, priority, since)
        elif priority not in job.priorities_within(shown - 2 * SECOND, shown + SECOND):
            self.unlogged_edits = True
            self.flaws.add(Flaw.UNLOGGED_EDIT, job.id)
            self._set_priority(job, priority, Span(min(since.hi, shown), shown), "")

    def _settle_priority(self, job: JobRecord, priority: int, since: Span) -> None:
        """Settle which of several calls of one second came last."""
        job.priorities = [known for known in job.priorities if known[0] != since]
        job.priorities.append((since, priority))
        waits = [wait for wait in (job.wait, *job.other_waits) if wait is not None and wait.until is None]
        job.other_waits.clear()
        for wait in waits:
            if wait.priority == priority:
                job.wait, wait.unsure = wait, False
            else:
                self._end_wait(wait, Span(self.now, self.now))


def _replaced(by: QuotaPolicy, policy: QuotaPolicy) -> QuotaPolicy:
    return by


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
