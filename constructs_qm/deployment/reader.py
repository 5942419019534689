"""Deployment files read, with errors that name line and column, and declared for the policy rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from constructs_qm.deployment.contradictions import contradictions_in
from constructs_qm.deployment.form import faults_of
from constructs_qm.deployment.models import Deployment, Queue
from constructs_qm.validation.declared import DeclaredQueue, Field, Keys
from constructs_qm.validation.document import Document, read
from constructs_qm.validation.policy_reader import declare_policy

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["declare_deployment", "parse_deployment", "read_deployment"]


def read_deployment(path: Path) -> Deployment:
    """Read a deployment file.

    Parameters
    ----------
    path : Path
        YAML or JSON.

    Returns
    -------
    Deployment

    Raises
    ------
    FormError
        It has the wrong form: all faults, each with line, column and rule.
    DocumentError
        It can't be read.
    """
    return parse_deployment(read(path))


def parse_deployment(document: Document) -> Deployment:
    """Make a deployment of a document; raises FormError as :func:`read_deployment`."""
    try:
        deployment = Deployment.model_validate(document.data)
    except ValidationError as error:
        raise document.error(faults_of(document.data, error.errors(include_url=False))) from None
    faults = [*contradictions_in(deployment)]
    if faults:
        raise document.error(faults)
    return deployment


def declare_deployment(path: Path, deployment: Deployment) -> list[DeclaredQueue]:
    """Return every queue of a deployment for the checks, with what it inherits."""
    return [
        _declare(path, queue, ("teams", team, "regions", region, "queues", index), f"{team}/{region}/{queue.name}")
        for team, region, index, queue in deployment.queues()
    ]


def _declare(file: Path, queue: Queue, keys: Keys, path: str) -> DeclaredQueue:
    policy = queue.model_dump(by_alias=True, include={"environment", "shares"})
    declared = declare_policy(file, policy, keys, path)
    limits = queue.time_limits
    return replace(
        declared,
        name=Field(queue.name, ("name",)),
        priority=Field(1 if queue.priority is None else queue.priority, ("priority",)),
        time_limits=None if limits is None else [_time_limit(reason, limits[reason]) for reason in limits],
        time_limits_keys=("timeLimits",),
    )


def _time_limit(reason: str, seconds: int) -> Field:
    value = {"Reason": reason, "MaxTimeSeconds": seconds, "Action": "TERMINATE", "State": "RUNNABLE"}
    return Field(value, ("timeLimits", reason))
