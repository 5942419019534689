"""Which events an auditor takes in, as rules and as an archive, both narrowed to its queues where events allow.

Preemption events name no queue (facts.md, Events), nor do calls about a job: those of every queue of the
account and Region are taken in, and the ingest function finds the job's queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_events as events
from constructs import Construct

from constructs_qm.queue_events import PREEMPTION_COMPLETED, PREEMPTION_STARTED, QUEUE_BLOCKED, STATE_CHANGE
from preemption_auditor.api_calls import API_CALL, JOB_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AuditedEvents"]

SOURCE = "aws.batch"
POLICY_CALLS = (
    "CreateQuotaShare",
    "DeleteQuotaShare",
    "UpdateJobQueue",
    "UpdateQuotaShare",
    "UpdateServiceEnvironment",
)
"""Calls that change what is legal."""


class AuditedEvents(Construct):
    """Rules for the events of some queues, and an archive of the same events.

    Parameters
    ----------
    scope : Construct
    id : str
    target : callable
        Makes the target of a rule.
    archive_for : aws_cdk.Duration, optional
        How long the archive keeps events; None for no archive.
    removal_policy : aws_cdk.RemovalPolicy
        Of the archive.

    Attributes
    ----------
    job_rule, preemption_rule, api_call_rule : aws_events.Rule
    archive : aws_events.CfnArchive or None
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        target: Callable[[], events.IRuleTarget],
        archive_for: cdk.Duration | None,
        removal_policy: cdk.RemovalPolicy,
    ) -> None:
        super().__init__(scope, id)
        self._queue_arns: list[str] = []
        self.job_rule = self._rule("Jobs", _jobs([]), target())
        self.preemption_rule = self._rule("Preemptions", _preemptions(), target())
        self.api_call_rule = self._rule("ApiCalls", _api_calls(), target())
        self.archive: events.CfnArchive | None = None
        if archive_for is not None:
            self.archive = self._archive(archive_for)
            self.archive.apply_removal_policy(removal_policy)

    def add_queue(self, job_queue_arn: str) -> None:
        """Take in the events of one more queue."""
        self._queue_arns.append(job_queue_arn)
        self.job_rule.add_event_pattern(detail={"jobQueue": [job_queue_arn]})

    def _rule(self, id: str, pattern: dict[str, Any], target: events.IRuleTarget) -> events.Rule:
        detail = {"detail": pattern["detail"]} if "detail" in pattern else {}
        return events.Rule(
            self,
            id,
            event_pattern=events.EventPattern(source=[SOURCE], detail_type=pattern["detail-type"], **detail),
            targets=[target],
        )

    def _archive(self, retention: cdk.Duration) -> events.CfnArchive:
        return events.CfnArchive(
            self,
            "Archive",
            source_arn=cdk.Stack.of(self).format_arn(service="events", resource="event-bus", resource_name="default"),
            description="AWS Batch service job events and calls, to be audited again",
            event_pattern=cdk.Lazy.any(_Produce(self._pattern)),
            retention_days=retention.to_days(),
        )

    def _pattern(self) -> dict[str, Any]:
        return {"source": [SOURCE], "$or": [_jobs(self._queue_arns), _preemptions(), _api_calls()]}


def _jobs(queue_arns: list[str]) -> dict[str, Any]:
    return {
        "detail-type": [STATE_CHANGE, QUEUE_BLOCKED],
        **({"detail": {"jobQueue": queue_arns}} if queue_arns else {}),
    }


def _preemptions() -> dict[str, Any]:
    return {"detail-type": [PREEMPTION_STARTED, PREEMPTION_COMPLETED]}


def _api_calls() -> dict[str, Any]:
    """Only those that succeeded: a call that failed changes nothing."""
    names = sorted([*JOB_CALLS, *POLICY_CALLS])
    return {"detail-type": [API_CALL], "detail": {"eventName": names, "errorCode": [{"exists": False}]}}


@jsii.implements(cdk.IStableAnyProducer)
class _Produce:
    """What the CDK asks for a value when the template is written."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def produce(self) -> Any:
        return self._make()
