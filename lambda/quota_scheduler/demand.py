"""The capacity a job needs, read from its ``serviceRequestPayload``.

A demand is a tuple of ``(unit, instances)`` pairs, sorted by unit: usually one pair,
several for a job with instance groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from quota_scheduler.exceptions import JobError, PayloadError
from quota_scheduler.value_rules import is_whole

__all__ = ["Demand", "demand_from_payload", "make_demand"]

Demand: TypeAlias = tuple[tuple[str, int], ...]
"""Instances a job needs: pairs of capacity unit and number, sorted by unit; made by :func:`make_demand`."""


def make_demand(instances: object) -> Demand:
    """Make a demand from a map of unit to instances; anything else is refused.

    Raises
    ------
    JobError
        The map is empty, or a number of instances isn't a whole number of at least 1.
    """
    if not isinstance(instances, Mapping) or not instances:
        raise JobError(f"demand {instances!r} is not allowed: name at least one instance type and its instances")
    for unit, count in instances.items():
        if not isinstance(unit, str) or not is_whole(count) or count < 1:
            raise JobError(f"demand {count!r} of {unit} is not allowed: use a whole number of instances, at least 1")
    return tuple(sorted(instances.items()))


def demand_from_payload(payload: str) -> Demand:
    """Read the demand of a CreateTrainingJob request.

    Parameters
    ----------
    payload : str
        The request as JSON, as SubmitServiceJob takes it; ``ResourceConfig`` names
        either ``InstanceType`` and ``InstanceCount`` or ``InstanceGroups``.

    Returns
    -------
    Demand
        Instances per instance type, groups of one type added up (facts.md, Service jobs).

    Raises
    ------
    PayloadError
        Nothing can be read from it.
    """
    try:
        request = json.loads(payload)
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError(f"serviceRequestPayload is not JSON ({error}): give a CreateTrainingJob request") from None
    config = request.get("ResourceConfig") if isinstance(request, dict) else None
    if not isinstance(config, dict):
        raise PayloadError("serviceRequestPayload has no ResourceConfig: give InstanceType and InstanceCount there")
    groups = config.get("InstanceGroups")
    if not groups:
        return _add_up([config], "ResourceConfig")
    if not isinstance(groups, list):
        raise PayloadError("ResourceConfig.InstanceGroups is not a list: give one entry for each group")
    if "InstanceType" in config or "InstanceCount" in config:
        raise PayloadError("ResourceConfig has both InstanceGroups and InstanceType or InstanceCount: give one of them")
    return _add_up(groups, "ResourceConfig.InstanceGroups")


def _add_up(groups: list[Any], where: str) -> Demand:
    """Add up ``InstanceType`` and ``InstanceCount`` of each group; raises PayloadError."""
    instances: dict[str, int] = {}
    for group in groups:
        unit = group.get("InstanceType") if isinstance(group, dict) else None
        count = group.get("InstanceCount") if isinstance(group, dict) else None
        if not isinstance(unit, str) or not unit:
            raise PayloadError(f"{where} has no InstanceType: name an instance type such as ml.g5.xlarge")
        if not is_whole(count) or count < 1:
            raise PayloadError(
                f"{where}.InstanceCount {count!r} of {unit} is not allowed: use a whole number of at least 1"
            )
        instances[unit] = instances.get(unit, 0) + count
    return make_demand(instances)
