"""EventBridge: Batch's events reach rules, and rules deliver as AWS's do.

moto matches patterns; what is delivered, to what and from which rules, is decided here.
"""

from __future__ import annotations

import copy
import json
import logging
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from moto.events.models import Rule, events_backends
from moto.events.utils import EventTemplateParser

from constructs_qm.local.current import current
from constructs_qm.local.events import iso_time
from constructs_qm.local.patches import Patch
from constructs_qm.local.targets import Target, deliver

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.events import Event

__all__ = ["PATCHES", "publish"]

_log = logging.getLogger(__name__)

RETRIES = (1, 2, 4, 8)
"""Seconds after which a failed delivery is tried again; AWS goes on for a day, backing off."""


def publish(event: Event, bus: str = "default") -> None:
    """Put an event as it is on a bus of the account and Region it names."""
    backend = events_backends[event["account"]][event["region"]]
    if bus in backend.event_buses:
        for rule in list(backend.event_buses[bus].rules.values()):
            rule.send_to_targets(copy.deepcopy(event))  # type: ignore[arg-type]


def _send_to_targets(original: Callable[..., None]) -> Callable[..., None]:
    def send_to_targets(self: Rule, original_event: Any, transform_input: bool = True) -> None:
        # a rule without a pattern is a scheduled one
        pattern = self.event_pattern.get_pattern()
        if self.state.startswith("DISABLED") or not pattern:
            return
        event = _envelope(original_event)
        if not self.event_pattern.matches_event(event):
            return
        for description in list(self.targets):
            current().later(0, partial(_deliver, self, description, event, original, original_event))

    return send_to_targets


def _envelope(event: dict[str, Any]) -> Any:
    """Return an event as AWS delivers it: moto's have a number for a time, and no end of fields."""
    time = event["time"]
    names = (
        "version",
        "id",
        "detail-type",
        "source",
        "account",
        "time",
        "region",
        "resources",
        "detail",
        "replay-name",
    )
    envelope = {name: event[name] for name in (*names, "replay-name") if name in event}
    if isinstance(time, datetime):
        time = time.timestamp()
    return {**envelope, "time": iso_time(time) if isinstance(time, (int, float)) else time}


def _deliver(
    rule: Rule,
    description: dict[str, Any],
    event: Event,
    original: Callable[..., None],
    original_event: Any,
    retries: tuple[int, ...] = RETRIES,
) -> None:
    try:
        target = Target(description)
        if target.service == "events" and target.resource.startswith("event-bus/"):
            # another bus gets the event unchanged
            publish({**event, "account": target.account, "region": target.region}, target.resource[10:])
        elif target.service == "events" and not target.resource.strip(":"):
            _keep(rule, event)
        elif not deliver(target, _message(description, event), rule.account_id, rule.region_name):
            _leave_to_moto(rule, description, original, original_event)
    except Exception as error:
        if retries:
            current().later(
                retries[0],
                partial(_deliver, rule, description, event, original, original_event, retries[1:]),
            )
        else:
            _give_up(rule, description, event, error)


def _message(description: dict[str, Any], event: Event) -> str:
    """Return what a target gets: the event, a part of it, or what its rule makes of it."""
    if "Input" in description:
        return str(description["Input"])
    if "InputPath" in description:
        part: Any = event
        for name in description["InputPath"].removeprefix("$").strip(".").split("."):
            part = part[name] if name else part
        return json.dumps(part)
    if "InputTransformer" in description:
        transformer = description["InputTransformer"]
        whole: Any = {**event, "ingestion-time": event["time"]}
        template, paths = transformer["InputTemplate"], transformer.get("InputPathsMap", {})
        return json.dumps(EventTemplateParser.parse(template, paths, whole))
    return json.dumps(event)


def _keep(rule: Rule, event: Event) -> None:
    """Put an event into the archive that `rule` belongs to: moto's own way needs a time that is a number."""
    for archive in events_backends[rule.account_id][rule.region_name].archives.values():
        if archive.rule is not None and archive.rule.name == rule.name:
            archive.events.append(copy.deepcopy(event))  # type: ignore[arg-type]


def _leave_to_moto(rule: Rule, description: dict[str, Any], original: Callable[..., None], original_event: Any) -> None:
    """Let moto deliver to a kind of target we don't know, such as API destinations."""
    alone = copy.copy(rule)
    alone.targets = [description]
    try:
        original(alone, {"ingestion-time": original_event["time"], **original_event})
    except NotImplementedError:
        _log.warning("rule %s: nothing here delivers to %s", rule.name, description["Arn"])


def _give_up(rule: Rule, description: dict[str, Any], event: Event, error: Exception) -> None:
    _log.warning("rule %s: delivery to %s failed: %s", rule.name, description["Arn"], error)
    dead = description.get("DeadLetterConfig", {}).get("Arn")
    if dead:
        deliver(Target({"Arn": dead}), json.dumps(event), rule.account_id, rule.region_name)


PATCHES = [Patch(Rule, "send_to_targets", "self original_event transform_input", _send_to_targets)]
