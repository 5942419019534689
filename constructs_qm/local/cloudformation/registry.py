"""Which handler a resource type has: ours, moto's, or one that only records."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from moto.cloudformation.parsing import get_model_map

from constructs_qm.local.cloudformation.api_types import API_TYPES
from constructs_qm.local.cloudformation.batch_types import BATCH_TYPES
from constructs_qm.local.cloudformation.handlers import Instance
from constructs_qm.local.cloudformation.moto_types import FunctionType, MotoType

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Handler, Properties

__all__ = ["handler_for", "is_ours"]

_log = logging.getLogger(__name__)

OURS: dict[str, Handler] = {**BATCH_TYPES, **API_TYPES, "AWS::Lambda::Function": FunctionType()}


def is_ours(kind: str) -> bool:
    """Whether moto's class for a type isn't used, if it has one."""
    return kind in OURS or kind not in get_model_map()


def handler_for(kind: str, properties: Properties) -> Handler:
    """Return what deploys a resource of type `kind`."""
    if kind == "AWS::Batch::JobQueue" and "ServiceEnvironmentOrder" not in properties:
        return MotoType(kind)  # a queue of containers
    if kind in OURS:
        return OURS[kind]
    return MotoType(kind) if kind in get_model_map() else RecordedType(kind)


class RecordedInstance(Instance):
    """Has every attribute one asks for."""

    def get_cfn_attribute(self, name: str) -> Any:
        """Return something that looks right."""
        return self.attributes["Arn"] if name.endswith("Arn") else f"{self.physical_resource_id}-{name}"


class RecordedType:
    """A type nothing here knows: it is written down, and that is all.

    Parameters
    ----------
    kind : str
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def name_property(self) -> None:
        """Return None: which property names it isn't known."""

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether another resource takes its place: never."""
        return False

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Instance:
        """Write it down."""
        if self._kind != "AWS::CDK::Metadata":
            _log.warning("%s (%s) is recorded only: it does nothing here", logical_id, self._kind)
        service = self._kind.split("::")[1].lower() if "::" in self._kind else "custom"
        arn = f"arn:{context.partition}:{service}:{context.region}:{context.account}:{name}"
        return RecordedInstance(name, {"Arn": arn})

    def update(self, context: Context, instance: Instance, name: str, old: Properties, new: Properties) -> Instance:
        """Leave it as it is."""
        return instance

    def delete(self, context: Context, instance: Instance, properties: Properties) -> None:
        """Forget it."""
