"""Queues as they are declared, whoever declares them: values that may be wrong, missing or unknown.

A template, a policy file, a deployment file and a deployed queue are all read into these, so that one set of
checks serves them. Text with ``⟦`` in it stands for what is known only at deployment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from quota_scheduler import PolicyError, QuotaShare, ResourceSharing
from quota_scheduler.iam_matching import UNKNOWN
from quota_scheduler.queue_rules import QUEUE_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "Declarations",
    "Declared",
    "DeclaredEnvironment",
    "DeclaredPolicy",
    "DeclaredQueue",
    "DeclaredShare",
    "Field",
    "Keys",
    "Limits",
    "Principal",
    "Source",
    "is_known",
]

Keys = tuple[str | int, ...]
"""Where a value is in a document: keys and indices, outermost first."""


@dataclass(frozen=True)
class Source:
    """Where something is declared.

    Attributes
    ----------
    path : str
        Construct path, logical id or place in a document, as a reader would call it.
    file : Path, optional
        Template or document it stands in.
    keys : tuple of str or int
        Where it stands there.
    logical_id : str
        Of a template's resource.
    program : str
        ``FILE:LINE`` of the program that made it, where that was recorded.
    """

    path: str
    file: Path | None = None
    keys: Keys = ()
    logical_id: str = ""
    program: str = ""


class Field(NamedTuple):
    """A value, and where it stands below its source: that of what has it, or of what it is inherited from."""

    value: Any
    keys: Keys
    source: Source | None = None


class Limits(NamedTuple):
    """Capacity limits: pairs of unit and instances, or whatever was given instead."""

    pairs: Any
    keys: Keys
    unit_keys: Mapping[str, Keys]


_OF_TRAINING, _OF_PRIORITY_1 = Field(QUEUE_TYPE, ()), Field(1, ())


@dataclass(frozen=True)
class Declared:
    """What every declared thing has.

    Attributes
    ----------
    source : Source
    name : Field
        None as value where CloudFormation makes one up.
    """

    source: Source
    name: Field


@dataclass(frozen=True)
class DeclaredShare(Declared):
    """A quota share."""

    limits: Limits
    strategy: Field
    borrow_limit: Field
    in_share_preemption: Field
    state: Field

    def policy(self) -> QuotaShare | None:
        """Return the policy model's value; None where a value is unknown or not legal."""
        values = (self.name.value, self.limits.pairs, self.strategy.value, self.borrow_limit.value)
        if not all(map(is_known, values)):
            return None
        try:
            sharing = ResourceSharing(self.strategy.value, self.borrow_limit.value)
            enabled = self.state.value in ("ENABLED", None)
            in_share = self.in_share_preemption.value in ("ENABLED", True)
            return QuotaShare(self.name.value, dict(self.limits.pairs), sharing, in_share, enabled)
        except (PolicyError, TypeError, ValueError):
            return None

    def outline(self) -> QuotaShare | None:
        """Return a share with the same name and limits, for rules that ask for no more; None if those are unknown."""
        if not is_known(self.name.value) or not is_known(self.limits.pairs):
            return None
        try:
            return QuotaShare(self.name.value, dict(self.limits.pairs))
        except (PolicyError, TypeError, ValueError):
            return None


@dataclass(frozen=True)
class DeclaredEnvironment(Declared):
    """A service environment."""

    limits: Limits

    def capacity(self) -> dict[str, int] | None:
        """Return its capacity; None where it is unknown or no map of unit to instances."""
        try:
            return dict(self.limits.pairs) if is_known(self.limits.pairs) else None
        except (TypeError, ValueError):
            return None


@dataclass(frozen=True)
class DeclaredPolicy(Declared):
    """A scheduling policy."""

    quota_share_policy: Field


@dataclass(frozen=True)
class DeclaredQueue(Declared):
    """A job queue with what belongs to it.

    Attributes
    ----------
    queue_type, priority : Field
    time_limits : list of Field, optional
        Each a map with ``Reason``, ``MaxTimeSeconds``, ``Action`` and ``State``; None where the form of the
        declaration has no place for them.
    time_limits_keys : tuple of str or int
        Where they stand.
    policy : DeclaredPolicy, optional
        None where it is declared elsewhere; `has_policy` tells whether there is one at all.
    environment : DeclaredEnvironment, optional
        None where it is declared elsewhere.
    shares : list of DeclaredShare
    owned : bool
        False for a queue that is declared elsewhere and only has shares here.
    """

    queue_type: Field = _OF_TRAINING
    priority: Field = _OF_PRIORITY_1
    time_limits: list[Field] | None = field(default_factory=list)
    time_limits_keys: Keys = ()
    policy: DeclaredPolicy | None = None
    has_policy: bool = True
    environment: DeclaredEnvironment | None = None
    shares: list[DeclaredShare] = field(default_factory=list)
    owned: bool = True


def is_known(value: Any) -> bool:
    """Tell whether nothing in a value is known only at deployment."""
    if isinstance(value, str):
        return UNKNOWN not in value
    if isinstance(value, dict):
        return all(is_known(part) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple)):
        return all(map(is_known, value))
    return True


@dataclass(frozen=True)
class Principal:
    """Who may do what: all statements of one IAM principal.

    Attributes
    ----------
    statements : list of (Source, Field)
        Each statement's place and document.
    """

    statements: list[tuple[Source, Field]]


@dataclass(frozen=True)
class Declarations:
    """Everything about quota management that one app, template or file declares.

    Attributes
    ----------
    queues : list of DeclaredQueue
    environments : list of DeclaredEnvironment
        Those without a queue here.
    principals : list of Principal
    share_arns : list of str
        Of all quota shares, as far as they are known.
    """

    queues: list[DeclaredQueue] = field(default_factory=list)
    environments: list[DeclaredEnvironment] = field(default_factory=list)
    principals: list[Principal] = field(default_factory=list)
    share_arns: list[str] = field(default_factory=list)
