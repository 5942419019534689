"""Delivering a message to what an ARN names, for EventBridge's rules and Scheduler's schedules alike."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from constructs_qm.local.internal_client import internal_client

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Target", "deliver"]


class Target:
    """Where a message goes.

    Parameters
    ----------
    description : dict
        As PutTargets and CreateSchedule have it; ``Arn`` and, where the service needs any, parameters.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.arn: str = description["Arn"]
        parts = self.arn.split(":", 5)
        self.service, self.region, self.account, self.resource = parts[2], parts[3], parts[4], parts[5]
        self.parameters = description

    def client(self, service: str) -> Any:
        """Return a client of the target's account and Region."""
        return internal_client(service, self.account, self.region)


def deliver(target: Target, message: str, account: str, region: str) -> bool:
    """Send `message` to `target`.

    Parameters
    ----------
    target : Target
    message : str
        JSON.
    account, region : str
        The sender's, for targets without one of their own.

    Returns
    -------
    bool
        Whether this kind of target is known here.

    Raises
    ------
    ClientError
        The target isn't there, or doesn't take it.
    """
    universal = re.fullmatch(r"arn:[\w-]+:scheduler:::aws-sdk:(\w+):(\w+)", target.arn)
    if universal:
        _call(universal[1], universal[2], message, account, region)
        return True
    send = _SERVICES.get(target.service)
    if send is not None:
        send(target, message)
    return send is not None


def _call(service: str, operation: str, message: str, account: str, region: str) -> None:
    """Call any AWS operation, as Scheduler's universal targets do."""
    client = internal_client(_SDK_NAMES.get(service, service), account, region)
    method = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
    getattr(client, method)(**json.loads(message or "{}"))


_SDK_NAMES = {"eventbridge": "events", "sfn": "stepfunctions"}
"""Names of services in Scheduler's universal targets that botocore spells otherwise."""


def _to_queue(target: Target, message: str) -> None:
    sqs = target.client("sqs")
    url = sqs.get_queue_url(QueueName=target.resource)["QueueUrl"]
    group = target.parameters.get("SqsParameters", {}).get("MessageGroupId")
    more = {"MessageGroupId": group} if group is not None else {}
    sqs.send_message(QueueUrl=url, MessageBody=message, **more)


def _to_function(target: Target, message: str) -> None:
    target.client("lambda").invoke(FunctionName=target.arn, InvocationType="Event", Payload=message)


def _to_topic(target: Target, message: str) -> None:
    target.client("sns").publish(TopicArn=target.arn, Message=message)


def _to_state_machine(target: Target, message: str) -> None:
    target.client("stepfunctions").start_execution(stateMachineArn=target.arn, input=message)


def _to_stream(target: Target, message: str) -> None:
    name = target.resource.partition("/")[2]
    target.client("kinesis").put_record(StreamName=name, Data=message.encode(), PartitionKey="local")


def _to_log_group(target: Target, message: str) -> None:
    logs, group = target.client("logs"), target.resource.split(":")[1]
    stream = str(uuid4())
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    # CloudWatch Logs takes nothing that is weeks old, whatever our own clock says
    entry = {"timestamp": int(time.time() * 1000), "message": message}
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[entry])


_SERVICES: dict[str, Callable[[Target, str], None]] = {
    "sqs": _to_queue,
    "lambda": _to_function,
    "sns": _to_topic,
    "states": _to_state_machine,
    "kinesis": _to_stream,
    "logs": _to_log_group,
}
