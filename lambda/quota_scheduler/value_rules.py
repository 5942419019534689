"""Rules about single values: QM001, QM002, QM003 and QM006 of contract.md section 6.

They take anything, so that a hand-written template or a request from the wire can
be checked as well as a typed value, and yield findings instead of raising.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from quota_scheduler.findings import Finding, Level

__all__ = [
    "MAX_CAPACITY_LIMITS",
    "check_limits",
    "check_name",
    "check_priority",
    "check_sharing",
    "is_whole",
    "short",
]

MAX_CAPACITY_LIMITS = 5
"""Capacity limits a service environment or quota share may have (facts.md, Resources)."""

MAX_PRIORITY = 9999
"""Highest scheduling priority (facts.md, Service jobs)."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_INSTANCE_TYPE = re.compile(r"ml\.[a-z0-9][a-z0-9-]*\.[a-z0-9-]+")
_STRATEGIES = ("RESERVE", "LEND", "LEND_AND_BORROW")


def check_name(name: object, what: str = "name") -> Iterator[Finding]:
    """Yield QM001 unless `name` is 1 to 128 characters of ``A-Z a-z 0-9 - _``."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield _error(
            "QM001",
            f"{what} {short(name)} is not allowed: use 1 to 128 characters of A-Z a-z 0-9 - _",
        )


def check_limits(limits: object) -> Iterator[Finding]:
    """Yield QM002 and QM003 for capacity limits.

    Parameters
    ----------
    limits : mapping of str to int, or iterable of (str, int) pairs
        Pairs keep a unit that is given twice, a mapping can't.
    """
    pairs = _pairs(limits)
    if pairs is None:
        yield _error("QM002", f"capacity limits {short(limits)} are not a map of unit to instances")
        return
    if not 1 <= len(pairs) <= MAX_CAPACITY_LIMITS:
        yield _error(
            "QM002",
            f"{len(pairs)} capacity limits given: give 1 to {MAX_CAPACITY_LIMITS}, one per instance type",
        )
    seen: set[object] = set()
    for unit, capacity in pairs:
        yield from _check_unit(unit)
        yield from _check_capacity(unit, capacity)
        if isinstance(unit, str) and unit in seen:
            yield _error("QM002", f"capacity unit {unit} is given twice: give each instance type once")
        if isinstance(unit, str):
            seen.add(unit)


def check_sharing(strategy: object, borrow_limit: object) -> Iterator[Finding]:
    """Yield QM006 for a strategy and borrow limit (None = not given) that don't go together."""
    if strategy not in _STRATEGIES:
        given = "no sharing strategy is given" if strategy is None else f"sharing strategy {short(strategy)} is unknown"
        yield _error("QM006", f"{given}: use one of {', '.join(_STRATEGIES)}")
    elif borrow_limit is not None and strategy != "LEND_AND_BORROW":
        yield _error(
            "QM006",
            f"borrow limit {short(borrow_limit)} is given for a share that doesn't borrow: "
            "leave it out or use LEND_AND_BORROW",
        )
    elif borrow_limit is not None and (not is_whole(borrow_limit) or borrow_limit < -1):
        yield _error(
            "QM006",
            f"borrow limit {short(borrow_limit)} is not allowed: "
            "use a whole percentage of 0 or more, or -1 for unlimited",
        )


def check_priority(priority: object) -> tuple[str, ...]:
    """Return one message unless `priority` is a whole number from 0 to 9999."""
    if is_whole(priority) and 0 <= priority <= MAX_PRIORITY:
        return ()
    return (f"scheduling priority {short(priority)} is not allowed: use a whole number from 0 to {MAX_PRIORITY}",)


def _check_unit(unit: object) -> Iterator[Finding]:
    if unit == "NUM_INSTANCES":
        yield _error(
            "QM003",
            "capacity unit NUM_INSTANCES is not allowed with quota management: "
            "name an instance type such as ml.g5.xlarge",
        )
    elif not isinstance(unit, str) or not _INSTANCE_TYPE.fullmatch(unit):
        yield _error(
            "QM003",
            f"capacity unit {short(unit)} is not a SageMaker training instance type: use one such as ml.g5.xlarge",
        )


def _check_capacity(unit: object, capacity: object) -> Iterator[Finding]:
    if not is_whole(capacity) or capacity < 1:
        yield _error(
            "QM002",
            f"capacity {short(capacity)} of {unit} is not allowed: use a whole number, at least 1",
        )


def is_whole(value: object) -> TypeGuard[int]:
    """Tell an int from everything else; True and False count as something else."""
    return isinstance(value, int) and not isinstance(value, bool)


def _pairs(limits: object) -> list[tuple[object, object]] | None:
    items: object = limits.items() if isinstance(limits, Mapping) else limits
    if isinstance(items, str) or not isinstance(items, Iterable):
        return None
    pairs = [tuple(item) if isinstance(item, (tuple, list)) else (item,) for item in items]
    if any(len(pair) != 2 for pair in pairs):
        return None
    return [(pair[0], pair[1]) for pair in pairs]


def short(value: object) -> str:
    """Return a value as shown in messages, cut so that the message stays one readable line."""
    text = repr(getattr(value, "value", value))
    return text if len(text) <= 80 else f"{text[:77]}..."


def _error(rule: str, message: str) -> Finding:
    return Finding(rule, Level.ERROR, message)
