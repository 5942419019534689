"""Resource types that moto models."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from moto.cloudformation.parsing import get_model_map

if TYPE_CHECKING:
    from constructs_qm.local.cloudformation.handlers import Context, Properties

__all__ = ["FunctionType", "MotoType"]


class MotoType:
    """A type of moto's, through moto's own classes.

    Parameters
    ----------
    kind : str
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._model = get_model_map()[kind]

    def name_property(self) -> str | None:
        """Return the property that names a resource."""
        return self._model.cloudformation_name_type() or None

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether an update makes another resource: where moto has no update, and where the name changes."""
        name = self.name_property() or ""
        return not _has(self._model, "update_from_cloudformation_json") or old.get(name) != new.get(name)

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Any:
        """Create the resource."""
        return self._model.create_from_cloudformation_json(
            name,
            self._document(properties),
            context.account,
            context.region,
            LogicalId=logical_id,
            StackId=context.stack_id,
            ResourceType=self._kind,
        )

    def update(self, context: Context, instance: Any, name: str, old: Properties, new: Properties) -> Any:
        """Update the resource."""
        changed = self._model.update_from_cloudformation_json(
            original_resource=instance,
            new_resource_name=name,
            cloudformation_json=self._document(new),
            account_id=context.account,
            region_name=context.region,
        )
        return instance if changed is None else changed

    def delete(self, context: Context, instance: Any, properties: Properties) -> None:
        """Delete the resource, in whichever of moto's ways it has."""
        method = getattr(instance, "delete", None)
        if method is not None:
            try:
                method(context.account, context.region)
            except TypeError:
                pass
            else:
                return
        if _has(self._model, "delete_from_cloudformation_json"):
            self._model.delete_from_cloudformation_json(
                instance.physical_resource_id, self._document(properties), context.account, context.region
            )

    def _document(self, properties: Properties) -> dict[str, Any]:
        # moto's classes write into what they are given
        return {"Type": self._kind, "Properties": copy.deepcopy(properties)}


class FunctionType(MotoType):
    """AWS::Lambda::Function: moto's sets no layers, nor a log group, and an update keeps what left the template."""

    _DEFAULTS: ClassVar[Properties] = {
        "Description": "",
        "Environment": {"Variables": {}},
        "Layers": [],
        "MemorySize": 128,
        "Timeout": 3,
    }

    def __init__(self) -> None:
        super().__init__("AWS::Lambda::Function")

    def replaces(self, old: Properties, new: Properties) -> bool:
        """Whether the name or the kind of package changes."""
        return any(old.get(key) != new.get(key) for key in ("FunctionName", "PackageType"))

    def create(self, context: Context, logical_id: str, name: str, properties: Properties) -> Any:
        """Create the function with its layers."""
        function = super().create(context, logical_id, name[-64:], properties)
        function.update_configuration({"Layers": properties.get("Layers", [])})
        self._set_log_group(function, properties)
        return function

    def update(self, context: Context, instance: Any, name: str, old: Properties, new: Properties) -> Any:
        """Change its configuration, and its code where that changed."""
        instance.update_configuration(copy.deepcopy({**self._DEFAULTS, **new}))
        self._set_log_group(instance, new)
        if old["Code"] != new["Code"]:
            instance.update_function_code(copy.deepcopy(new["Code"]))
        return instance

    def _set_log_group(self, function: Any, properties: Properties) -> None:
        own = f"/aws/lambda/{function.function_name}"
        function.logs_group_name = properties.get("LoggingConfig", {}).get("LogGroup", own)


def _has(model: Any, name: str) -> bool:
    return not hasattr(getattr(model, name), "__isabstractmethod__")
