"""The reference scheduler: jobs and policy changes in, outcomes with their reasons out.

Time is a value. Every call takes ``now`` in seconds, which must not go back; nothing here
reads a clock, sleeps or starts a thread. A driver (a case, the simulator, the embedded
endpoint) calls :meth:`Scheduler.run` after its changes, and again when
:meth:`Scheduler.next_due` has come.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from quota_scheduler.assumptions import Assumptions
from quota_scheduler.blocked import BlockedReason
from quota_scheduler.decision import Decision, Victim
from quota_scheduler.exceptions import JobError, PolicyError
from quota_scheduler.findings import Finding, Level
from quota_scheduler.job_state import JobState
from quota_scheduler.outcome import Outcome, OutcomeKind
from quota_scheduler.outlook import Trial
from quota_scheduler.queue_state import QueueState
from quota_scheduler.scheduler_copy import record, revive
from quota_scheduler.scheduling_pass import action_for_claimant, next_action
from quota_scheduler.time_limits import reason_code
from quota_scheduler.value_rules import MAX_PRIORITY, check_priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from quota_scheduler.action import Action
    from quota_scheduler.job import Job
    from quota_scheduler.job_state import PreemptionKind
    from quota_scheduler.ledger import Figures
    from quota_scheduler.policy import QuotaPolicy, QuotaShare
    from quota_scheduler.queue_state import Lane
    from quota_scheduler.time_limits import TimeLimit

__all__ = ["Scheduler"]

# before Python 3.12, naming an enum's member costs as much as a call
_RUNNABLE: Final = JobState.RUNNABLE
_SCHEDULED: Final = JobState.SCHEDULED
_SUCCEEDED: Final = JobState.SUCCEEDED
_DISPATCHED: Final = OutcomeKind.DISPATCHED

_TIMEOUT = "Job attempt duration exceeded timeout"


class _Timer(Enum):
    """What is due at a time; a timer whose job has moved on since is ignored."""

    STOPPED = "stopped"
    ATTEMPT_TIMEOUT = "attempt-timeout"
    TIME_LIMIT = "time-limit"
    CAPACITY_RETRY = "capacity-retry"


class Scheduler:
    """One job queue under a quota policy.

    Parameters
    ----------
    policy : QuotaPolicy
    assumptions : Assumptions, optional
        Our choices where AWS is silent.
    preemption_seconds : float
        Time between the start of a preemption and the moment the job has stopped.
    time_limits : iterable of TimeLimit
        The queue's job state time limit actions.
    explains : bool
        Whether decisions carry the share figures before and after; a long simulation does without.

    Attributes
    ----------
    state : QueueState
        To look at; changes go through the methods.
    jobs : dict of str to Job
        Every job that isn't final, by id.
    paused : bool
        Set while the service environment is DISABLED: jobs end and stop, and none is dispatched or preempted.
    """

    def __init__(
        self,
        policy: QuotaPolicy,
        *,
        assumptions: Assumptions | None = None,
        preemption_seconds: float = 0,
        time_limits: Iterable[TimeLimit] = (),
        explains: bool = True,
    ) -> None:
        self.assumptions = assumptions or Assumptions()
        self.preemption_seconds = preemption_seconds
        self.time_limits = tuple(time_limits)
        self.explains = explains
        self._require_acceptable(policy)
        self.state = QueueState(policy, self.assumptions)
        self.jobs: dict[str, Job] = {}
        self._timers: list[tuple[float, int, _Timer, Job, float]] = []
        self._timer_count = 0
        self._sequence = 0
        self.paused = False
        self.completed_claims: list[Lane] = []
        """Lanes whose victims have all stopped since the last run; for the scheduler only."""
        self._restless = self.assumptions.lowered_limits_preempt
        """Whether a pass can find something to do though no front job asks for it."""
        self._outcomes: list[Outcome] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return revive, (Scheduler, record(self))

    @property
    def policy(self) -> QuotaPolicy:
        """The policy in force."""
        return self.state.policy

    # -- jobs -------------------------------------------------------------------

    def submit(self, job: Job, now: float, *, accepted: bool = False) -> None:
        """Take a job; it is RUNNABLE from `now` on.

        Parameters
        ----------
        job : Job
            With id, share, demand and, where known, priority, created time, retries and order of submission
            (`sequence`): without that, jobs of one moment stand in the order in which they are given.
        now : float
            Seconds.
        accepted : bool
            It was SUBMITTED earlier, while its share took jobs; a share DISABLED since lets it finish.

        Raises
        ------
        JobError
            The share is unknown or DISABLED, the id is taken, or a value isn't allowed;
            nothing has changed then.
        """
        self._take(job, accepted=accepted)
        self.state.wait(job, now)
        job.attempts_used = 1

    def place(self, job: Job, dispatched_at: float) -> None:
        """Take a job as already holding since `dispatched_at`, without any scheduling.

        Its share may be DISABLED since. Among equal times the one placed later counts as dispatched later.

        Raises
        ------
        JobError
            The share is unknown, the id is taken, or a value isn't allowed.
        """
        self._take(job, accepted=True)
        job.attempts_used = 1
        self.state.hold(job, dispatched_at)

    def progress(self, job_id: str, state: JobState, now: float) -> None:
        """Record that a holding job is STARTING or RUNNING from `now` on, in seconds.

        Raises
        ------
        JobError
            The job is unknown, has ended, or isn't dispatched.
        """
        job = self._holding(job_id)
        if state is JobState.RUNNING and job.state is not JobState.RUNNING:
            job.started_at = now
            self._arm_timeout(job, now)
        job.state = state

    def note_preemption(self, job_id: str, kind: PreemptionKind, until: float) -> None:
        """Record that a holding job is being preempted, for whom isn't known, and stops at `until`, in seconds.

        Raises
        ------
        JobError
            The job is unknown, has ended, or isn't dispatched.
        """
        job = self._holding(job_id)
        if job.stopping is None:
            job.stopping = kind
            self.state.start_stopping(job, None)
            self._arm(until, _Timer.STOPPED, job, job.dispatch_order)

    def finish(self, job_id: str) -> None:
        """End a holding job as SUCCEEDED.

        Raises
        ------
        JobError
            The job is unknown, has ended, or isn't dispatched.
        """
        job = self._holding(job_id)
        self._leave_capacity(job)
        self._close(job, _SUCCEEDED)

    def fail(self, job_id: str, now: float, reason: str = "") -> JobState:
        """End an attempt that failed; return RUNNABLE where the job is retried, else FAILED.

        Parameters
        ----------
        job_id : str
        now : float
            Seconds.
        reason : str
            What the job's retry strategy decides by (facts.md: service-job-retries).

        Raises
        ------
        JobError
            The job is unknown, has ended, or isn't dispatched.
        """
        job = self._holding(job_id)
        self._end_attempt(job, now, reason)
        return job.state

    def lack_capacity(self, job_id: str, now: float, retry_at: float) -> None:
        """Put a holding job back to RUNNABLE since SageMaker lacks capacity; this uses no attempt.

        It shows the capacity reason, and isn't tried again, until `retry_at`, in seconds.

        Raises
        ------
        JobError
            The job is unknown, has ended, or isn't dispatched.
        """
        job = self._holding(job_id)
        self._leave_capacity(job)
        self.state.wait(job, now)
        self._block(job, BlockedReason.INSUFFICIENT_CAPACITY, now)
        self._arm(retry_at, _Timer.CAPACITY_RETRY, job, job.runnable_since)

    def terminate(self, job_id: str) -> None:
        """End a job at once as FAILED, whatever its state.

        Raises
        ------
        JobError
            The job is unknown or has ended.
        """
        job = self._known(job_id)
        if job.state.holds:
            self._leave_capacity(job)
        else:
            self.state.leave_queue(job)
        self._close(job, JobState.FAILED)

    def set_priority(self, job_id: str, priority: int) -> None:
        """Change the priority of a job, waiting or holding (UpdateServiceJob).

        Raises
        ------
        JobError
            The job is unknown or has ended, or the priority is outside 0 to 9999.
        """
        for problem in check_priority(priority):
            raise JobError(problem)
        self.state.set_priority(self._known(job_id), priority)

    # -- policy -----------------------------------------------------------------

    def set_policy(self, policy: QuotaPolicy) -> None:
        """Put another policy in force: limits, strategies, shares added or deleted.

        Jobs of a share that is deleted are terminated (facts.md, quota share).

        Raises
        ------
        PolicyError
            Assumption A5 is flipped and the limits add up to more than the environment.
        """
        self._require_acceptable(policy)
        kept = {share.name for share in policy.shares}
        for job in list(self.jobs.values()):
            if job.share not in kept:
                self.terminate(job.id)
        self.state.adopt(policy)

    def set_limits(self, share: str, limits: Mapping[str, int]) -> None:
        """Change the capacity limits of a share; raises JobError where it is unknown."""
        self.set_policy(self.policy.with_share(replace(self._share(share), limits=limits)))

    def set_enabled(self, share: str, enabled: bool) -> None:
        """Enable or disable a share; raises JobError where it is unknown."""
        self.set_policy(self.policy.with_share(replace(self._share(share), enabled=enabled)))

    # -- time -------------------------------------------------------------------

    def next_due(self) -> float | None:
        """Return when something will happen by itself, in seconds, or None."""
        return self._timers[0][0] if self._timers else None

    def run(self, now: float) -> list[Outcome]:
        """Let everything happen that is due by `now`, in order of time.

        Parameters
        ----------
        now : float
            Seconds.

        Returns
        -------
        list of Outcome
            What happened since the last call, in order.
        """
        timers = self._timers
        while timers and timers[0][0] < now:
            self._run_at(timers[0][0])
        self._run_at(now)
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def _run_at(self, now: float) -> None:
        """Bring everything to rest at one moment: what is due, claims this completes, then one action after another."""
        timers, state, attention = self._timers, self.state, self.state.attention
        while True:
            while timers and timers[0][0] <= now:
                _, _, timer, job, token = heapq.heappop(timers)
                self._fire(timer, job, token, now)
            if state.misjudged:
                self._judge_fronts(now)
            if self.paused:
                return
            if self.completed_claims:
                self._serve_claims(now)
            if not (attention.awake or attention.watching or self._restless or attention.fulfil_wishes()):
                return
            action = next_action(state)
            if action is None:
                return
            self._carry_out(action, now)

    def _serve_claims(self, now: float) -> None:
        """Try the front jobs whose victims have all stopped before anyone else, in the order of shares."""
        completed, self.completed_claims = self.completed_claims, []
        for lane in sorted(completed, key=self.state.turn):
            if (action := action_for_claimant(self.state, lane)) is not None:
                self._carry_out(action, now)
        self._judge_fronts(now)

    def _arm(self, time: float, timer: _Timer, job: Job, token: float) -> None:
        self._timer_count += 1
        heapq.heappush(self._timers, (time, self._timer_count, timer, job, token))

    def _arm_timeout(self, job: Job, now: float) -> None:
        if job.timeout is not None:
            self._arm(now + job.timeout, _Timer.ATTEMPT_TIMEOUT, job, job.started_at)

    def _fire(self, timer: _Timer, job: Job, token: float, now: float) -> None:
        if timer is _Timer.STOPPED:
            if job.stopping is not None and token == job.dispatch_order:
                self._stopped(job, now)
        elif timer is _Timer.ATTEMPT_TIMEOUT:
            if job.state is JobState.RUNNING and job.stopping is None and token == job.started_at:
                before = job.state
                self._end_attempt(job, now, _TIMEOUT)
                self._report(now, OutcomeKind.TIMED_OUT, job, before, _TIMEOUT)
        elif job.state is JobState.RUNNABLE and token == job.runnable_since and job.blocked is not None:
            if timer is _Timer.TIME_LIMIT:
                self._apply_time_limit(job, now)
            else:
                self.state.unblock(job)
                self._report(now, OutcomeKind.UNBLOCKED, job, job.state)

    # -- carrying decisions out ---------------------------------------------------

    def _carry_out(self, action: Action, now: float) -> None:
        job = action.job
        if job is not None and not action.victims and not action.taken_over:
            before = self._figures(job) if self.explains else ()
            self.state.leave_queue(job)
            self.state.hold(job, now)
            decision = None
            if self.explains:
                decision = Decision(now, action.rule, job.id, job.share, job.rank, (), (), before, self._figures(job))
            self._outcomes.append(Outcome(now, _DISPATCHED, job, _RUNNABLE, _SCHEDULED, "", decision))
            return
        decision = self._preemption_decision(action, now)
        for victim in action.taken_over:
            self.state.start_stopping(victim, action.lane)
        for victim, kind in action.victims:
            victim.stopping = kind
            self.state.start_stopping(victim, action.lane)
            self._arm(now + self.preemption_seconds, _Timer.STOPPED, victim, victim.dispatch_order)
            self._report(now, OutcomeKind.PREEMPTING, victim, victim.state, decision=decision, preemption=kind)

    def _preemption_decision(self, action: Action, now: float) -> Decision:
        """Describe a preemption before it starts, with the figures it leads to."""
        job = action.job
        before: tuple[Figures, ...] = ()
        after: tuple[Figures, ...] = ()
        if job is not None and self.explains:
            before = self._figures(job)
            with Trial(self.state) as trial:
                for victim, _ in action.victims:
                    trial.release(victim)
                trial.take(job)
                after = trial.ledger.figures(trial.request(job))
        return Decision(
            at=now,
            rule=action.rule,
            job=job.id if job is not None else "",
            share=job.share if job is not None else "",
            priority=job.rank if job is not None else 0,
            victims=tuple(self._victim(victim, kind) for victim, kind in action.victims),
            taken_over=tuple(victim.id for victim in action.taken_over),
            before=before,
            after=after,
        )

    def _victim(self, job: Job, kind: PreemptionKind) -> Victim:
        over = tuple((unit, self.state.ledger.over(job.share, unit)) for unit, _ in job.demand)
        return Victim(job.id, job.share, kind, job.rank, over)

    def _figures(self, job: Job) -> tuple[Figures, ...]:
        return self.state.ledger.figures(job.job_class)

    def _stopped(self, job: Job, now: float) -> None:
        """Complete a preemption: RUNNABLE again, or FAILED without retries left."""
        kind, before = job.stopping, job.state
        self._leave_capacity(job)
        job.preemptions += 1
        used_up = job.preemption_retries is not None and job.preemptions > job.preemption_retries
        if self.assumptions.preemption_uses_attempt and not used_up:
            used_up = job.attempts_used >= (job.retry.attempts if job.retry is not None else 1)
            job.attempts_used += 1
        if used_up:
            self._close(job, JobState.FAILED)
        else:
            self.state.wait(job, now)
        self._report(now, OutcomeKind.PREEMPTED, job, before, preemption=kind)

    def _end_attempt(self, job: Job, now: float, reason: str) -> None:
        self._leave_capacity(job)
        if job.retry is not None and job.retry.allows(job.attempts_used, reason):
            job.attempts_used += 1
            self.state.wait(job, now)
        else:
            self._close(job, JobState.FAILED)

    def _leave_capacity(self, job: Job) -> None:
        if job.stopping is not None:
            job.stopping = None
            lane = self.state.end_stopping(job)
            if lane is not None:
                self.completed_claims.append(lane)
        self.state.release(job)

    def _close(self, job: Job, state: JobState) -> None:
        job.state = state
        del self.jobs[job.id]

    # -- blocked jobs ---------------------------------------------------------------

    def _judge_fronts(self, now: float) -> None:
        """Give front jobs that can never run their reason, once each time the front or the policy changes."""
        lanes, self.state.misjudged = self.state.misjudged, []
        for lane in lanes:
            job = self.state.first_of(lane)
            if job is not None and job.blocked is not job.job_class.blocked:
                self._judge(job, now)

    def _judge(self, job: Job, now: float) -> None:
        reason = job.job_class.blocked
        if job.blocked == BlockedReason.INSUFFICIENT_CAPACITY:
            return
        if reason is not None:
            self._block(job, reason, now)
        else:
            job.blocked = None
            self._report(now, OutcomeKind.UNBLOCKED, job, job.state)

    def _block(self, job: Job, reason: str, now: float) -> None:
        job.blocked = reason
        for limit in self.time_limits:
            if limit.reason == reason_code(reason):
                self._arm(now + limit.seconds, _Timer.TIME_LIMIT, job, job.runnable_since)
        self._report(now, OutcomeKind.BLOCKED, job, job.state, reason)

    def _apply_time_limit(self, job: Job, now: float) -> None:
        code = reason_code(job.blocked or "")
        for limit in self.time_limits:
            if limit.reason == code:
                before = job.state
                self.state.leave_queue(job)
                self._close(job, JobState.FAILED)
                self._report(now, OutcomeKind.TERMINATED, job, before, limit.status_reason)
                return

    # -- checks ---------------------------------------------------------------------

    def _take(self, job: Job, *, accepted: bool) -> None:
        share = self._share(job.share)
        if not share.enabled and not accepted:
            raise JobError(f"quota share {job.share} is DISABLED and takes no jobs: enable it or name another")
        if job.id in self.jobs:
            raise JobError(f"job {job.id} exists already: give every job its own id")
        priority = self.assumptions.absent_priority if job.priority is None else job.priority
        if not (type(priority) is int and 0 <= priority <= MAX_PRIORITY):
            for problem in check_priority(priority):
                raise JobError(problem)
        job.priority = priority
        job.sequence = job.sequence or self._sequence + 1
        self._sequence = max(self._sequence, job.sequence)
        self.jobs[job.id] = job
        job.job_class = self.state.class_of(job)

    def _share(self, name: str) -> QuotaShare:
        state = self.state.shares.get(name)
        if state is None:
            names = ", ".join(self.state.shares) or "none"
            raise JobError(f"quota share {name!r} is unknown: use one of {names}")
        return state.share

    def _known(self, job_id: str) -> Job:
        job = self.jobs.get(job_id)
        if job is None:
            raise JobError(f"job {job_id!r} is unknown or has ended")
        return job

    def _holding(self, job_id: str) -> Job:
        job = self.jobs.get(job_id) or self._known(job_id)
        if not job.state.holds:
            raise JobError(f"job {job_id} is {job.state.value}: only a SCHEDULED, STARTING or RUNNING job can do that")
        return job

    def _require_acceptable(self, policy: QuotaPolicy) -> None:
        if self.assumptions.oversubscription:
            return
        for unit, capacity in policy.environment.items():
            assigned = sum(share.limits.get(unit, 0) for share in policy.shares)
            if assigned > capacity:
                message = f"limits of {unit} add up to {assigned}, the environment has {capacity}: lower them"
                raise PolicyError([Finding("QM009", Level.ERROR, message, f"environment.{unit}")])

    def _report(
        self,
        now: float,
        kind: OutcomeKind,
        job: Job,
        before: JobState,
        reason: str = "",
        *,
        decision: Decision | None = None,
        preemption: PreemptionKind | None = None,
    ) -> None:
        self._outcomes.append(Outcome(now, kind, job, before, job.state, reason, decision, preemption))
