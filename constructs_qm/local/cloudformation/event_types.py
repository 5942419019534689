"""Event buses and archives: moto's CloudFormation fails to tell a bus's id, and takes an archive's pattern for text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from constructs_qm.local.cloudformation.api_type import ApiType
from constructs_qm.local.cloudformation.handlers import Instance

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Handler, Properties

__all__ = ["EVENT_TYPES"]

LONGEST = 48
"""Characters of a name (API CreateArchive)."""


class EventBus(ApiType):
    """AWS::Events::EventBus."""

    service = "events"
    name = "Name"

    def identify(self, context: Context, name: str, properties: Properties) -> Instance:
        return Instance(name, {"Arn": self.arn(context, f"event-bus/{name}"), "Name": name})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        buses = self.client(context).list_event_buses(NamePrefix=name)["EventBuses"]
        if all(bus["Name"] != name for bus in buses):
            self.client(context).create_event_bus(Name=name)

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_event_bus(Name=instance.physical_resource_id)


class Archive(ApiType):
    """AWS::Events::Archive."""

    service = "events"
    name = "ArchiveName"
    create_only = ("SourceArn",)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        name = name if "ArchiveName" in properties else name[-LONGEST:]
        made = self.client(context).create_archive(
            ArchiveName=name, EventSourceArn=properties["SourceArn"], **_settings(properties)
        )
        return Instance(name, {"Arn": made["ArchiveArn"], "ArchiveName": name})

    def put(self, context: Context, instance: Instance, name: str, properties: Properties) -> None:
        self.client(context).update_archive(ArchiveName=instance.physical_resource_id, **_settings(properties))

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        self.client(context).delete_archive(ArchiveName=instance.physical_resource_id)


def _settings(properties: Properties) -> Properties:
    settings: Properties = {key: properties[key] for key in ("Description", "RetentionDays") if key in properties}
    pattern = properties.get("EventPattern")
    return settings if pattern is None else {**settings, "EventPattern": json.dumps(pattern)}


EVENT_TYPES: dict[str, Handler] = {"AWS::Events::Archive": Archive(), "AWS::Events::EventBus": EventBus()}
