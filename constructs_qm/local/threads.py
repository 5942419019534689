"""Safe under concurrent clients: what moto leaves to luck.

DynamoDB's operations read, check and write without a lock, so that threads lose each other's
updates. One lock for this service only: a long poll in SQS, or a function that calls back, must
not wait for it.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from moto.awslambda.models import LambdaBackend
from moto.dynamodb.responses import DynamoHandler

from constructs_qm.local.current import current
from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PATCHES"]

_dynamodb = threading.RLock()


def _one_at_a_time(original: Callable[[DynamoHandler], Any]) -> Callable[[DynamoHandler], Any]:
    def call_action(self: DynamoHandler) -> Any:
        with _dynamodb:
            return original(self)

    return call_action


def _afterwards(original: Callable[..., Any]) -> Callable[..., bool]:
    """Call functions for a table's stream outside the lock: they may want to write to a table."""

    def send_dynamodb_items(self: LambdaBackend, function_arn: str, items: Any, source: str) -> bool:
        current().later(0, partial(original, self, function_arn, list(items), source))
        return True

    return send_dynamodb_items


PATCHES = [
    Patch(DynamoHandler, "call_action", "self", _one_at_a_time),
    Patch(LambdaBackend, "send_dynamodb_items", "self function_arn items source", _afterwards),
]
