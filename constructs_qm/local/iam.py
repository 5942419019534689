"""IAM isn't enforced: whoever asks is allowed, and whoever asks whether is told so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.core.responses import ActionResult
from moto.iam.access_control import PermissionResult
from moto.iam.policy_validation import BaseIAMPolicyValidator
from moto.iam.responses import IamResponse
from moto.s3.models import FakeBucket

from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PATCHES"]


def _simulate(_: None) -> Callable[[IamResponse], ActionResult]:
    """Make SimulatePrincipalPolicy, which SageMaker's SDK asks before a submission."""

    def simulate(self: IamResponse) -> ActionResult:
        resources = self._get_param("ResourceArns") or ["*"]
        results = [
            {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": "allowed"}
            for action in self._get_param("ActionNames") or ()
            for resource in resources
        ]
        return ActionResult({"EvaluationResults": results, "IsTruncated": False})

    return simulate


def _no_opinion(_: object) -> Callable[..., Any]:
    """Make bucket policies mere text: moto heeds them but not their conditions, so ``cdk bootstrap``'s denies all."""

    def get_permission(self: FakeBucket, action: str, resource: str) -> Any:
        return PermissionResult.NEUTRAL

    return get_permission


def _with_numbers(original: Any) -> Any:
    """Take numbers in conditions, which IAM does and moto doesn't (IAM user guide, supported data types)."""

    def validate(statement: dict[str, Any]) -> None:
        conditions = statement.get("Condition")
        if isinstance(conditions, dict):
            written = {operator: _numbers_as_text(keys) for operator, keys in conditions.items()}
            statement = {**statement, "Condition": written}
        original(statement)

    return staticmethod(validate)


def _numbers_as_text(keys: Any) -> Any:
    if not isinstance(keys, dict):
        return keys
    return {key: str(value) if isinstance(value, (int, float)) else value for key, value in keys.items()}


PATCHES = [
    Patch(IamResponse, "simulate_principal_policy", None, _simulate),
    Patch(BaseIAMPolicyValidator, "_validate_condition_syntax", "statement", _with_numbers),
    Patch(FakeBucket, "get_permission", "self action resource", _no_opinion),
]
