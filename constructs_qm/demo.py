"""The launch article's walk-through, run with a real boto3 client against the embedded endpoint.

Nothing here decides anything: the client calls the API, the endpoint answers, the auditor judges
the events, and :func:`run` compares each step with what the article says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from constructs_qm.demo_resources import ApiResources, CdkResources
from constructs_qm.local import Settings, SteppedClock
from constructs_qm.local.cdk_cli import CdkCli
from constructs_qm.local.events import PREEMPTION_COMPLETED, PREEMPTION_STARTED, STATE_CHANGE
from constructs_qm.local.server import start
from preemption_auditor.audit import audit
from preemption_auditor.settings import AuditSettings, Delivery
from quota_scheduler import OutcomeKind, load_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from constructs_qm.demo_resources import Resources
    from constructs_qm.local.server import Server
    from preemption_auditor.report import Report

__all__ = ["ARTICLE_POLICY", "INSTANCE_TYPE", "STEP_SECONDS", "Demo", "DemoStep", "Transition", "run"]

INSTANCE_TYPE = "ml.g5.xlarge"
ARTICLE_POLICY = load_policy(
    {
        "environment": {INSTANCE_TYPE: 3},
        "shares": [
            {
                "name": "QS1",
                "limits": {INSTANCE_TYPE: 1},
                "strategy": "LEND_AND_BORROW",
                "borrowLimit": 200,
                "inSharePreemption": True,
            },
            {"name": "QS2", "limits": {INSTANCE_TYPE: 1}, "strategy": "LEND"},
            {"name": "QS3", "limits": {INSTANCE_TYPE: 1}, "strategy": "RESERVE"},
        ],
    }
)

_DISPATCHED = frozenset({"SCHEDULED", "STARTING", "RUNNING"})
_WAITING = frozenset({"RUNNABLE"})
_REASONS = {
    "RUNNABLE": "submitted with priority {schedulingPriority}",
    "STARTING": "SageMaker prepares the training job",
    "RUNNING": "SageMaker trains",
}
"""Of transitions the scheduler doesn't decide."""
STEP_SECONDS = 60
"""Longer than a preemption and the start of a job take together at the endpoint."""


@dataclass(frozen=True)
class Transition:
    """One change of a job's state.

    Attributes
    ----------
    at : str
        ISO 8601.
    job, share, status : str
    reason : str
        The scheduler's, or the event's.
    job_id : str
    """

    at: str
    job: str
    share: str
    status: str
    reason: str
    job_id: str


@dataclass
class DemoStep:
    """What one step of the article led to.

    Attributes
    ----------
    title : str
    transitions : list of Transition
    usage : list of (str, int, int, list of str, list of str)
        Per share: name, limit and use in instances, running jobs and waiting jobs.
    differs : list of str
        What isn't as the article says.
    """

    title: str
    transitions: list[Transition] = field(default_factory=list)
    usage: list[tuple[str, int, int, list[str], list[str]]] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Plan:
    """A step of the article, and the states it waits for."""

    title: str
    act: Callable[[_Client], None]
    expected: Mapping[str, frozenset[str]]


_PLANS = (
    _Plan(
        "Three jobs are submitted to QS1, with priorities 3, 2 and 1",
        lambda client: client.submit_all(
            ("qs1_job_high", "QS1", 3), ("qs1_job_med", "QS1", 2), ("qs1_job_low", "QS1", 1)
        ),
        {"qs1_job_high": _DISPATCHED, "qs1_job_med": _DISPATCHED, "qs1_job_low": _WAITING},
    ),
    _Plan(
        "A job is submitted to QS2, whose capacity QS1 has borrowed",
        lambda client: client.submit_all(("qs2_job_1", "QS2", 1)),
        {
            "qs2_job_1": _DISPATCHED,
            "qs1_job_high": _DISPATCHED,
            "qs1_job_med": _WAITING,
            "qs1_job_low": _WAITING,
        },
    ),
    _Plan(
        "The priority of qs1_job_low is raised to 4",
        lambda client: client.set_priority("qs1_job_low", 4),
        {
            "qs1_job_low": _DISPATCHED,
            "qs2_job_1": _DISPATCHED,
            "qs1_job_high": _WAITING,
            "qs1_job_med": _WAITING,
        },
    ),
)


class Demo:
    """The walk-through on a running endpoint.

    Parameters
    ----------
    server : Server
        With a stepped clock.
    resources : Resources
        The queue it uses.
    """

    def __init__(self, server: Server, resources: Resources) -> None:
        self._server = server
        self._resources = resources
        self._client = _Client(server.url)
        self._transitions = _TransitionReader(server, self._client)

    def steps(self) -> Iterator[DemoStep]:
        """Create the article's resources and take its steps; each is given out once it is done."""
        self._client.create(self._resources)
        for plan in _PLANS:
            plan.act(self._client)
            self._server.endpoint.clock.advance(STEP_SECONDS)
            yield DemoStep(
                plan.title,
                self._transitions.new(),
                self._client.usage(),
                list(self._differences(plan.expected)),
            )

    def audit(self) -> Report:
        """Let the auditor judge every event so far."""
        return audit(self._server.endpoint.events, ARTICLE_POLICY, AuditSettings(delivery=Delivery.COMPLETE))

    def clean_up(self) -> None:
        """Terminate the jobs and delete the article's resources."""
        self._client.delete(self._resources)

    def _differences(self, expected: Mapping[str, frozenset[str]]) -> Iterator[str]:
        statuses = self._client.statuses()
        for job, allowed in expected.items():
            if statuses.get(job) not in allowed:
                yield f"{job} should be {' or '.join(sorted(allowed))}, is {statuses.get(job, 'unknown')}"


