"""CloudFormation templates read into declared queues: typed constructs, L1 resources and foreign templates alike."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import (
    Declarations,
    DeclaredEnvironment,
    DeclaredPolicy,
    DeclaredQueue,
    DeclaredShare,
    Field,
    Limits,
    is_known,
)
from constructs_qm.validation.iam_reader import read_principals
from constructs_qm.validation.intrinsics import Resolver, Stack
from quota_scheduler.iam_matching import matches_arn
from quota_scheduler.queue_rules import QUEUE_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["read_templates"]


def read_templates(stacks: list[Stack]) -> Declarations:
    """Read all that some stacks declare about quota management.

    Parameters
    ----------
    stacks : list of Stack
        Nested ones included.

    Returns
    -------
    Declarations
        Each share is with its queue, whichever stack that is in.
    """
    return _Reader(stacks).read()


class _Resource:
    """A resource with its properties evaluated."""

    def __init__(self, stack: Stack, logical_id: str, resolver: Resolver) -> None:
        given = stack.resources[logical_id].get("Properties")
        self.stack = stack
        self.arn = resolver.arn(stack, logical_id)
        self.properties: dict[str, Any] = resolver.resolve(stack, given) if isinstance(given, dict) else {}
        self.source = stack.source(logical_id)

    def field(self, *keys: str) -> Field:
        """Return a property, None as value where it isn't given."""
        value: Any = self.properties
        for key in keys:
            if not isinstance(value, dict):
                break
            value = value.get(key)
        return Field(value, keys)

    def limits(self) -> Limits:
        """Return ``CapacityLimits``."""
        given = self.properties.get("CapacityLimits", [])
        if not isinstance(given, list):
            return Limits(given, ("CapacityLimits",), {})
        pairs, keys = [], {}
        for index, entry in enumerate(given):
            limit = entry if isinstance(entry, dict) else {}
            unit, count = limit.get("CapacityUnit"), _number(limit.get("MaxCapacity"))
            pairs.append((unit, count) if is_known(entry) or limit else (entry, entry))
            keys[str(unit)] = ("CapacityLimits", index, "MaxCapacity")
        return Limits(pairs, ("CapacityLimits",), keys)


class _Reader:
    def __init__(self, stacks: list[Stack]) -> None:
        resolver = Resolver(stacks)
        self._stacks = stacks
        self._resolver = resolver
        self._by_type: dict[str, list[_Resource]] = defaultdict(list)
        for stack in stacks:
            for logical_id, resource in stack.resources.items():
                kind = str(resource.get("Type"))
                if kind.startswith("AWS::Batch::"):
                    self._by_type[kind].append(_Resource(stack, logical_id, resolver))

    def read(self) -> Declarations:
        shares: dict[str, list[_Resource]] = defaultdict(list)
        imported: dict[str, list[_Resource]] = defaultdict(list)
        queues = self._by_type["AWS::Batch::JobQueue"]
        for share in self._by_type["AWS::Batch::QuotaShare"]:
            reference = share.properties.get("JobQueue")
            queue = _referred(reference, share.stack, queues)
            (shares[queue.source.path] if queue is not None else imported[str(reference)]).append(share)
        managed = [q for resource in queues if (q := self._queue(resource, shares[resource.source.path])) is not None]
        used = {queue.environment.source for queue in managed if queue.environment is not None}
        return Declarations(
            queues=[*managed, *chain.from_iterable(map(_imported_queue, imported.values()))],
            environments=[
                environment
                for environment in map(_environment, self._by_type["AWS::Batch::ServiceEnvironment"])
                if environment.source not in used and not _counts_instances(environment)
            ],
            principals=read_principals(self._stacks, self._resolver),
            share_arns=[share.arn for share in self._by_type["AWS::Batch::QuotaShare"]],
        )

    def _queue(self, resource: _Resource, shares: list[_Resource]) -> DeclaredQueue | None:
        """Return a queue; None for one that has nothing to do with quota management."""
        policy_reference = resource.properties.get("SchedulingPolicyArn")
        policy = _referred(policy_reference, resource.stack, self._by_type["AWS::Batch::SchedulingPolicy"])
        has_quota_shares = policy is not None and "QuotaSharePolicy" in policy.properties
        if not shares and not has_quota_shares:
            return None
        order = resource.properties.get("ServiceEnvironmentOrder")
        first = order[0] if isinstance(order, list) and order and isinstance(order[0], dict) else {}
        environment = _referred(
            first.get("ServiceEnvironment"), resource.stack, self._by_type["AWS::Batch::ServiceEnvironment"]
        )
        limits = resource.properties.get("JobStateTimeLimitActions") or []
        return DeclaredQueue(
            resource.source,
            resource.field("JobQueueName"),
            queue_type=_queue_type(resource),
            priority=resource.field("Priority"),
            time_limits=list(_time_limits(limits)),
            time_limits_keys=("JobStateTimeLimitActions",),
            policy=_policy(policy) if policy is not None else None,
            has_policy=policy_reference is not None,
            environment=_environment(environment) if environment is not None else None,
            shares=[_share(share) for share in shares],
        )


