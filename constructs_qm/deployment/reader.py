"""Deployment files read, with errors that name line and column, and declared for the policy rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from constructs_qm.deployment.models import Deployment, Queue
from constructs_qm.validation.declared import DeclaredQueue, Field, Keys
from constructs_qm.validation.document import Document, read
from constructs_qm.validation.policy_reader import declare_policy
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["declare_deployment", "parse_deployment", "read_deployment"]

_HELP = {
    "missing": "is missing",
    "extra_forbidden": "is no key here",
    "string_type": "is not text: put it in quotation marks",
}


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
    DocumentError
        It has the wrong form; the message names file, line and column of the first error.
    """
    return parse_deployment(read(path))


def parse_deployment(document: Document) -> Deployment:
    """Make a deployment of a document; raises DocumentError as :func:`read_deployment`."""
    try:
        return Deployment.model_validate(document.data)
    except ValidationError as error:
        first, *more = error.errors(include_url=False)
        keys: Keys = first["loc"]
        place = document.place(keys)
        where = ":".join(str(part) for part in (document.path, *(place or ())))
        what = _HELP.get(first["type"], first["msg"].removeprefix("Value error, "))
        count = f" (and {len(more)} more)" if more else ""
        raise DocumentError(f"{where}: {'.'.join(map(str, keys)) or 'deployment'}: {what}{count}") from None


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