def run(on_step: Callable[[DemoStep], None], app: Path | None = None, cdk: str = "cdk") -> Report:
    """Run the whole walk-through.

    Parameters
    ----------
    on_step : callable
        Is given each step once it is done.
    app : Path, optional
        CDK app whose only queue is used, deployed to the endpoint; without one, API calls create the queue.
    cdk : str
        The cdk CLI.

    Returns
    -------
    Report
        The auditor's.

    Raises
    ------
    CdkError
        The app can't be deployed.
    """
    with (
        TemporaryDirectory() as folder,
        start(clock=SteppedClock(), settings=Settings(running_seconds=None), seed=1) as server,
    ):
        resources = CdkResources(CdkCli(server.url, app, Path(folder), cdk)) if app else ApiResources(ARTICLE_POLICY)
        demo = Demo(server, resources)
        for step in demo.steps():
            on_step(step)
        report = demo.audit()
        demo.clean_up()
        return report


class _Client:
    """The API calls of the walk-through."""

    def __init__(self, url: str) -> None:
        import boto3

        self._batch = boto3.client(
            "batch",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="demo",
            aws_secret_access_key="demo",
        )
        self._queue = ""
        self._jobs: dict[str, str] = {}

    def create(self, resources: Resources) -> None:
        self._queue = resources.create(self._batch)

    def delete(self, resources: Resources) -> None:
        self._batch.terminate_service_jobs(jobs=list(self._jobs.values()), reason="the walk-through is over")
        resources.delete(self._batch)

    def submit_all(self, *jobs: tuple[str, str, int]) -> None:
        payload = {"ResourceConfig": {"InstanceType": INSTANCE_TYPE, "InstanceCount": 1, "VolumeSizeInGB": 30}}
        for name, share, priority in jobs:
            answer = self._batch.submit_service_job(
                jobName=name,
                jobQueue=self._queue,
                serviceJobType="SAGEMAKER_TRAINING",
                serviceRequestPayload=json.dumps(payload),
                quotaShareName=share,
                schedulingPriority=priority,
            )
            self._jobs[name] = answer["jobId"]

    def set_priority(self, name: str, priority: int) -> None:
        self._batch.update_service_job(jobId=self._jobs[name], schedulingPriority=priority)

    def describe(self, job_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._batch.describe_service_job(jobId=job_id)
        return answer

    def names(self) -> dict[str, str]:
        """Return the name of each job id."""
        return {job_id: name for name, job_id in self._jobs.items()}

    def statuses(self) -> dict[str, str]:
        return {name: self.describe(job_id)["status"] for name, job_id in self._jobs.items()}

    def usage(self) -> list[tuple[str, int, int, list[str], list[str]]]:
        jobs = [self.describe(job_id) for job_id in self._jobs.values()]
        rows = []
        for share in ARTICLE_POLICY.shares:
            own = [job for job in jobs if job["quotaShareName"] == share.name]
            running = sorted(job["jobName"] for job in own if job["status"] in _DISPATCHED)
            waiting = sorted(job["jobName"] for job in own if job["status"] in _WAITING)
            rows.append((share.name, share.limits[INSTANCE_TYPE], self._used(share.name), running, waiting))
        return rows

    def _used(self, share: str) -> int:
        utilization = self._batch.get_job_queue_snapshot(jobQueue=self._queue)["queueUtilization"]
        for entry in utilization.get("quotaShareUtilization", {}).get("topCapacityUtilization", []):
            if entry["quotaShareName"] == share:
                return int(sum(usage["quantity"] for usage in entry["capacityUsage"]))
        return 0


class _TransitionReader:
    """Turns new events into transitions, with the scheduler's reason where it had one."""

    def __init__(self, server: Server, client: _Client) -> None:
        self._log = server.endpoint.log
        self._client = client
        self._read = 0

    def new(self) -> list[Transition]:
        events = [event for event in self._log.events[self._read :] if event["source"] == "aws.batch"]
        self._read = len(self._log.events)
        stopped = {(event["resources"][0], event["time"]) for event in events if _is(event, PREEMPTION_COMPLETED)}
        return [
            self._transition(event)
            for event in events
            if event["resources"] and not (_is(event, STATE_CHANGE) and _requeued(event) in stopped)
        ]

    def _transition(self, event: Mapping[str, Any]) -> Transition:
        job_id = event["resources"][0].rpartition("/")[2]
        job, status = self._client.describe(job_id), event["detail"]["status"]
        if _is(event, PREEMPTION_STARTED):
            reason = self._decision(job_id, OutcomeKind.PREEMPTING)
            status = f"{status}, stopping"
        elif _is(event, PREEMPTION_COMPLETED):
            reason = event["detail"]["preemptionSummary"]["recentPreemptedAttempts"][0]["statusReason"]
        elif status == "SCHEDULED":
            reason = self._decision(job_id, OutcomeKind.DISPATCHED)
        else:
            reason = event["detail"].get("statusReason") or _REASONS[status].format(**job)
        return Transition(event["time"], job["jobName"], job["quotaShareName"], status, reason, job_id)

    def _decision(self, job_id: str, kind: OutcomeKind) -> str:
        """Return the latest decision of a kind about a job, with names for ids."""
        for outcome in reversed(self._log.outcomes):
            if outcome.kind is kind and outcome.job.id == job_id and outcome.decision is not None:
                sentence = outcome.decision.sentence()
                for identity, name in self._client.names().items():
                    sentence = sentence.replace(identity, name)
                return sentence
        return ""


def _is(event: Mapping[str, Any], detail_type: str) -> bool:
    return bool(event["detail-type"] == detail_type)


def _requeued(event: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return job and time of an event that shows a job RUNNABLE; its preemption event tells the same and why."""
    return (event["resources"][0], event["time"]) if event["detail"]["status"] == "RUNNABLE" else None
