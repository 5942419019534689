"""The preemption auditor, deployed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources

from constructs_qm.auditor_alarms import AuditorAlarms
from constructs_qm.auditor_checks import (
    HasQueue,
    require_audited_queue,
    require_region,
    require_whole_days,
    whole_minutes,
)
from constructs_qm.auditor_events import AuditedEvents
from constructs_qm.auditor_functions import FunctionCode, allow_ingest, allow_judge, make_function
from constructs_qm.auditor_metrics import AuditorMetrics
from constructs_qm.auditor_schedule import make_schedule
from constructs_qm.auditor_storage import make_dead_letter_queue, make_events_queue, make_table
from constructs_qm.declared_policies import DeclaredPolicies
from constructs_qm.exceptions import PropError
from constructs_qm.grants import Permission, grant
from constructs_qm.props import Props
from constructs_qm.queue_alarms import AlarmSetting, require_alarm_setting
from constructs_qm.tokens import is_token
from preemption_auditor import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sns as sns
    from constructs import Construct

    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["PreemptionAuditor"]

INGEST_TIMEOUT = cdk.Duration.seconds(60)
JUDGE_TIMEOUT = cdk.Duration.minutes(15)
"""As long as a judge holds its lease on a queue: a run that takes longer is over."""
ONCE = AlarmSetting(1)
YEAR = cdk.Duration.days(365)
RULE_ACTIONS = ("PutRule", "DeleteRule", "DescribeRule", "DisableRule", "EnableRule", "PutTargets", "RemoveTargets")


class PreemptionAuditor(AuditorMetrics):
    """Audits what becomes of the quota policy of one or several queues, and says what broke it.

    Events of EventBridge go through a queue to a function that stores them; another one judges them on a
    schedule. Findings become metrics, alarms, events on a bus and messages to a topic. Storing the same event
    again changes nothing, since it is stored by what identifies it; that is why no other idempotency is needed.

    An account may have several auditors. They see preemptions of each other's queues, and leave them alone.

    Parameters
    ----------
    scope : Construct
    id : str
    queue : TrainingJobQueueBase, optional
        Made here or imported, of this account and Region.
    queues : sequence of TrainingJobQueueBase
        More of them; even more with :meth:`add_queue`.
    settings : preemption_auditor.AuditSettings, optional
        Delivery, decision lag, tolerance and lateness.
    rate : aws_cdk.Duration, optional
        How often the judge runs, in whole minutes from 1; 5 by default.
    declared_policies : bool
        Whether the policies in force are held against those of this app (QM-A15).
    alarm_topic : aws_sns.ITopic, optional
        Told when an alarm rings and when it is over.
    violations, dead_letters, judge_errors : AlarmSetting, optional
        When alarms ring: violations found, events that couldn't be stored, failed runs of the judge; 1 in 5
        minutes by default, None for no alarm.
    findings_topic : aws_sns.ITopic, optional
        Gets every violation as a message.
    findings_bus : aws_events.IEventBus, optional
        Gets every finding as an event: of this Region, perhaps of another account, whose policy then has to
        allow this one. One is made by default.
    archive : aws_cdk.Duration, optional
        How long EventBridge keeps the events, so that they can be audited again; a year by default, None for no
        archive. Whole days.
    encryption_key : aws_kms.IKey, optional
        For table and queues; keys of AWS by default.
    removal_policy : aws_cdk.RemovalPolicy
        What becomes of table and archive when they leave the stack; they are retained by default.
    powertools_layer : aws_lambda.ILayerVersion, optional
        A layer with Powertools for AWS Lambda (Python) 3 with its tracer, for Python 3.14 and arm64; AWS's public one
        by default.
    bundle_powertools : bool
        Whether pip puts Powertools into the code at synthesis instead. Needs pip and a package index.
    judge_memory_size : int
        MB of the judge; 1,024 do for tens of thousands of waiting jobs.

    Raises
    ------
    PropError
        A prop of the wrong type, a queue twice, from elsewhere, or none, a rate that isn't whole minutes, or
        both `powertools_layer` and `bundle_powertools`.

    Attributes
    ----------
    queues : list of TrainingJobQueueBase
    table : aws_dynamodb.TableV2
        Events, state and findings.
    source : AuditedEvents
        Rules and archive.
    events_queue, dead_letter_queue : aws_sqs.Queue
    ingest_function, judge_function : aws_lambda.Function
    schedule : aws_scheduler.CfnSchedule
    schedule_role : aws_iam.Role
    findings_bus : aws_events.IEventBus
        Made here or given.
    alarms : dict of str to aws_cloudwatch.Alarm
        ``dead_letters``, ``judge_errors`` and ``violations/PATH`` for each queue's path, as far as they are on.

    Examples
    --------
    >>> auditor = PreemptionAuditor(stack, "Auditor", queue=queue, alarm_topic=topic)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        queue: TrainingJobQueueBase | None = None,
        queues: Sequence[TrainingJobQueueBase] = (),
        settings: AuditSettings | None = None,
        rate: cdk.Duration | None = None,
        declared_policies: bool = True,
        alarm_topic: sns.ITopic | None = None,
        violations: AlarmSetting | None = ONCE,
        dead_letters: AlarmSetting | None = ONCE,
        judge_errors: AlarmSetting | None = ONCE,
        findings_topic: sns.ITopic | None = None,
        findings_bus: events.IEventBus | None = None,
        archive: cdk.Duration | None = YEAR,
        encryption_key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN,
        powertools_layer: lambda_.ILayerVersion | None = None,
        bundle_powertools: bool = False,
        judge_memory_size: float = 1024,
    ) -> None:
        props = Props(scope, id)
        settings = AuditSettings() if settings is None else settings
        props.require("settings", settings, AuditSettings, "an AuditSettings or None")
        props.flag("declared_policies", declared_policies)
        props.flag("bundle_powertools", bundle_powertools)
        props.require("removal_policy", removal_policy, cdk.RemovalPolicy, "an aws_cdk.RemovalPolicy")
        if findings_bus is not None:
            require_region(props, cdk.Stack.of(scope), findings_bus)
        minutes = whole_minutes(props, cdk.Duration.minutes(5) if rate is None else rate)
        if archive is not None:
            require_whole_days(props, archive)
        for name, setting in (
            ("violations", violations),
            ("dead_letters", dead_letters),
            ("judge_errors", judge_errors),
        ):
            require_alarm_setting(props.path, name, setting)
        if bundle_powertools and powertools_layer is not None:
            raise PropError(f"{props.path}: both powertools_layer and bundle_powertools given: give one")
        super().__init__(scope, id)
        self.queues: list[TrainingJobQueueBase] = []
        self.table = make_table(self, encryption_key, removal_policy)
        self.dead_letter_queue = make_dead_letter_queue(self, encryption_key)
        self.events_queue = make_events_queue(self, encryption_key, self.dead_letter_queue, INGEST_TIMEOUT)
        self.source = AuditedEvents(
            self,
            "Source",
            target=lambda: targets.SqsQueue(self.events_queue, dead_letter_queue=self.dead_letter_queue),
            archive_for=archive,
            removal_policy=removal_policy,
        )
        self.findings_bus: events.IEventBus = findings_bus or events.EventBus(self, "Findings")
        self._owns_bus = findings_bus is None
        self._key = encryption_key
        code = FunctionCode(self, powertools_layer, bundle_powertools)
        self.ingest_function = self._make_ingest(code)
        self.judge_function = self._make_judge(code, judge_memory_size, settings, findings_topic)
        if encryption_key is not None:
            for function in (self.ingest_function, self.judge_function):
                encryption_key.grant_encrypt_decrypt(function)
        if declared_policies:
            self._declare_policies()
        self.schedule, self.schedule_role = make_schedule(self, self.judge_function, minutes)
        self._alarms = AuditorAlarms(self, "Alarms", topic=alarm_topic, violations=violations)
        self._alarms.watch_dead_letters(self.dead_letter_queue, dead_letters)
        self._alarms.watch_judge(self.judge_function, judge_errors)
        for audited in (*(() if queue is None else (queue,)), *queues):
            self.add_queue(audited)
        self.node.add_validation(HasQueue(self.queues))

    @property
    def alarms(self) -> Mapping[str, cloudwatch.Alarm]:
        """Alarms that are on."""
        return self._alarms.alarms

    def add_queue(self, queue: TrainingJobQueueBase) -> None:
        """Audit one more queue.

        Raises
        ------
        PropError
            It isn't a queue of this account and Region, or is audited already.
        """
        require_audited_queue(self, self.queues, queue)
        self.queues.append(queue)
        self.source.add_queue(queue.job_queue_arn)
        names = [audited.job_queue_name for audited in self.queues]
        self.judge_function.add_environment("AUDITOR_QUEUES", cdk.Stack.of(self).to_json_string(names))
        grant(self.judge_function, Permission(["batch:ListQuotaShares"], [queue.job_queue_arn]))
        self._alarms.watch_queue(queue)

    def grant_read_findings(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let `grantee` read findings and coverage in the table, as ``batch-quota audit --queue`` does."""
        findings = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["FINDINGS#*", "QUEUES", "STATE#*"]}}
        reads = ["dynamodb:GetItem", "dynamodb:Query"]
        given = grant(grantee, Permission(reads, [self.table.table_arn], findings))
        return given if self._key is None else given.combine(self._key.grant_decrypt(grantee))

    def grant_subscribe(self, account: str) -> None:
        """Let another account make rules for the findings on the bus made here, and delete its own.

        Raises
        ------
        PropError
            Not an account, or the bus was given: then its owner decides.
        """
        if not self._owns_bus:
            raise PropError(f"{self.node.path}: findings_bus was given: only its owner can let accounts subscribe")
        if not is_token(account) and not re.fullmatch(r"\d{12}", account):
            raise PropError(f"{self.node.path}: {account!r} is no account: give its 12 digits")
        name = self.findings_bus.event_bus_name
        rules = cdk.Stack.of(self).format_arn(service="events", resource="rule", resource_name=f"{name}/*")
        statement = iam.PolicyStatement(
            principals=[iam.AccountPrincipal(account)],
            actions=[f"events:{action}" for action in RULE_ACTIONS],
            resources=[rules],
            conditions={"StringEqualsIfExists": {"events:creatorAccount": "${aws:PrincipalAccount}"}},
        )
        id = f"Subscriber{account}"
        events.CfnEventBusPolicy(
            self, id, event_bus_name=name, statement_id=id, statement=statement.to_statement_json()
        )

    def _make_ingest(self, code: FunctionCode) -> lambda_.Function:
        function = make_function(
            self,
            "Ingest",
            code,
            handler="preemption_auditor.handlers.ingest.handler",
            description="preemption auditor: stores events",
            timeout=INGEST_TIMEOUT,
            memory_size=256,
            environment={"AUDITOR_TABLE": self.table.table_name},
        )
        allow_ingest(function, self.table)
        source = sources.SqsEventSource(self.events_queue, batch_size=10, report_batch_item_failures=True)
        function.add_event_source(source)
        return function

    def _make_judge(
        self, code: FunctionCode, memory_size: float, settings: AuditSettings, topic: sns.ITopic | None
    ) -> lambda_.Function:
        function = make_function(
            self,
            "Judge",
            code,
            handler="preemption_auditor.handlers.judge.handler",
            description="preemption auditor: judges events and publishes findings",
            timeout=JUDGE_TIMEOUT,
            memory_size=memory_size,
            environment={
                "AUDITOR_TABLE": self.table.table_name,
                "AUDITOR_BUS": self.findings_bus.event_bus_arn,
                "AUDITOR_DELIVERY": settings.delivery.value,
                "AUDITOR_DECISION_LAG": f"{settings.decision_lag:g}",
                "AUDITOR_TOLERANCE": f"{settings.tolerance:g}",
                "AUDITOR_LATENESS": f"{settings.lateness:g}",
                **({} if topic is None else {"AUDITOR_TOPIC": topic.topic_arn}),
            },
        )
        allow_judge(function, self.table)
        self.findings_bus.grant_put_events_to(function)
        if topic is not None:
            topic.grant_publish(function)
        return function

    def _declare_policies(self) -> None:
        policies = DeclaredPolicies(self, self.queues)
        self.judge_function.add_environment("AUDITOR_POLICIES", cdk.Lazy.string(policies))
        self.node.add_validation(policies)
