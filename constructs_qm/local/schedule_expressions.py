"""When a schedule is due: ``rate``, ``cron`` and ``at`` (EventBridge Scheduler User Guide, schedule types)."""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

__all__ = ["next_time"]

_RATE = re.compile(r"rate\((\d+)\s+(minute|hour|day)s?\)")
_UNITS = {"minute": 60, "hour": 3600, "day": 86_400}
_MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS = {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), 1)}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (1, 7), (1970, 2199))
YEARS = 5
"""How far ahead one looks for a time that a cron expression allows."""


def next_time(expression: str, after: float, since: float, zone: str = "UTC") -> float | None:
    """Return when a schedule is due next.

    Parameters
    ----------
    expression : str
        E.g. ``rate(5 minutes)``, ``cron(0 12 ? * MON-FRI *)`` or ``at(2026-01-01T00:00:00)``.
    after : float
        Seconds since 1970: the answer is later than this.
    since : float
        Seconds since 1970 when the schedule was made, from which a rate counts.
    zone : str
        Time zone of ``cron`` and ``at``.

    Returns
    -------
    float or None
        Seconds since 1970; None where it is never due again.

    Raises
    ------
    ValueError
        The expression can't be read.
    """
    rate = _RATE.fullmatch(expression)
    if rate:
        seconds = int(rate[1]) * _UNITS[rate[2]]
        if seconds == 0:
            raise ValueError(f"schedule {expression!r} can't be read: use a rate of 1 or more")
        return since + (int((after - since) // seconds) + 1) * seconds
    if expression.startswith("at(") and expression.endswith(")"):
        time = datetime.fromisoformat(expression[3:-1]).replace(tzinfo=_zone(zone)).timestamp()
        return time if time > after else None
    if expression.startswith("cron(") and expression.endswith(")"):
        return _next_cron(expression[5:-1].split(), after, _zone(zone))
    raise ValueError(f"schedule {expression!r} can't be read: use rate(…), cron(…) or at(…)")


def _zone(name: str) -> tzinfo:
    return timezone.utc if name == "UTC" else ZoneInfo(name)


def _next_cron(fields: list[str], after: float, zone: tzinfo) -> float | None:
    if len(fields) != 6:
        raise ValueError(f"cron expression {' '.join(fields)!r} has {len(fields)} fields: use 6")
    minutes, hours, months, years = (
        _values(fields[place], _RANGES[place], _MONTHS if place == 3 else {}) for place in (0, 1, 3, 5)
    )
    start = datetime.fromtimestamp(after, zone).replace(second=0, microsecond=0) + timedelta(minutes=1)
    day = start.replace(hour=0, minute=0)
    for _ in range(366 * YEARS):
        if day.month in months and day.year in years and day.day in _days(fields, day.year, day.month):
            for hour in sorted(hours):
                for minute in sorted(minutes):
                    time = day.replace(hour=hour, minute=minute)
                    if time >= start:
                        return time.timestamp()
        day = (day + timedelta(days=1)).replace(hour=0, minute=0)
    return None


def _days(fields: list[str], year: int, month: int) -> set[int]:
    """Return the days of a month that day of month and day of week allow; one of them is ``?``."""
    last = calendar.monthrange(year, month)[1]
    of_month, of_week = fields[2], fields[4]
    if of_month == "L":
        return {last}
    if of_month not in ("?", "*"):
        return {day for day in _values(of_month, (1, 31), {}) if day <= last}
    if of_week in ("?", "*"):
        return set(range(1, last + 1))
    # datetime counts from Monday = 0, cron from SUN = 1
    weekday = {day: (datetime(year, month, day).weekday() + 1) % 7 + 1 for day in range(1, last + 1)}
    nth = re.fullmatch(r"(\w+)#([1-5])", of_week)
    if nth:
        matching = [day for day, number in weekday.items() if number == _number(nth[1], _DAYS)]
        return set(matching[int(nth[2]) - 1 : int(nth[2])])
    latest = re.fullmatch(r"(\w+)L", of_week)
    if latest:
        return {max(day for day, number in weekday.items() if number == _number(latest[1], _DAYS))}
    allowed = _values(of_week, (1, 7), _DAYS)
    return {day for day, number in weekday.items() if number in allowed}


def _values(field: str, limits: tuple[int, int], names: dict[str, int]) -> set[int]:
    """Return the numbers a field allows: ``*``, lists, ranges and steps."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        low = limits[0] if span in ("*", "?") else _number(first, names)
        high = _number(last, names) if dash else (limits[1] if span in ("*", "?") or step else low)
        if not limits[0] <= low <= high <= limits[1]:
            raise ValueError(f"cron field {field!r} is not allowed: use {limits[0]} to {limits[1]}")
        found.update(range(low, high + 1, _number(step, {}) if step else 1))
    return found


def _number(text: str, names: dict[str, int]) -> int:
    number = names.get(text.upper())
    return int(text) if number is None else number