def _queue_type(resource: _Resource) -> Field:
    """Return the type; CloudFormation takes a queue for one of compute environments where it isn't given."""
    given = resource.field("JobQueueType")
    if given.value is None and "ServiceEnvironmentOrder" in resource.properties:
        return Field(QUEUE_TYPE, given.keys)
    return given


def _time_limits(given: Any) -> Iterator[Field]:
    for index, limit in enumerate(given if isinstance(given, list) else [given]):
        value = {**limit, "MaxTimeSeconds": _number(limit.get("MaxTimeSeconds"))} if isinstance(limit, dict) else limit
        yield Field(value, ("JobStateTimeLimitActions", index))


def _share(resource: _Resource) -> DeclaredShare:
    limit = resource.field("ResourceSharingConfiguration", "BorrowLimit")
    return DeclaredShare(
        resource.source,
        resource.field("QuotaShareName"),
        limits=resource.limits(),
        strategy=resource.field("ResourceSharingConfiguration", "Strategy"),
        borrow_limit=limit._replace(value=_number(limit.value)),
        in_share_preemption=resource.field("PreemptionConfiguration", "InSharePreemption"),
        state=resource.field("State"),
    )


def _environment(resource: _Resource) -> DeclaredEnvironment:
    return DeclaredEnvironment(resource.source, resource.field("ServiceEnvironmentName"), resource.limits())


def _policy(resource: _Resource) -> DeclaredPolicy:
    return DeclaredPolicy(resource.source, resource.field("Name"), resource.field("QuotaSharePolicy"))


def _counts_instances(environment: DeclaredEnvironment) -> bool:
    """Tell an environment of a FIFO queue, which may count instances of any type."""
    pairs = environment.limits.pairs
    return isinstance(pairs, list) and any(pair[0] == "NUM_INSTANCES" for pair in pairs)


def _imported_queue(shares: list[_Resource]) -> Iterable[DeclaredQueue]:
    """Return a queue that is declared elsewhere, known by its shares here."""
    first = shares[0]
    source = replace(first.source, path=f"job queue of {first.source.path}")
    yield DeclaredQueue(source, Field(None, ()), shares=[_share(share) for share in shares], owned=False)


def _referred(reference: Any, stack: Stack, resources: list[_Resource]) -> _Resource | None:
    """Return the resource that an ARN or a name means, the nearest one if several would do."""
    if not isinstance(reference, str):
        return None
    name = reference.rsplit("/", 1)[-1]
    found = [
        resource
        for resource in resources
        if resource.arn.rsplit("/", 1)[-1] == name
        and (not reference.startswith("arn:") or matches_arn(reference, resource.arn))
    ]
    return min(found, key=lambda resource: _distance(stack, resource.stack), default=None)


def _distance(one: Stack, other: Stack) -> int:
    """Return how far apart two stacks are: the same, in the same assembly, or elsewhere."""
    if one is other:
        return 0
    same_folder = one.file is not None and other.file is not None and one.file.parent == other.file.parent
    return 1 if same_folder else 2


def _number(value: Any) -> Any:
    """Return a number that a template writes as text, as CloudFormation takes it."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii() else value
