"""A deployment as CDK stages and stacks: a stage a team, a stack a Region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from constructs_qm import (
    MISCONFIGURATION_LIMITS,
    AlarmSetting,
    InsufficientInstanceCapacity,
    JobStateTimeLimit,
    PreemptionAuditor,
    QueueAlarms,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironmentMaxResource,
)
from preemption_auditor import AuditSettings

if TYPE_CHECKING:
    from constructs import Construct

    from constructs_qm.deployment.models import (
        AlarmLevel,
        Alarms,
        Auditor,
        AuditorAlarms,
        Deployment,
        Queue,
        Share,
        Submitter,
    )

__all__ = ["RegionStack", "TeamStage", "add_stages"]

_TIME_LIMITS: dict[str, type[JobStateTimeLimit]] = {
    kind.reason: kind
    for kind in (ServiceEnvironmentMaxResource, QuotaManagementLimitExceeded, InsufficientInstanceCapacity)
}
_ALARMS = ("preempted_jobs", "failed_jobs", "waiting_time", "blocked_queue")
_AUDITOR_ALARMS = ("violations", "dead_letters", "judge_errors")


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
        if declared.auditor is not None and declared.auditor.enabled is not False:
            queue_topic = None if declared.alarms is None else declared.alarms.topic
            self._add_auditor(queue, declared.auditor, declared.name, queue_topic)

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
        topic = self._topic(f"{name}-topic", alarms.topic)
        QueueAlarms(self, f"{name}-alarms", queue=queue, alarm_topic=topic, **_alarms(alarms, _ALARMS))

    def _add_auditor(self, queue: QuotaManagedQueue, auditor: Auditor, name: str, queue_topic: str | None) -> None:
        alarm_topic = queue_topic if auditor.alarms is None else auditor.alarms.topic or queue_topic
        bus = auditor.findings_bus
        PreemptionAuditor(
            self,
            f"{name}-auditor",
            queue=queue,
            settings=_audit_settings(auditor),
            alarm_topic=self._topic(f"{name}-auditor-topic", alarm_topic),
            findings_topic=self._topic(f"{name}-findings-topic", auditor.findings_topic),
            findings_bus=None if bus is None else events.EventBus.from_event_bus_arn(self, f"{name}-bus", bus),
            **_auditor_props(auditor),
        )

    def _topic(self, id: str, arn: str | None) -> sns.ITopic | None:
        return None if arn is None else sns.Topic.from_topic_arn(self, id, arn)


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


def _alarms(given: Alarms | AuditorAlarms, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that are given: None for an alarm that is off."""
    levels = {name: level for name in names if (level := getattr(given, name)) is not None}
    return {name: _alarm(level) if level else None for name, level in levels.items()}


def _audit_settings(auditor: Auditor) -> AuditSettings:
    given: dict[str, Any] = {
        "delivery": auditor.delivery,
        "decision_lag": auditor.decision_lag_seconds,
        "tolerance": auditor.tolerance_seconds,
        "lateness": auditor.lateness_seconds,
    }
    return AuditSettings(**{name: value for name, value in given.items() if value is not None})


def _auditor_props(auditor: Auditor) -> dict[str, Any]:
    """Return the props that have defaults of their own, as far as they are given."""
    props = {} if auditor.alarms is None else _alarms(auditor.alarms, _AUDITOR_ALARMS)
    if auditor.rate_minutes is not None:
        props["rate"] = cdk.Duration.minutes(auditor.rate_minutes)
    if auditor.archive_days is not None:
        props["archive"] = cdk.Duration.days(auditor.archive_days) if auditor.archive_days else None
    return props
