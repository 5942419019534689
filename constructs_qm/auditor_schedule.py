"""When an auditor judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler

if TYPE_CHECKING:
    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct

__all__ = ["make_schedule"]


def make_schedule(
    scope: Construct, function: lambda_.IFunction, minutes: int
) -> tuple[scheduler.CfnSchedule, iam.Role]:
    """Make a schedule of EventBridge Scheduler, and its role, which may call this function alone.

    The L2 schedule would let it call every version of the function.
    """
    account = {"StringEquals": {"aws:SourceAccount": cdk.Stack.of(scope).account}}
    call = iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function_arn])
    role = iam.Role(
        scope,
        "ScheduleRole",
        assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=account),
        inline_policies={"Judge": iam.PolicyDocument(statements=[call])},
    )
    target = scheduler.CfnSchedule.TargetProperty(arn=function.function_arn, role_arn=role.role_arn)
    schedule = scheduler.CfnSchedule(
        scope,
        "Schedule",
        description="runs the judge of a preemption auditor",
        flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
        schedule_expression=f"rate({minutes} minute{'s' if minutes > 1 else ''})",
        target=target,
    )
    return schedule, role
