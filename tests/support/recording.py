"""Recordings of EventBridge events, written tersely.

The events have the fields AWS documents; times are seconds since the epoch, as floats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from quota_scheduler import Demand, make_demand

G5 = "ml.g5.xlarge"
P4 = "ml.p4d.24xlarge"
REGION, ACCOUNT, QUEUE = "us-east-1", "123456789012", "training"
CROSS = "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity"
IN_SHARE = "PREEMPTION_IN_PROGRESS: In-share preemption triggered by a job of higher priority"
REASONS = {"cross-share": CROSS, "in-share": IN_SHARE}


@dataclass
class Job:
    """What a job is, and how far its recording has come."""

    share: str
    demand: Demand
    priority: int | None = 1
    retries: int | None = None
    created: float | None = None
    dispatched: float | None = None
    started: float | None = None
    stopped: float | None = None
    attempts: list[dict[str, Any]] = field(default_factory=list)
    preempted: list[dict[str, Any]] = field(default_factory=list)
    dispatches: int = 0
    terminated: bool = False


def job(share: str, count: int | dict[str, int] = 1, priority: int | None = 1, retries: int | None = None) -> Job:
    return Job(share, make_demand(count if isinstance(count, dict) else {G5: count}), priority, retries)


def stamp(at: float) -> str:
    return datetime.fromtimestamp(milliseconds(at) // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def milliseconds(at: float) -> int:
    return round(at * 1000)


class Recording:
    """Events of one queue, in the order they were written."""

    def __init__(self, **jobs: Job) -> None:
        self.jobs = jobs
        self.events: list[dict[str, Any]] = []
        self.last: dict[str, str] = {}

    def script(self, text: str) -> list[dict[str, Any]]:
        """Record lines of ``SECONDS JOB STATUS`` and return all events.

        Besides the states there are ``STOPPING kind`` (a preemption starts), ``STOPPED STATUS`` (it has
        completed), ``BLOCKED reason``, ``PRIORITY n`` (UpdateServiceJob) and ``SUBMIT``, which no job event shows.
        """
        for line in text.strip().splitlines():
            at, name, what, *rest = line.split(maxsplit=3)
            self.record(float(at), name, what, rest[0] if rest else "")
        return self.events

    def record(self, at: float, name: str, what: str, more: str = "") -> None:
        if what == "STOPPING":
            detail = {
                "statusReason": REASONS.get(more, more),
                "preemptedJobArn": arn(name),
                "status": "RUNNING",
            }
            self.emit("Batch Service Job Preemption Started", at, detail)
        elif what == "STOPPED":
            self.stopped(at, name, more or "RUNNABLE")
        elif what == "BLOCKED":
            detail = {**self.detail(name, "RUNNABLE"), "statusReason": more}
            self.emit("Batch Service Job Queue Blocked", at, detail)
        elif what == "SUBMIT":
            self.submission(at, name)
        elif what == "PRIORITY":
            self.jobs[name].priority = int(more)
            self.call(at, "UpdateServiceJob", {"jobId": name, "schedulingPriority": int(more)})
        else:
            self.state(at, name, what)

    def state(self, at: float, name: str, status: str) -> None:
        record = self.jobs[name]
        if record.created is None:
            record.created = at
        if status == "SCHEDULED":
            record.dispatched, record.started = at, None
            record.dispatches += 1
        elif status == "RUNNING":
            record.started = at
        elif status in ("SUCCEEDED", "FAILED"):
            record.stopped = at
            if self.last.get(name) in ("SCHEDULED", "STARTING", "RUNNING"):
                record.attempts.append({"startedAt": milliseconds(at), "stoppedAt": milliseconds(at)})
        self.last[name] = status
        self.emit("Batch Service Job State Change", at, self.detail(name, status))

    def retried(self, at: float, name: str) -> None:
        """An attempt failed and the job waits again."""
        self.jobs[name].attempts.append({"stoppedAt": milliseconds(at)})
        self.state(at, name, "RUNNABLE")

    def stopped(self, at: float, name: str, status: str) -> None:
        record = self.jobs[name]
        record.preempted.insert(0, {"stoppedAt": milliseconds(at), "statusReason": "preempted"})
        if status == "FAILED":
            record.stopped = at
        self.last[name] = status
        self.emit("Batch Service Job State Change", at, self.detail(name, status))
        detail = {"preemptedJobArn": arn(name), "status": status, "preemptionSummary": summary(record)}
        self.emit("Batch Service Job Preemption Completed", at, detail)

    def submission(self, at: float, name: str) -> None:
        """Record the call that submitted a job, as a trail does."""
        record = self.jobs[name]
        self.call(at, "SubmitServiceJob", {"jobName": name, "jobQueue": QUEUE, "quotaShareName": record.share})

    def look_up(self, at: float, jobs: list[dict[str, Any]], policy: dict[str, Any] | None = None) -> None:
        """Record what a look-up of all jobs, and one of the policy, found."""
        queue = {"jobQueue": f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{QUEUE}"}
        details = {"Job Queue Look-up": {**queue, "jobs": jobs}}
        if policy is not None:
            details["Quota Policy Look-up"] = {**queue, **policy}
        for kind, detail in details.items():
            self.emit(kind, at, detail)
            exactly = datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="milliseconds")
            self.events[-1].update(source="constructs-qm.auditor", time=exactly)

    def call(self, at: float, name: str, request: dict[str, Any]) -> None:
        """Record an API call as a trail does."""
        detail = {"eventSource": "batch.amazonaws.com", "eventName": name, "requestParameters": request}
        self.emit("AWS API Call via CloudTrail", at, detail)

    def detail(self, name: str, status: str) -> dict[str, Any]:
        record = self.jobs[name]
        optional = {
            "schedulingPriority": record.priority,
            "scheduledAt": None if record.dispatched is None else milliseconds(record.dispatched),
            "startedAt": None if record.started is None else milliseconds(record.started),
            "stoppedAt": None if record.stopped is None else milliseconds(record.stopped),
            "latestAttempt": {"serviceResourceId": {"name": "TrainingJobArn", "value": f"{name}-{record.dispatches}"}}
            if record.dispatches
            else None,
            "preemptionConfiguration": None
            if record.retries is None
            else {"preemptionRetriesBeforeTermination": record.retries},
            "preemptionSummary": summary(record) if record.preempted else None,
        }
        return {
            "jobArn": arn(name),
            "jobId": name,
            "jobName": name,
            "jobQueue": f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{QUEUE}",
            "serviceJobType": "SAGEMAKER_TRAINING",
            "status": status,
            "quotaShareName": record.share,
            "capacityUsage": [{"capacityUnit": unit, "quantity": float(count)} for unit, count in record.demand],
            "createdAt": milliseconds(record.created or 0),
            "attempts": list(record.attempts),
            "isTerminated": record.terminated,
            **{key: value for key, value in optional.items() if value is not None},
        }

    def emit(self, detail_type: str, at: float, detail: dict[str, Any]) -> None:
        self.events.append(
            {
                "version": "0",
                "id": f"e{len(self.events)}",
                "detail-type": detail_type,
                "source": "aws.batch",
                "account": ACCOUNT,
                "time": stamp(at),
                "region": REGION,
                "resources": [],
                "detail": detail,
            }
        )


def arn(name: str) -> str:
    return f"arn:aws:batch:{REGION}:{ACCOUNT}:service-job/{name}"


def summary(record: Job) -> dict[str, Any]:
    return {
        "preemptedAttemptCount": len(record.preempted),
        "recentPreemptedAttempts": list(record.preempted[:5]),
    }
