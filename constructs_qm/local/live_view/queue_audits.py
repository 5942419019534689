"""The auditor's verdict on every queue, kept up to date event by event.

All it knows is in the events: the policy, too, by the API calls that made it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from constructs_qm.local.events import API_CALL
from constructs_qm.local.rules import read_limits
from preemption_auditor import Auditor, AuditSettings, Coverage, Delivery, Kind
from preemption_auditor.api_calls import ApiCall, changed_policy
from preemption_auditor.instants import Span
from quota_scheduler import QuotaPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from constructs_qm.local.events import Event
    from preemption_auditor import Finding

__all__ = ["QueueAudits"]

_SETTINGS = AuditSettings(Delivery.COMPLETE, lateness=1)
"""An event is stamped with its second: within a second, one may seem to come late."""
_BATCH = 10**9
"""Only :meth:`QueueAudits.follow` decides when to judge."""
_PERIOD = 30
"""Seconds after which it is judged again without a new event: rules about waiting speak by themselves."""
_SHOWN = 20
"""Findings, and decisions that couldn't be judged, that are shown."""


class _Audit:
    """One queue's auditor and what it found.

    The auditor begins with the first job: shares that were made before belong to the policy it begins with. Told
    of them as edits, it would have to consider every order of those of one second.
    """

    def __init__(self, policy: QuotaPolicy, environment: str) -> None:
        self.environment = environment
        self.findings: dict[object, Finding] = {}
        self._policy = policy
        self._early: list[Event] = []
        self._auditor: Auditor | None = None
        self._fed = False
        self._judged = 0.0

    def feed(self, event: Event) -> None:
        if self._auditor is None and event["detail-type"] == API_CALL:
            self._prepare(event)
            return
        if self._auditor is None:
            self._auditor = Auditor(self._policy, _SETTINGS, batch=_BATCH)
            for early in self._early:
                self._auditor.feed(early)
        self._auditor.feed(event)
        self._fed = True

    def _prepare(self, event: Event) -> None:
        detail = event["detail"]
        call = ApiCall(detail["eventName"], detail["requestParameters"], Span.of_second(0), event["id"])
        changed = changed_policy(call, self._policy) if call.name.endswith("QuotaShare") else None
        if changed is None:
            self._early.append(event)
        else:
            self._policy = changed

    def judge(self, now: float) -> None:
        if self._auditor is not None and (self._fed or now - self._judged >= _PERIOD):
            for finding in self._auditor.publish(now):
                self.findings[finding.rule, finding.about] = finding
            self._fed, self._judged = False, now

    def show(self) -> dict[str, Any]:
        coverage = Coverage() if self._auditor is None else self._auditor.coverage
        findings = [finding for finding in self.findings.values() if finding.kind is not Kind.NOTE]
        violations = sum(finding.kind is Kind.VIOLATION for finding in findings)
        latest = sorted(findings, key=lambda finding: finding.at)[: -_SHOWN - 1 : -1]
        unknown = [] if self._auditor is None else self._auditor.unknown
        return {
            "verdict": "violation" if violations else "unknown" if coverage.unknown else "pass",
            "judgedUntil": self._judged - _SETTINGS.lateness,
            "decisions": coverage.decisions,
            "unknown": coverage.unknown,
            "violations": violations,
            "divergences": len(findings) - violations,
            "findings": [finding.to_document() for finding in latest],
            "gaps": [{"rule": gap.rule, "gap": gap.gap} for gap in unknown[: -_SHOWN - 1 : -1]],
        }


def _second(event: Event) -> float:
    """Return when an event was sent, in seconds since 1970."""
    return datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


class QueueAudits:
    """Audits of all queues of an endpoint."""

    def __init__(self) -> None:
        self._read = 0
        self._audits: dict[str, _Audit] = {}
        """By the queue's ARN."""
        self._environments: dict[str, dict[str, int]] = {}
        """Capacity by ARN."""
        self._jobs: dict[str, str] = {}
        """The ARN of the queue of each job, by id."""

    def give_up(self) -> None:
        """Judge no queue there is now any more, since its policy may change without an event."""
        self._audits.clear()

    def follow(self, events: Sequence[Event], now: float, most: int) -> int:
        """Take in up to `most` new events, judge, and return how many are left.

        Parameters
        ----------
        events : sequence of Event
            All there are.
        now : float
            Seconds since 1970.
        most : int
        """
        for event in events[self._read : self._read + most]:
            self._read += 1
            for audit in self._audits_of(event):
                audit.feed(event)
        behind = len(events) - self._read
        for audit in self._audits.values():
            audit.judge(_second(events[self._read]) if behind else now)
        return behind

    def show(self, queue: str) -> dict[str, Any]:
        """Return the verdict on the queue with this ARN; without API calls its policy isn't known."""
        audit = self._audits.get(queue)
        if audit is None:
            return {"verdict": "none", "findings": [], "gaps": []}
        return audit.show()

    def _audits_of(self, event: Event) -> list[_Audit]:
        """Return the audits an event is evidence for."""
        if event["detail-type"] == API_CALL:
            return self._audits_of_call(event)
        queue = event["detail"].get("jobQueue")
        job = event["resources"][0].rpartition("/")[2]
        if queue is not None:
            self._jobs[job] = queue
        return self._named([self._jobs.get(job)])

    def _audits_of_call(self, event: Event) -> list[_Audit]:
        detail = event["detail"]
        name, request, answer = detail["eventName"], detail["requestParameters"], detail["responseElements"] or {}
        prefix = f"{event['region']}:{event['account']}:"
        if name in ("CreateServiceEnvironment", "UpdateServiceEnvironment"):
            arn = answer["serviceEnvironmentArn"]
            if "capacityLimits" in request:
                self._environments[arn] = read_limits(request["capacityLimits"])
            return [audit for audit in self._audits.values() if audit.environment == arn]
        if name == "CreateJobQueue":
            self._begin(answer["jobQueueArn"], request["serviceEnvironmentOrder"][0]["serviceEnvironment"], prefix)
            return []
        if "jobId" in request or "jobs" in request:
            jobs: Iterable[str] = request.get("jobs", [request.get("jobId")])
            return self._named([self._jobs.get(job.rpartition("/")[2]) for job in jobs])
        if "jobId" in answer:
            self._jobs[answer["jobId"]] = self._queue_arn(request["jobQueue"], prefix)
        share = request.get("quotaShareArn", "").rpartition("/quota-share/")[0]
        return self._named([share or self._queue_arn(request.get("jobQueue", ""), prefix)])

    def _begin(self, queue: str, environment: str, prefix: str) -> None:
        ending = f"{prefix}service-environment/{environment}"
        arn = next((arn for arn in self._environments if arn == environment or arn.endswith(ending)), None)
        if arn is not None:
            self._audits[queue] = _Audit(QuotaPolicy(self._environments[arn]), arn)

    def _queue_arn(self, queue: str, prefix: str) -> str:
        """Return the ARN for a queue's name or ARN."""
        return next((arn for arn in self._audits if queue == arn or arn.endswith(f"{prefix}job-queue/{queue}")), "")

    def _named(self, queues: Iterable[str | None]) -> list[_Audit]:
        return [self._audits[arn] for arn in dict.fromkeys(queues) if arn in self._audits]
