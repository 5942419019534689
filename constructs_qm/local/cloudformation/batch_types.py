"""The four Batch resources of quota management as CloudFormation types (CloudFormation template reference)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from moto.batch.models import batch_backends

from constructs_qm.local.cloudformation.handlers import Instance
from constructs_qm.local.current import current
from constructs_qm.local.lifecycle import complete
from constructs_qm.local.service_model import batch_model, read_request

if TYPE_CHECKING:
    from constructs_qm.local.backend import QuotaBatchBackend
    from constructs_qm.local.cloudformation.handlers import Context, Properties
    from constructs_qm.local.state import BatchState

__all__ = ["BATCH_TYPES"]


@dataclass(frozen=True)
class BatchType:
    """A type whose properties are those of Batch's own operations.

    Parameters
    ----------
    noun : str
        Of the operations, e.g. ``QuotaShare`` in CreateQuotaShare.
    name : str
        The property that names a resource.
    create_only : frozenset of str
        Properties whose change makes another resource.
    id_member : str
        Member of the update and delete operations that says which resource is meant.
    arn_member : str
        Member of the create operation's answer with the ARN, which ``Ref`` gives.
    attribute : str
        The attribute ``Fn::GetAtt`` has.
    disables : bool
        Whether a resource has to be DISABLED before it is deleted.
    """

    noun: str
    name: str
    create_only: frozenset[str]
    id_member: str
    arn_member: str
    attribute: str
    disables: bool = True

    def name_property(self) -> str:
        """Return the property that names a resource."""
        return self.name

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether a create-only property changed."""
        return any(old.get(key) != new.get(key) for key in self.create_only)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Create the resource and wait until it is VALID, as CloudFormation does."""
        request = _request({**properties, self.name: name})
        tags = {**context.tags, **request.get("tags", {})}
        answer = _perform(context, f"Create{self.noun}", {**request, **({"tags": tags} if tags else {})})
        arn = answer[self.arn_member]
        _settle(context, arn)
        return Instance(arn, {self.attribute: arn})

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        """Change what may be changed; the rest are tags."""
        arn = instance.physical_resource_id
        settable = {
            key: value for key, value in new.items() if key not in self.create_only and key not in (self.name, "Tags")
        }
        if "State" in old and "State" not in settable:
            settable["State"] = "ENABLED"  # the default, which a missing property goes back to
        _perform(context, f"Update{self.noun}", {**_request(settable), self.id_member: arn})
        _settle(context, arn)
        _update_tags(context, arn, old.get("Tags", {}), new.get("Tags", {}))
        return instance

    def delete(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Disable and delete the resource, and wait until it is gone."""
        arn = instance.physical_resource_id
        if _state(context).find(arn) is None:
            return
        if self.disables:
            _perform(context, f"Update{self.noun}", {self.id_member: arn, "state": "DISABLED"})
            _settle(context, arn)
        _perform(context, f"Delete{self.noun}", {self.id_member: arn})
        _settle(context, arn)


BATCH_TYPES = {
    "AWS::Batch::SchedulingPolicy": BatchType(
        noun="SchedulingPolicy",
        name="Name",
        create_only=frozenset({"Name"}),
        id_member="arn",
        arn_member="arn",
        attribute="Arn",
        disables=False,
    ),
    "AWS::Batch::ServiceEnvironment": BatchType(
        noun="ServiceEnvironment",
        name="ServiceEnvironmentName",
        create_only=frozenset({"ServiceEnvironmentName", "ServiceEnvironmentType"}),
        id_member="serviceEnvironment",
        arn_member="serviceEnvironmentArn",
        attribute="ServiceEnvironmentArn",
    ),
    "AWS::Batch::JobQueue": BatchType(
        noun="JobQueue",
        name="JobQueueName",
        create_only=frozenset({"JobQueueName", "JobQueueType"}),
        id_member="jobQueue",
        arn_member="jobQueueArn",
        attribute="JobQueueArn",
    ),
    "AWS::Batch::QuotaShare": BatchType(
        noun="QuotaShare",
        name="QuotaShareName",
        create_only=frozenset({"QuotaShareName", "JobQueue"}),
        id_member="quotaShareArn",
        arn_member="quotaShareArn",
        attribute="QuotaShareArn",
    ),
}


def _state(context: Context) -> BatchState:
    return cast("QuotaBatchBackend", batch_backends[context.account][context.region]).quota


def _perform(context: Context, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    checked = read_request(batch_model().operation_model(operation), request)
    return current().perform(_state(context), operation, checked)


def _settle(context: Context, arn: str) -> None:
    """Let a resource's transition end now: CloudFormation waits for it, and time must not have to pass."""
    resource = _state(context).find(arn)
    if resource is not None:
        complete(resource)


def _update_tags(context: Context, arn: str, old: dict[str, str], new: dict[str, str]) -> None:
    gone = [key for key in old if key not in new]
    if gone:
        _perform(context, "UntagResource", {"resourceArn": arn, "tagKeys": gone})
    if new and new != old:
        _perform(context, "TagResource", {"resourceArn": arn, "tags": new})


def _request(properties: Any) -> Any:
    """Return properties as the members of an API request: names begin with a small letter."""
    if isinstance(properties, dict):
        return {
            key[0].lower() + key[1:]: value if key == "Tags" else _request(value) for key, value in properties.items()
        }
    return [_request(entry) for entry in properties] if isinstance(properties, list) else properties
