"""EventBridge Scheduler's schedules, and EventBridge's scheduled rules, are due by our clock."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from moto.events.models import events_backends
from moto.scheduler.models import scheduler_backends

from constructs_qm.local.events import iso_time
from constructs_qm.local.schedule_expressions import next_time
from constructs_qm.local.targets import Target, deliver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.local.endpoint import Endpoint

__all__ = ["Schedules"]

_log = logging.getLogger(__name__)

RETRY_SECONDS = 60
RETRIES = 3
"""Further attempts at a delivery that failed; AWS's default is 185 in a day."""


@dataclass
class _Entry:
    """A schedule we know, and when it is due."""

    expression: str
    zone: str
    since: float
    due: float | None


class Schedules:
    """A timeline of everything that is due by a schedule.

    Parameters
    ----------
    endpoint : Endpoint
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._entries: dict[str, _Entry] = {}

    def next_due(self) -> float | None:
        """Return when the next schedule is due, in seconds since 1970, or None."""
        self._look()
        return min((entry.due for entry in self._entries.values() if entry.due is not None), default=None)

    def run(self, now: float) -> None:
        """Let the schedules that are due by `now`, in seconds, deliver."""
        for arn, target, account, region in self._look():
            entry = self._entries[arn]
            while entry.due is not None and entry.due <= now:
                self._endpoint.soon(partial(self._deliver, target(entry.due), account, region, RETRIES))
                entry.due = next_time(entry.expression, entry.due, entry.since, entry.zone)

    def _look(self) -> list[tuple[str, Any, str, str]]:
        """Bring the entries up to date; return (ARN, message maker, account, Region) of each."""
        now = self._endpoint.clock.now()
        found = []
        for arn, expression, zone, target, account, region in (*_schedules(), *_rules()):
            entry = self._entries.get(arn)
            if entry is None or (entry.expression, entry.zone) != (expression, zone):
                try:
                    due = next_time(expression, now, now, zone)
                except (ValueError, KeyError) as error:  # KeyError: no such time zone
                    _log.warning("%s: %s", arn, error)
                    due = None
                self._entries[arn] = _Entry(expression, zone, now, due)
            found.append((arn, target, account, region))
        known = {arn for arn, *_ in found}
        for arn in self._entries.keys() - known:
            del self._entries[arn]
        return found

    def _deliver(self, what: list[tuple[Target, str]], account: str, region: str, retries: int) -> None:
        for target, message in what:
            try:
                if not deliver(target, message, account, region):
                    _log.warning("nothing here delivers to %s", target.arn)
            except Exception as error:
                if retries:
                    again = partial(self._deliver, [(target, message)], account, region, retries - 1)
                    self._endpoint.later(RETRY_SECONDS, again)
                else:
                    _log.warning("delivery to %s failed: %s", target.arn, error)


def _schedules() -> Iterator[tuple[str, str, str, Any, str, str]]:
    """Iterate over the enabled schedules of Scheduler, everywhere."""
    backends: list[tuple[str, str, Any]] = list(scheduler_backends.iter_backends())
    for account, region, backend in backends:
        for group in list(backend.schedule_groups.values()):
            for schedule in list(group.schedules.values()):
                if schedule.state == "ENABLED":
                    yield (
                        schedule.arn,
                        schedule.schedule_expression,
                        schedule.schedule_expression_timezone,
                        partial(_schedule_message, schedule.target),
                        account,
                        region,
                    )


def _schedule_message(target: dict[str, Any], due: float) -> list[tuple[Target, str]]:
    text = str(target.get("Input", "{}"))
    for name, value in (
        ("<aws.scheduler.schedule-arn>", target["Arn"]),
        ("<aws.scheduler.scheduled-time>", iso_time(due)),
        ("<aws.scheduler.execution-id>", str(uuid4())),
        ("<aws.scheduler.attempt-number>", "1"),
    ):
        text = text.replace(name, value)
    return [(Target(target), text)]


def _rules() -> Iterator[tuple[str, str, str, Any, str, str]]:
    """Iterate over the enabled rules with a schedule, everywhere."""
    backends: list[tuple[str, str, Any]] = list(events_backends.iter_backends())
    for account, region, backend in backends:
        for bus in list(backend.event_buses.values()):
            for rule in list(bus.rules.values()):
                if rule.scheduled_expression and not rule.state.startswith("DISABLED"):
                    yield (
                        rule.arn,
                        rule.scheduled_expression,
                        "UTC",
                        partial(_rule_message, rule, account, region),
                        account,
                        region,
                    )


def _rule_message(rule: Any, account: str, region: str, due: float) -> list[tuple[Target, str]]:
    event = {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": account,
        "time": iso_time(due),
        "region": region,
        "resources": [rule.arn],
        "detail": {},
    }
    return [(Target(target), str(target.get("Input", json.dumps(event)))) for target in rule.targets]
