"""A DynamoDB client that counts what its requests are billed for (Amazon DynamoDB Developer Guide, on-demand)."""

from __future__ import annotations

import math
from typing import Any

WRITE, READ = 1024, 4096
"""Bytes of a write unit and of a consistent read unit."""


class Counting:
    """Counts the read and write units of the requests the auditor's store makes.

    A transaction counts twice, a deletion for what it deletes, and a query for all it looks at, projected or not.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.exceptions = client.exceptions
        self.reads = self.writes = 0
        self.operations: set[str] = set()
        self._sizes: dict[tuple[str, str], int] = {}

    def put_item(self, **request: Any) -> Any:
        self._write("PutItem", request["Item"], _size(request["Item"]))
        return self._client.put_item(**request)

    def delete_item(self, **request: Any) -> Any:
        self._write("DeleteItem", request["Key"], self._sizes.pop(_key(request["Key"]), 0))
        return self._client.delete_item(**request)

    def update_item(self, **request: Any) -> Any:
        self._update(request)
        return self._client.update_item(**request)

    def transact_write_items(self, **request: Any) -> Any:
        for item in request["TransactItems"]:
            self._update(item["Update"], times=2)
        return self._client.transact_write_items(**request)

    def get_item(self, **request: Any) -> Any:
        self.operations.add("GetItem")
        answer = self._client.get_item(**request)
        self.reads += _units(_size(answer.get("Item", {})), READ)
        return answer

    def query(self, **request: Any) -> Any:
        self.operations.add("Query")
        answer = self._client.query(**request)
        self.reads += _units(sum(self._sizes.get(_key(item), _size(item)) for item in answer["Items"]), READ)
        return answer

    def _update(self, request: dict[str, Any], times: int = 1) -> None:
        size = _size(request["Key"]) + _size(request["ExpressionAttributeValues"])
        self._write("UpdateItem", request["Key"], max(size, self._sizes.get(_key(request["Key"]), 0)), times)

    def _write(self, operation: str, key: dict[str, Any], size: int, times: int = 1) -> None:
        self.operations.add(operation)
        self.writes += times * _units(size, WRITE)
        if operation != "DeleteItem":
            self._sizes[_key(key)] = size


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _size(item: dict[str, Any]) -> int:
    """Return the bytes of an item: names and values."""
    return sum(len(name) + len(next(iter(value.values()))) for name, value in item.items())


def _units(size: int, of: int) -> int:
    return max(1, math.ceil(size / of))
