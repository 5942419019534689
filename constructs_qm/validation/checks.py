"""The rules of quota_scheduler, asked of declared queues; each finding is put where it can be mended."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from constructs_qm.validation.declared import DeclaredQueue, DeclaredShare, Field, Limits, is_known
from constructs_qm.validation.located import Located, located
from quota_scheduler import Finding, Level, PolicyError, QuotaPolicy, SharingStrategy, check_policy
from quota_scheduler.findings import errors_in
from quota_scheduler.queue_rules import (
    check_environment_queues,
    check_policy_kind,
    check_queue_contents,
    check_queue_type,
)
from quota_scheduler.share_isolation import check_isolation
from quota_scheduler.time_limits import check_time_limit
from quota_scheduler.value_rules import check_limits, check_name, check_sharing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from constructs_qm.validation.declared import Declarations, Declared, DeclaredEnvironment, Principal, Source
    from constructs_qm.validation.organisation import OrganisationRule

__all__ = ["check"]


def check(declarations: Declarations, rules: Sequence[OrganisationRule] = ()) -> list[Located]:
    """Check everything that is declared.

    Parameters
    ----------
    declarations : Declarations
    rules : sequence of OrganisationRule
        An organisation's own, asked of every queue whose capacity is known.

    Returns
    -------
    list of Located
        Queue by queue, single values before the whole; IAM statements last.
    """
    found = [item for queue in declarations.queues for item in _check_queue(queue, rules)]
    found += [item for environment in declarations.environments for item in _check_environment(environment)]
    found += _environments_of_two(declarations.queues)
    found += [item for principal in declarations.principals for item in _check_principal(principal, declarations)]
    return list(dict.fromkeys(found))


def _check_principal(principal: Principal, declarations: Declarations) -> Iterator[Located]:
    """QM014."""
    statements = [statement.value for _, statement in principal.statements]
    for index, finding in check_isolation(statements, declarations.share_arns):
        source, statement = principal.statements[index]
        yield from located([finding], source, statement.keys)


def _check_environment(environment: DeclaredEnvironment) -> Iterator[Located]:
    """Check the values of a service environment."""
    yield from _check_name(environment, "service environment name")
    yield from _check_limits(environment.source, environment.limits)


def _check_queue(queue: DeclaredQueue, rules: Sequence[OrganisationRule]) -> Iterator[Located]:
    if queue.owned:
        yield from _check_name(queue, "job queue name")
        yield from _check_kind(queue)
        for limit in queue.time_limits or ():
            yield from _check_time_limit(queue.source, limit)
    if queue.environment is not None:
        yield from _check_environment(queue.environment)
    for share in queue.shares:
        yield from _check_share(share)
    yield from _check_whole(queue, rules)


def _check_kind(queue: DeclaredQueue) -> Iterator[Located]:
    """QM007."""
    if is_known(queue.queue_type.value):
        yield from located(check_queue_type(queue.queue_type.value), queue.source, queue.queue_type.keys)
    policy = queue.policy
    if policy is not None:
        yield from _check_name(policy, "scheduling policy name")
        kind = check_policy_kind(policy.quota_share_policy.value is not None)
        yield from located(kind, policy.source, policy.quota_share_policy.keys)
    elif not queue.has_policy:
        yield from located(check_policy_kind(False), queue.source)


def _check_share(share: DeclaredShare) -> Iterator[Located]:
    yield from _check_name(share, "quota share name", required=True)
    yield from _check_limits(share.source, share.limits)
    strategy, limit = share.strategy, share.borrow_limit
    yield from _unknown(share.source, strategy, limit)
    if is_known(strategy.value):
        sound = strategy.value in [known.value for known in SharingStrategy]
        at = limit if sound and limit.value is not None else strategy
        value = limit.value if is_known(limit.value) or strategy.value != "LEND_AND_BORROW" else None
        yield from located(check_sharing(strategy.value, value), at.source or share.source, at.keys)


def _check_name(declared: Declared, what: str, *, required: bool = False) -> Iterator[Located]:
    """QM001; a name that may be left out and is isn't checked."""
    name = declared.name
    yield from _unknown(declared.source, name)
    if is_known(name.value) and (required or name.value is not None):
        yield from located(check_name(name.value, what), declared.source, name.keys)


def _check_limits(source: Source, limits: Limits) -> Iterator[Located]:
    """QM002 and QM003, with a legal value in place of each that is unknown."""
    if isinstance(limits.pairs, str) and not is_known(limits.pairs):
        yield _skipped(source, limits.keys)
        return
    pairs = limits.pairs
    if isinstance(pairs, list):
        unknown = [pair for pair in pairs if not is_known(pair)]
        if unknown:
            yield _skipped(source, limits.keys)
        pairs = [_with_placeholders(index, pair) for index, pair in enumerate(pairs)]
    places = dict.fromkeys(check_limits(pairs), limits.keys)
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, tuple) and len(pair) == 2:  # what a limit has wrong by itself is told of that one
            places |= dict.fromkeys(check_limits([pair]), limits.unit_keys.get(str(pair[0]), limits.keys))
    for finding, keys in places.items():
        yield from located([finding], source, keys)


