"""DynamoDB tables: moto's CloudFormation updates none, and a table must not lose its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.local.cloudformation.api_type import ApiType
from constructs_qm.local.cloudformation.handlers import Instance

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Properties

__all__ = ["GlobalTable", "Table"]

_CREATED_WITH = (
    "AttributeDefinitions",
    "BillingMode",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexes",
    "KeySchema",
    "LocalSecondaryIndexes",
    "ProvisionedThroughput",
    "Tags",
)


class Table(ApiType):
    """AWS::DynamoDB::Table."""

    service = "dynamodb"
    name = "TableName"
    create_only = ("KeySchema", "LocalSecondaryIndexes")

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Make the table."""
        wanted = self.own(context, properties)
        request = {key: wanted[key] for key in _CREATED_WITH if key in wanted}
        if "StreamSpecification" in wanted:
            request["StreamSpecification"] = {**wanted["StreamSpecification"], "StreamEnabled": True}
        made = self.client(context).create_table(TableName=name, **request)["TableDescription"]
        attributes = {"Arn": made["TableArn"], "TableId": made.get("TableId", "")}
        if "LatestStreamArn" in made:
            attributes["StreamArn"] = made["LatestStreamArn"]
        self._set_options(context, name, {}, wanted)
        return Instance(name, attributes)

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        """Change what DynamoDB lets one change, indexes one at a time as it demands."""
        before, after = self.own(context, old), self.own(context, new)
        dynamodb, table = self.client(context), instance.physical_resource_id
        changed = {
            key: after[key]
            for key in ("BillingMode", "ProvisionedThroughput", "DeletionProtectionEnabled")
            if key in after and before.get(key) != after[key]
        }
        if changed:
            dynamodb.update_table(TableName=table, **changed)
        old_indexes, new_indexes = _indexes(before), _indexes(after)
        for name_ in old_indexes.keys() - new_indexes.keys():
            dynamodb.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name_}}])
        for name_ in new_indexes.keys() - old_indexes.keys():
            dynamodb.update_table(
                TableName=table,
                AttributeDefinitions=after["AttributeDefinitions"],
                GlobalSecondaryIndexUpdates=[{"Create": new_indexes[name_]}],
            )
        self._set_options(context, table, before, after)
        return instance

    def remove(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Delete the table."""
        self.client(context).delete_table(TableName=instance.physical_resource_id)

    def own(self, context: Context, properties: Properties) -> Properties:
        """Return the properties of the table in this Region."""
        return properties

    def _set_options(self, context: Context, table: str, old: Properties, new: Properties) -> None:
        """Set what has operations of its own."""
        dynamodb = self.client(context)
        for key, default, change in (
            ("TimeToLiveSpecification", {"Enabled": False}, dynamodb.update_time_to_live),
            (
                "PointInTimeRecoverySpecification",
                {"PointInTimeRecoveryEnabled": False},
                dynamodb.update_continuous_backups,
            ),
        ):
            before, after = old.get(key, default), new.get(key, default)
            if before != after:
                attribute = {"AttributeName": before["AttributeName"]} if "AttributeName" in before else {}
                change(TableName=table, **{key: {**attribute, **after}})


class GlobalTable(Table):
    """AWS::DynamoDB::GlobalTable, as CDK's ``TableV2`` makes it; its replicas elsewhere are left out."""

    def own(self, context: Context, properties: Properties) -> Properties:
        """Return the properties of this Region's replica together with those of the whole."""
        replicas: list[dict[str, Any]] = properties.get("Replicas", [])
        mine = next((replica for replica in replicas if replica["Region"] == context.region), {})
        options = ("DeletionProtectionEnabled", "PointInTimeRecoverySpecification", "Tags")
        return {**properties, **{key: mine[key] for key in options if key in mine}}


def _indexes(properties: Properties) -> dict[str, Any]:
    return {index["IndexName"]: index for index in properties.get("GlobalSecondaryIndexes", ())}
