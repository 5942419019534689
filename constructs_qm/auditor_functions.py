"""The auditor's two Lambda functions, each with a role of its own that names every action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs

from constructs_qm.acknowledgments import acknowledge
from constructs_qm.grants import Permission, grant
from constructs_qm.lambda_asset import ARCHITECTURE, RUNTIME, lambda_code
from constructs_qm.powertools_layer import powertools_layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_dynamodb as dynamodb
    from constructs import Construct

__all__ = ["FunctionCode", "allow_ingest", "allow_judge", "make_function"]


class FunctionCode:
    """What both functions run: one asset, and Powertools beside it or in it.

    Parameters
    ----------
    scope : Construct
    layer : aws_lambda.ILayerVersion, optional
        With Powertools; its public layer by default.
    bundle : bool
        Whether Powertools is installed into the asset instead.
    """

    def __init__(self, scope: Construct, layer: lambda_.ILayerVersion | None, bundle: bool) -> None:
        self.code = lambda_code(bundle_powertools=bundle)
        self.layers = [] if bundle else [layer or powertools_layer(scope, "Powertools")]


def make_function(
    scope: Construct,
    id: str,
    code: FunctionCode,
    *,
    handler: str,
    description: str,
    timeout: cdk.Duration,
    memory_size: float,
    environment: Mapping[str, str],
) -> lambda_.Function:
    """Make a function that may write its own log and its traces, and nothing else yet."""
    log_group = logs.LogGroup(
        scope, f"{id}Log", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=cdk.RemovalPolicy.DESTROY
    )
    role = iam.Role(scope, f"{id}Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    log_group.grant_write(role)
    return lambda_.Function(
        scope,
        id,
        code=code.code,
        layers=code.layers,
        handler=handler,
        description=description,
        runtime=RUNTIME,
        architecture=ARCHITECTURE,
        timeout=timeout,
        memory_size=memory_size,
        environment=dict(environment),
        log_group=log_group,
        role=role,
        tracing=lambda_.Tracing.ACTIVE,
    )


def allow_ingest(function: lambda_.Function, table: dynamodb.TableV2) -> None:
    """Let the ingest function store events, and find a job's queue."""
    table.grant(function, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:Query")
    _explain_wildcard(function, "X-Ray takes no resource")
    acknowledge(function, "Serverless-LambdaDLQ", "it is called by its queue, which has a dead-letter queue")
    acknowledge(
        function, "Serverless-LambdaEventSourceMappingDestination", "its queue's dead-letter queue takes what fails"
    )


def allow_judge(function: lambda_.Function, table: dynamodb.TableV2) -> None:
    """Let the judge read events, keep its state and findings, and look up jobs and policies.

    Describing queues, environments and service jobs takes no resource (facts.md, IAM); listing the shares of
    a queue does, and is allowed for each by itself.
    """
    table.grant(function, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query")
    reads = ["batch:DescribeJobQueues", "batch:DescribeServiceEnvironments", "batch:DescribeServiceJob"]
    grant(function, Permission(reads, ["*"]))
    _explain_wildcard(function, "X-Ray, and describing queues, environments and service jobs, take no resource")
    acknowledge(function, "Serverless-LambdaDLQ", "the next run does what a failed one left, and an alarm tells of it")


def _explain_wildcard(function: lambda_.Function, reason: str) -> None:
    assert function.role is not None
    acknowledge(function.role, "AwsSolutions-IAM5[Resource::*]", reason)
