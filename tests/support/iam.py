"""A small evaluator of identity policies, as IAM documents it, for what the constructs render."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

ACCOUNT, REGION = "123456789012", "eu-west-1"
BATCH = f"arn:aws:batch:{REGION}:{ACCOUNT}"


def statements_of(resources: dict[str, Any], role: str) -> list[dict[str, Any]]:
    """Return the statements attached to the role with this logical id, with real ARNs."""
    return [
        _concrete(statement, resources)
        for resource in resources.values()
        if resource["Type"] == "AWS::IAM::Policy" and {"Ref": role} in resource["Properties"]["Roles"]
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
    ]


def allows(statements: list[dict[str, Any]], action: str, resources: list[str], context: dict[str, Any]) -> bool:
    """Tell whether the request is allowed: on each of its resources, by some statement."""
    assert all(statement["Effect"] == "Allow" for statement in statements)
    return all(any(_applies(s, action, resource, context) for s in statements) for resource in resources)


def _applies(statement: dict[str, Any], action: str, resource: str, context: dict[str, Any]) -> bool:
    return (
        any(fnmatchcase(action.lower(), pattern.lower()) for pattern in _list(statement["Action"]))
        and any(fnmatchcase(resource, pattern) for pattern in _list(statement["Resource"]))
        and all(
            _holds(operator, wanted, context.get(key))
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _holds(operator: str, wanted: Any, given: Any) -> bool:
    if given is None:
        return operator.endswith("IfExists")
    match operator.removesuffix("IfExists"):
        case "StringEquals":
            return bool(given in _list(wanted))
        case "NumericLessThanEquals":
            return bool(given <= float(wanted))
    raise NotImplementedError(operator)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _concrete(value: Any, resources: dict[str, Any]) -> Any:
    """Replace the intrinsic functions of a template, so that ARNs can be matched."""
    if isinstance(value, list):
        return [_concrete(item, resources) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"Fn::Join": [separator, parts]}:
            return separator.join(_concrete(parts, resources))
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Fn::GetAtt": [logical_id, _]}:
            return _arn(resources[logical_id], resources)
    return {key: _concrete(item, resources) for key, item in value.items()}


def _arn(resource: dict[str, Any], resources: dict[str, Any]) -> str:
    properties = resource["Properties"]
    match resource["Type"]:
        case "AWS::Batch::JobQueue":
            return f"{BATCH}:job-queue/{properties['JobQueueName']}"
        case "AWS::Batch::ServiceEnvironment":
            return f"{BATCH}:service-environment/{properties['ServiceEnvironmentName']}"
        case "AWS::Batch::QuotaShare":
            queue = _concrete(properties["JobQueue"], resources)
            return f"{queue}/quota-share/{properties['QuotaShareName']}"
        case "AWS::IAM::Role":
            return f"arn:aws:iam::{ACCOUNT}:role/{properties['RoleName']}"
    raise NotImplementedError(resource["Type"])
