"""A deployment as CDK stages and stacks: a stage a team, a stack a Region."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from constructs_qm import (
    MISCONFIGURATION_LIMITS,
    AlarmSetting,
    InsufficientInstanceCapacity,
    JobStateTimeLimit,
    QueueAlarms,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironmentMaxResource,
)
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from constructs import Construct

    from constructs_qm.deployment.models import AlarmLevel, Alarms, Deployment, Queue, Share, Submitter

__all__ = ["RegionStack", "TeamStage", "add_stages"]

_TIME_LIMITS: dict[str, type[JobStateTimeLimit]] = {
    kind.reason: kind
    for kind in (ServiceEnvironmentMaxResource, QuotaManagementLimitExceeded, InsufficientInstanceCapacity)
}
_ALARMS = ("preempted_jobs", "failed_jobs", "waiting_time", "blocked_queue")


def add_stages(app: cdk.App, deployment: Deployment) -> list[TeamStage]:
    """Add a stage for each team; ``cdk deploy 'TEAM/*'`` deploys one.

    Parameters
    ----------
    app : aws_cdk.App
    deployment : Deployment

    Raises
    ------
    PolicyError
        A value that is never legal; see :mod:`constructs_qm.validation.checks` for all findings with their lines.
    """
    return [TeamStage(app, team, deployment=deployment) for team in deployment.teams]


class TeamStage(cdk.Stage):
    """All stacks of one team's account, for ``cdk deploy`` or a pipeline.

    Parameters
    ----------
    scope : Construct
    id : str
        The team.
    deployment : Deployment
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, id, env=cdk.Environment(account=deployment.teams[id].account))
        queues: dict[str, list[Queue]] = {region: [] for region in deployment.teams[id].regions}
        for team, region, _, queue in deployment.queues():
            if team == id:
                queues[region].append(queue)
        for region, declared in queues.items():
            RegionStack(self, region, queues=declared)


class RegionStack(cdk.Stack):
    """The queues of one account and Region.

    Parameters
    ----------
    scope : Construct
        A stage with the account.
    id : str
        The Region.
    queues : list of Queue
        With what they inherit.
    """

    def __init__(self, scope: Construct, id: str, *, queues: list[Queue]) -> None:
        super().__init__(
            scope, id, env=cdk.Environment(region=id), description="AWS Batch quota management: queues of a team"
        )
        for queue in queues:
            self._add_queue(queue)

    def _add_queue(self, declared: Queue) -> None:
        queue = QuotaManagedQueue(
            self,
            declared.name,
            job_queue_name=declared.name,
            capacity=declared.environment,
            priority=1 if declared.priority is None else declared.priority,
            enabled=declared.state != "DISABLED",
            time_limits=_time_limits(declared),
        )
        for share in declared.shares:
            made = _add_share(queue, share)
            for number, submitter in enumerate(share.submitters):
                self._admit(made, submitter, f"{declared.name}-{share.name}-{number}")
        if declared.alarms is not None:
            self._add_alarms(queue, declared.alarms, declared.name)
        if declared.auditor is not None and declared.auditor.enabled:
            _add_auditor(queue)

    def _admit(self, share: QuotaShare, submitter: Submitter, id: str) -> None:
        role = iam.Role.from_role_arn(self, f"{id}-submitter", submitter.role)
        training = submitter.training_role
        share.grant_submit(
            role,
            max_priority=submitter.max_priority,
            training_role=None if training is None else iam.Role.from_role_arn(self, f"{id}-training", training),
            job_tags=submitter.job_tags,
        )
        share.grant_read(role)
        if submitter.job_tags:
            share.grant_reprioritize(role, job_tags=submitter.job_tags, max_priority=submitter.max_priority)
            share.grant_terminate(role, job_tags=submitter.job_tags)

    def _add_alarms(self, queue: QuotaManagedQueue, alarms: Alarms, name: str) -> None:
        given = {key: value for key in _ALARMS if (value := getattr(alarms, key)) is not None}
        topic = None if alarms.topic is None else sns.Topic.from_topic_arn(self, f"{name}-topic", alarms.topic)
        settings = {key: _alarm(level) if level else None for key, level in given.items()}
        QueueAlarms(self, f"{name}-alarms", queue=queue, alarm_topic=topic, **settings)


def _time_limits(declared: Queue) -> tuple[JobStateTimeLimit, ...]:
    if declared.time_limits is None:
        return MISCONFIGURATION_LIMITS
    return tuple(_TIME_LIMITS[reason](cdk.Duration.seconds(s)) for reason, s in declared.time_limits.items())


def _add_share(queue: QuotaManagedQueue, share: Share) -> QuotaShare:
    return queue.add_quota_share(
        share.name,
        capacity=share.limits,
        sharing=ResourceSharing(share.strategy, share.borrow_limit),  # type: ignore[arg-type]  # checks it itself
        in_share_preemption=bool(share.in_share_preemption),
        enabled=share.state != "DISABLED",
    )


def _alarm(level: AlarmLevel) -> AlarmSetting:
    return AlarmSetting(level.threshold, cdk.Duration.seconds(level.period_seconds), level.periods)


def _add_auditor(queue: QuotaManagedQueue) -> None:
    import constructs_qm

    auditor = getattr(constructs_qm, "PreemptionAuditor", None)
    if auditor is None:
        raise DocumentError(f"{queue.node.path}: auditor: this version has none to deploy: leave it out")
    auditor(queue, "Auditor", queue=queue)
