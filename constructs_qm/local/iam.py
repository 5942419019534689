"""IAM's SimulatePrincipalPolicy, which SageMaker's SDK asks before a submission: all is allowed here."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.responses import IamResponse

from constructs_qm.local.patches import Patch

__all__ = ["PATCHES"]


def _simulate(_: None) -> Any:
    def simulate(self: IamResponse) -> ActionResult:
        resources = self._get_param("ResourceArns") or ["*"]
        results = [
            {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": "allowed"}
            for action in self._get_param("ActionNames") or ()
            for resource in resources
        ]
        return ActionResult({"EvaluationResults": results, "IsTruncated": False})

    return simulate


PATCHES = [Patch(IamResponse, "simulate_principal_policy", None, _simulate)]
