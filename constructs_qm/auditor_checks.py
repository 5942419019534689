"""Checks of an auditor's props that no rule of the policy is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from constructs import IValidation

from constructs_qm.exceptions import PropError
from constructs_qm.tokens import is_token
from constructs_qm.training_job_queue import TrainingJobQueueBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_events as events
    from constructs import Construct

    from constructs_qm.props import Props

__all__ = ["HasQueue", "require_audited_queue", "require_region", "require_whole_days", "whole_minutes"]


@jsii.implements(IValidation)
class HasQueue:
    """What the construct tree calls to see that there is something to audit."""

    def __init__(self, queues: Sequence[TrainingJobQueueBase]) -> None:
        self._queues = queues

    def validate(self) -> list[str]:
        """Return an error where there is no queue."""
        return [] if self._queues else ["no queue to audit: give queue, or call add_queue"]


def require_audited_queue(auditor: Construct, audited: Sequence[TrainingJobQueueBase], queue: object) -> None:
    """Raise PropError unless `queue` is a queue of the auditor's account and Region that isn't audited yet."""
    path = f"{auditor.node.path}.queue"
    if not isinstance(queue, TrainingJobQueueBase):
        raise PropError(
            f"{path}: {queue!r} is not a job queue: "
            "give one, or import it with TrainingJobQueue.from_training_job_queue_arn"
        )
    if any(queue.job_queue_arn == other.job_queue_arn for other in audited):
        raise PropError(f"{path}: {queue.node.path} is given twice: give it once")
    own = cdk.Stack.of(auditor)
    for what, theirs, ours in (
        ("account", queue.env.account, own.account),
        ("Region", queue.env.region, own.region),
    ):
        if not is_token(theirs) and not is_token(ours) and theirs != ours:
            raise PropError(
                f"{path}: {queue.node.path} is of {what} {theirs}, whose events don't come to {ours}: "
                f"put an auditor into a stack of {what} {theirs}"
            )


def whole_minutes(props: Props, rate: object) -> int:
    """Return a rate in minutes, as schedules have it."""
    props.require("rate", rate, cdk.Duration, "an aws_cdk.Duration such as Duration.minutes(5)")
    assert isinstance(rate, cdk.Duration)
    minutes = rate.to_minutes(integral=False)
    if minutes < 1 or minutes != int(minutes):
        raise PropError(f"{props.path}.rate: {minutes:g} minutes is not allowed: give whole minutes from 1")
    return int(minutes)


def require_whole_days(props: Props, archive: object) -> None:
    """Raise PropError for a retention that EventBridge can't have."""
    props.require("archive", archive, cdk.Duration, "an aws_cdk.Duration such as Duration.days(365), or None")
    assert isinstance(archive, cdk.Duration)
    days = archive.to_days(integral=False)
    if days < 1 or days != int(days):
        raise PropError(f"{props.path}.archive: {days:g} days is not allowed: give whole days from 1")


def require_region(props: Props, stack: cdk.Stack, bus: events.IEventBus) -> None:
    """Raise PropError for a bus of another Region: PutEvents doesn't reach there."""
    region = bus.env.region
    if not is_token(region) and not is_token(stack.region) and region != stack.region:
        raise PropError(
            f"{props.path}.findings_bus: a bus of {region} can't take events from {stack.region}: "
            "give one of this Region, and a rule there that sends them on"
        )
