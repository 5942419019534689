"""Everything AWS Batch knows in one account and Region, and how time passes for it."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, Any

from constructs_qm.local import job_life
from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import API_CALL, EventLog, iso_time
from constructs_qm.local.scripts import script_for
from constructs_qm.local.timers import Timers

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.arns import ArnMaker
    from constructs_qm.local.attempts import Attempt
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.lifecycle import Resource
    from constructs_qm.local.rogue import Rogue
    from constructs_qm.local.scheduling_policies import SchedulingPolicy
    from constructs_qm.local.scripts import Script
    from constructs_qm.local.service_environments import ServiceEnvironment
    from constructs_qm.local.service_jobs import ServiceJob
    from constructs_qm.local.settings import Settings

__all__ = ["BatchState"]


class BatchState:
    """Resources and jobs of one account and Region.

    It never reads a clock: :meth:`run` is told what time it is.

    Parameters
    ----------
    arns : ArnMaker
        Also names the account and Region.
    settings : Settings
    log : EventLog
        Where events go.
    seed : int or None
        Makes ids repeatable.

    Attributes
    ----------
    now : float
        Seconds since 1970, as last told.
    container_queues : callable
        Returns DescribeJobQueues details of the queues that are someone else's.
    scripts : tuple of Script
        What becomes of jobs, the first that matches; the usual otherwise.
    rogue : Rogue or None
        Breaks a rule.
    """

    def __init__(self, arns: ArnMaker, settings: Settings, log: EventLog, seed: int | None = None) -> None:
        self.arns = arns
        self.settings = settings
        self.log = log
        self.now = 0.0
        self.timers = Timers()
        self.policies: dict[str, SchedulingPolicy] = {}
        self.environments: dict[str, ServiceEnvironment] = {}
        self.queues: dict[str, JobQueue] = {}
        self.jobs: dict[str, ServiceJob] = {}
        self.training_jobs: dict[str, tuple[ServiceJob, Attempt]] = {}
        """By name: every job that was handed to SageMaker, and the attempt it was."""
        self.tokens: dict[str, str] = {}
        """clientToken to job id."""
        self.submits: list[float] = []
        """Times of the submissions of the last second."""
        self.container_queues: Callable[[], list[dict[str, Any]]] = list
        self.scripts: tuple[Script, ...] = ()
        self.rogue: Rogue | None = None
        self._random = random.Random(seed)
        self._sequence = 0

    def next_sequence(self) -> int:
        """Return a number larger than every one before."""
        self._sequence += 1
        return self._sequence

    def new_id(self) -> str:
        """Return a new UUID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def find(self, arn: str) -> Resource | None:
        """Return the resource or job with this ARN, or None."""
        for resources in (self.environments, self.queues, self.policies):
            for resource in resources.values():
                if resource.arn == arn:
                    return resource
        for queue in self.queues.values():
            for share in queue.shares.values():
                if share.arn == arn:
                    return share
        job = self.jobs.get(arn.rpartition("/")[2])
        return job if job is not None and job.arn == arn else None

    def policy(self, arn: str) -> SchedulingPolicy:
        """Return the scheduling policy with this ARN."""
        policy = self.policies.get(arn)
        if policy is None:
            raise ClientException(f"Scheduling policy {arn} does not exist")
        return policy

    def environment(self, name_or_arn: str) -> ServiceEnvironment:
        """Return the service environment with this name or ARN."""
        for environment in self.environments.values():
            if name_or_arn in (environment.name, environment.arn):
                return environment
        raise ClientException(f"Service environment {name_or_arn} does not exist")

    def queue(self, name_or_arn: str) -> JobQueue:
        """Return the SageMaker job queue with this name or ARN."""
        for queue in self.queues.values():
            if name_or_arn in (queue.name, queue.arn):
                return queue
        if self.is_container_queue(name_or_arn):
            raise ClientException(f"Job queue {name_or_arn} is not of type SAGEMAKER_TRAINING")
        raise ClientException(f"Job queue {name_or_arn} does not exist")

    def is_container_queue(self, name_or_arn: str) -> bool:
        """Whether somebody else has a queue with this name or ARN."""
        return any(name_or_arn in (queue["jobQueueName"], queue["jobQueueArn"]) for queue in self.container_queues())

    # -- time -------------------------------------------------------------------

    def next_due(self) -> float | None:
        """Return when something will happen by itself, in seconds, or None."""
        times = [self.timers.next_due(), *(queue.scheduler.next_due() for queue in self.queues.values())]
        return min((time for time in times if time is not None), default=None)

    def run(self, now: float) -> None:
        """Let everything happen that is due by `now`, in seconds, in order of time."""
        while (due := self.next_due()) is not None and due <= now:
            self.now = max(self.now, due)
            self._run_moment()
        self.now = max(self.now, now)
        self._run_moment()

    def _run_moment(self) -> None:
        """Bring timers and schedulers to rest at this moment."""
        self.timers.fire(self.now)
        for queue in self.queues.values():
            if self.rogue is not None:
                self.rogue.act(self, queue)
                queue.heed_environment(self.rogue.pauses(queue))
            for outcome in queue.scheduler.run(self.now):
                self.log.outcomes.append(outcome)
                job_life.apply(self, self.jobs[outcome.job.id], outcome)
            if self.rogue is not None:
                self.rogue.act(self, queue)

    # -- controls for tests -------------------------------------------------------

    def script_for(self, name: str) -> Script:
        """Return what becomes of a job called `name`."""
        return script_for(self.scripts, name, self.settings.running_seconds)

    def breaks(self, rule: str, job: ServiceJob) -> bool:
        """Whether a rule is to be broken with `job`, here and now; counts as done."""
        if self.rogue is None or not self.rogue.is_at(rule):
            return False
        self.rogue.commit(job.id)
        return True

    # -- events -----------------------------------------------------------------

    def emit(self, detail_type: str, arns: list[str], detail: dict[str, Any]) -> None:
        """Record an EventBridge event of AWS Batch at this moment."""
        self.log.add(
            {
                "version": "0",
                "id": self.new_id(),
                "detail-type": detail_type,
                "source": "aws.batch",
                "account": self.arns.account,
                "time": iso_time(self.now),
                "region": self.arns.region,
                "resources": arns,
                "detail": detail,
            }
        )

    def record_call(self, name: str, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Record a call that changed something as CloudTrail would, where there is a trail."""
        if not self.settings.cloudtrail:
            return
        parameters = {key: value for key, value in request.items() if key != "serviceRequestPayload"}
        detail = {
            "eventVersion": "1.11",
            "userIdentity": {"type": "IAMUser", "accountId": self.arns.account},
            "eventTime": iso_time(self.now),
            "eventSource": "batch.amazonaws.com",
            "eventName": name,
            "awsRegion": self.arns.region,
            "sourceIPAddress": "127.0.0.1",
            "requestParameters": parameters,
            "responseElements": answer or None,
            "requestID": self.new_id(),
            "eventID": self.new_id(),
            "readOnly": False,
            "eventType": "AwsApiCall",
            "managementEvent": True,
            "recipientAccountId": self.arns.account,
            "eventCategory": "Management",
        }
        self.emit(API_CALL, [], detail)