def _with_placeholders(index: int, pair: Any) -> Any:
    if not isinstance(pair, tuple) or len(pair) != 2:
        return pair
    unit, count = pair
    return unit if is_known(unit) else f"ml.unknown.unit-{index}", count if is_known(count) else 1


def _check_time_limit(source: Source, limit: Field) -> Iterator[Located]:
    """QM008."""
    yield from _unknown(source, limit)
    if not is_known(limit.value):
        return
    given = limit.value if isinstance(limit.value, dict) else {}
    values = (given.get(key) for key in ("Reason", "MaxTimeSeconds", "Action", "State"))
    yield from located(check_time_limit(*values), limit.source or source, limit.keys)


def _check_whole(queue: DeclaredQueue, rules: Sequence[OrganisationRule]) -> Iterator[Located]:
    """Ask the rules over a whole policy; of one that isn't known whole, only what more shares can't mend."""
    yield from _too_few(queue)
    whole = [share.policy() for share in queue.shares]
    outlined = [known or share.outline() for known, share in zip(whole, queue.shares, strict=True)]
    known = tuple(share for share in outlined if share is not None)
    capacity = queue.environment.capacity() if queue.environment is not None else None
    if queue.owned and (queue.environment is None or not is_known(queue.environment.limits.pairs)):
        yield _skipped(queue.source, (), "the capacity of the service environment")
    complete = queue.owned and capacity is not None and None not in whole
    try:
        policy = QuotaPolicy(capacity if capacity is not None else _capacity_for(known), known)
    except PolicyError:
        return
    findings = check_policy(policy)
    if capacity is None:
        findings = [finding for finding in findings if finding.rule == "QM004"]
    for finding in findings if complete else errors_in(findings):
        yield _at(queue, finding)
    for rule in rules:
        yield from (_at(queue, finding) for finding in rule.check(replace(policy, shares=tuple(filter(None, whole)))))


def _too_few(queue: DeclaredQueue) -> Iterator[Located]:
    """QM013."""
    if not queue.owned:
        return
    limits = queue.time_limits
    reasons = [str(limit.value.get("Reason")) for limit in limits or () if isinstance(limit.value, dict)]
    for finding in check_queue_contents(len(queue.shares), reasons):
        if finding.path != "timeLimits":
            yield from located([finding], queue.source)
        elif limits is not None and is_known(reasons):
            yield from located([finding], queue.source, queue.time_limits_keys)


def _capacity_for(shares: Iterable[Any]) -> dict[str, int]:
    """Return a capacity that any of `shares` fits, for the rules that don't ask for one."""
    capacity: dict[str, int] = {}
    for share in shares:
        for unit, count in share.limits.items():
            capacity[unit] = max(count, capacity.get(unit, 1))
    return dict(list(capacity.items())[:5]) or {"ml.unknown.unit": 1}


def _at(queue: DeclaredQueue, finding: Finding) -> Located:
    """Put a finding of the policy model where its part of the queue is declared."""
    kind, _, rest = finding.path.partition(".")
    if kind == "environment" and queue.environment is not None:
        limits = queue.environment.limits
        return next(located([finding], queue.environment.source, limits.unit_keys.get(rest, limits.keys)))
    name, _, rest = rest.partition(".")
    share = next((share for share in reversed(queue.shares) if share.name.value == name), None)
    if kind != "shares" or share is None:
        return next(located([finding], queue.source))
    part, _, unit = rest.partition(".")
    keys = share.name.keys if not part else share.limits.unit_keys.get(unit, share.limits.keys)
    if part == "sharing":
        keys = share.strategy.keys if share.borrow_limit.value is None else share.borrow_limit.keys
    return next(located([finding], share.source, keys))


def _environments_of_two(queues: Iterable[DeclaredQueue]) -> Iterator[Located]:
    """QM007 across queues."""
    connected = defaultdict(list)
    for queue in queues:
        if queue.environment is not None:
            connected[queue.environment.source].append(queue.source.path)
    for source, paths in connected.items():
        yield from located(check_environment_queues(paths), source)


def _unknown(source: Source, *fields: Field) -> Iterator[Located]:
    for field in fields:
        if not is_known(field.value):
            yield _skipped(source, field.keys)


def _skipped(source: Source, keys: tuple[str | int, ...], what: str = "") -> Located:
    """QM015."""
    message = f"{what or 'the value'} is known only at deployment: rules that need it are not checked"
    return Located(Finding("QM015", Level.NOTE, message), source, keys)
