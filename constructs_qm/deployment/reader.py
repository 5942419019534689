"""Deployment files read, with errors that name line and column, and declared for the policy rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from constructs_qm.deployment.contradictions import contradictions_in
from constructs_qm.deployment.form import faults_of
from constructs_qm.deployment.models import Defaults, Deployment, Queue, Share
from constructs_qm.validation.declared import DeclaredQueue, DeclaredShare, Field, Keys, Source
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
    """Return every queue of a deployment for the checks, with what it inherits and where from."""
    declared = []
    for team, region, index, queue in deployment.queues():
        own = deployment.teams[team].regions[region].queues[index]
        keys = ("teams", team, "regions", region, "queues", index)
        origins = _Origins(path, deployment, team)
        whole = _declare(path, queue, keys, f"{team}/{region}/{queue.name}")
        shares = [_with_origins(*pair, origins) for pair in zip(whole.shares, own.shares, strict=True)]
        limits = whole.time_limits
        if limits is not None and own.time_limits is None:
            limits = [limit._replace(source=origins.of("queue", "time_limits")) for limit in limits]
        declared.append(replace(whole, shares=shares, time_limits=limits))
    return declared


def _with_origins(declared: DeclaredShare, own: Share, origins: _Origins) -> DeclaredShare:
    strategy, limit = declared.strategy, declared.borrow_limit
    if own.strategy is None:
        strategy = strategy._replace(source=origins.of("share", "strategy"))
    if own.borrow_limit is None:
        limit = limit._replace(source=origins.of("share", "borrow_limit"))
    return replace(declared, strategy=strategy, borrow_limit=limit)


class _Origins:
    """Where a team's queues and shares inherit a value from."""

    def __init__(self, file: Path, deployment: Deployment, team: str) -> None:
        self._file = file
        self._levels: tuple[tuple[Keys, Defaults], ...] = (
            (("teams", team, "defaults"), deployment.teams[team].defaults),
            (("defaults",), deployment.defaults),
        )

    def of(self, kind: str, name: str) -> Source | None:
        """Return the nearest defaults for a ``queue`` or ``share`` that say something."""
        for keys, defaults in self._levels:
            if getattr(getattr(defaults, kind), name) is not None:
                return Source(".".join(map(str, (*keys, kind))), self._file, (*keys, kind))
        return None


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
