"""ARNs of quota management resources, read and written (facts.md, ARNs)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import aws_cdk as cdk

from constructs_qm.exceptions import PropError
from constructs_qm.tokens import is_token

if TYPE_CHECKING:
    from constructs import Construct

    from constructs_qm.props import Props

__all__ = ["arn_of", "name_at", "require_arn", "service_jobs_of"]

_NAME = "[A-Za-z0-9_-]{1,128}"


def arn_of(scope: Construct, resource: str, name: str) -> str:
    """Return the ARN of a Batch resource in the account and Region of `scope`."""
    return cdk.Stack.of(scope).format_arn(service="batch", resource=resource, resource_name=name)


def service_jobs_of(resource: cdk.Resource) -> str:
    """Return the ARN of every service job in the account and Region of `resource`; they name no queue."""
    return cdk.Stack.of(resource).format_arn(
        service="batch",
        resource="service-job",
        resource_name="*",
        account=resource.env.account,
        region=resource.env.region,
    )


def require_arn(props: Props, arn: object, shape: str) -> None:
    """Raise PropError unless `arn` is a token or has `shape`, e.g. ``job-queue/NAME``."""
    if is_token(arn):
        return
    resource = re.escape(shape).replace("NAME", _NAME)
    if not isinstance(arn, str) or not re.fullmatch(rf"arn:[^:]+:batch:[^:]*:[^:]*:{resource}", arn):
        raise PropError(
            f"{props.path}: {arn!r} is not the ARN wanted here: give arn:PARTITION:batch:REGION:ACCOUNT:{shape}"
        )


def name_at(arn: str, segment: int) -> str:
    """Return the part of `arn` after its `segment`-th slash; a token for a token."""
    return cdk.Fn.select(segment, cdk.Fn.split("/", arn))
