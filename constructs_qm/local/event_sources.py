"""SQS queues as event sources of Lambda functions: batches, and partial failures.

moto calls a function with every single message, inside the call that sends it, and lets a batch
succeed or fail as a whole.
"""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from moto.awslambda.models import EventSourceMapping, LambdaBackend
from moto.awslambda.utils import get_backend
from moto.sqs import models as sqs_models
from moto.sqs.models import Queue, SQSBackend

from constructs_qm.local.current import current
from constructs_qm.local.internal_client import internal_client
from constructs_qm.local.lambdas import lambdas_of
from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PATCHES", "poll"]

_log = logging.getLogger(__name__)

AT_ONCE = 10
"""Messages of one ReceiveMessage (API ReceiveMessage)."""


_A_MOMENT = 0.001
"""A message can be seen after, not at, the end of its visibility timeout."""


def poll(mapping: EventSourceMapping) -> None:
    """Give a function what is in its queue, a batch at a time, until there is no more to be seen."""
    while mapping.enabled and _is_there(mapping):
        sqs = internal_client("sqs", mapping.account_id, mapping.region)
        url = sqs.get_queue_url(QueueName=mapping.event_source_arn.rpartition(":")[2])["QueueUrl"]
        messages = _receive(sqs, url, mapping.batch_size)
        if not messages:
            return
        failed = _call(mapping, messages)
        for message in messages:
            if message["MessageId"] not in failed:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        if failed:
            # they can be seen again after the visibility timeout, and so can messages they held up
            attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
            seconds = int(attributes["Attributes"]["VisibilityTimeout"])
            current().later(seconds + _A_MOMENT, partial(poll, mapping))


def _is_there(mapping: EventSourceMapping) -> bool:
    backend = get_backend(mapping.account_id, mapping.region)
    return backend.get_event_source_mapping(mapping.uuid) is mapping


def _receive(sqs: Any, url: str, most: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    while len(messages) < most:
        got = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=min(AT_ONCE, most - len(messages)),
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
            WaitTimeSeconds=0,
        ).get("Messages", [])
        if not got:
            break
        messages += got
    return messages


def _call(mapping: EventSourceMapping, messages: list[dict[str, Any]]) -> set[str]:
    """Call the function with a batch; return the ids of the messages that failed."""
    every = {message["MessageId"] for message in messages}
    function = get_backend(mapping.account_id, mapping.region).get_function(mapping.function_arn)
    event = {"Records": [_record(mapping, message) for message in messages]}
    outcome = lambdas_of(current()).invoke(function, json.dumps(event).encode())
    if outcome.failed:
        _log.warning("%s failed: %s", function.function_name, outcome.body.decode(errors="replace")[:500])
        return every
    if "ReportBatchItemFailures" not in (mapping.function_response_types or ()):
        return set()
    return _reported(outcome.body, every)


def _reported(answer: bytes, every: set[str]) -> set[str]:
    """Read ``batchItemFailures``; what can't be read fails the batch (AWS Lambda Developer Guide)."""
    try:
        document = json.loads(answer)
        failures = (document or {}).get("batchItemFailures") or []
        failed = {failure["itemIdentifier"] for failure in failures}
    except (ValueError, TypeError, KeyError, AttributeError):
        return every
    return failed if failed <= every else every


def _record(mapping: EventSourceMapping, message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a function gets it."""
    attributes = {
        name: {key[0].lower() + key[1:]: value for key, value in attribute.items()}
        for name, attribute in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": attributes,
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": mapping.event_source_arn,
        "awsRegion": mapping.region,
    }


# -- where moto is told ---------------------------------------------------------------


def _mappings_of(queue: Queue) -> list[EventSourceMapping]:
    backend = get_backend(queue.account_id, queue.region)
    return [
        mapping
        for mapping in backend.list_event_source_mappings(queue.queue_arn, "")
        if mapping.event_source_arn == queue.queue_arn
    ]


def _add_message(original: Callable[..., None]) -> Callable[..., None]:
    def add_message(self: Queue, message: Any) -> None:
        self.lambda_event_source_mappings.clear()  # so that moto calls nothing itself
        original(self, message)
        for mapping in _mappings_of(self):
            delay = message.delayed_until / 1000 - current().clock.now()
            current().later(max(float(mapping.max_batch_window or 0), delay, 0), partial(poll, mapping))

    return add_message


def _changed(original: Callable[..., Any]) -> Callable[..., Any]:
    """Poll a queue that was filled before its mapping was made or enabled."""

    def change(self: LambdaBackend, *args: Any, **kwargs: Any) -> Any:
        mapping = original(self, *args, **kwargs)
        if mapping is not None and ":sqs:" in mapping.event_source_arn:
            current().later(0, partial(poll, mapping))
        return mapping

    return change


# -- SQS's time is ours, but for long polls: they keep a client waiting --------------------


def _milliseconds(_: object) -> Callable[..., float]:
    """Let visibility timeouts and delays pass with our clock."""

    def unix_time_millis(dt: Any = None) -> float:
        return current().clock.now() * 1000

    return unix_time_millis


def _is_retained(_: object) -> Callable[..., bool]:
    """Let messages expire by our clock."""

    def is_message_valid_based_on_retention_period(self: SQSBackend, queue_name: str, message: Any) -> bool:
        seconds = int(self.get_queue(queue_name).message_retention_period)  # type: ignore[attr-defined]
        return bool(message.sent_timestamp / 1000 + seconds > current().clock.now())

    return is_message_valid_based_on_retention_period


PATCHES = [
    Patch(Queue, "add_message", "self message", _add_message),
    Patch(LambdaBackend, "create_event_source_mapping", "self spec", _changed),
    Patch(LambdaBackend, "update_event_source_mapping", "self uuid spec", _changed),
    Patch(sqs_models, "unix_time_millis", "dt", _milliseconds),
    Patch(SQSBackend, "is_message_valid_based_on_retention_period", "self queue_name message", _is_retained),
]
