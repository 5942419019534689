"""A store in one DynamoDB table, keyed by ``pk`` and ``sk``.

| pk | sk | holds |
|---|---|---|
| ``EVENTS#queue`` | time written ``#`` identity | an event, compressed |
| ``JOB#job`` | ``HOME`` | the queue of a job |
| ``JOB#job`` | ``EVENT#identity`` | an event that waits for it |
| ``QUEUES`` | queue | that a queue has events |
| ``STATE#queue`` | ``HEAD`` | lease, version, and how many parts the state has |
| ``STATE#queue`` | ``PART#version#number`` | a part of the state |
| ``FINDINGS#queue`` | key | a finding, and which revision of it was published |

The parts of a state and the findings beyond what one transaction takes are written before the
commit; what a crash leaves of them is never read, or written again alike. Items that lose their use
carry ``ttl``.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from preemption_auditor.stores.base import Head, LeaseLostError, Store, StoredEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DynamoDBStore"]

_PART = 350_000
"""Bytes of a state in one item, of the 400 KB it may have."""
_TOGETHER = 90
"""Findings that are committed in the transaction itself, of the 100 items it may have."""
_REMEMBERED = 100_000
"""Jobs an instance remembers the queue of, so as not to store it again."""
_DAY = 86_400


class DynamoDBStore(Store):
    """Keeps everything in one table.

    Parameters
    ----------
    client : object
        A client such as ``boto3.client("dynamodb")``.
    table : str
        Name of a table with the string keys ``pk`` and ``sk``.
    event_days : int
        Days events are kept.
    """

    def __init__(self, client: Any, table: str, *, event_days: int = 7) -> None:
        self._client = client
        self._table = table
        self._event_seconds = event_days * _DAY
        self._known: set[tuple[str, str]] = set()

    # -- for ingest ------------------------------------------------------------------------

    def add_event(self, queue: str, identity: str, body: str, now: int) -> None:
        """Store an event of a queue."""
        packed = {"B": zlib.compress(body.encode())}
        self._put(f"EVENTS#{queue}", f"{now:015d}#{identity}", body=packed, ttl=_end(now, self._event_seconds))
        if ("", queue) not in self._known:
            self._put("QUEUES", queue)
            self._known.add(("", queue))

    def add_orphan(self, job: str, identity: str, body: str, now: int) -> None:
        """Store an event of a job whose queue isn't known yet."""
        packed = {"B": zlib.compress(body.encode())}
        self._put(f"JOB#{job}", f"EVENT#{identity}", body=packed, ttl=_end(now, self._event_seconds))

    def settle(self, job: str, queue: str, now: int) -> None:
        """Note the queue of a job; an instance that knows it already does nothing."""
        if (job, queue) in self._known:
            return
        self._put(f"JOB#{job}", "HOME", queue={"S": queue}, ttl=_end(now, 10 * self._event_seconds))
        for item in self._query(f"JOB#{job}", "EVENT#", "EVENT$"):
            self.add_event(queue, item["sk"]["S"].removeprefix("EVENT#"), _text(item), now)
            key = {"pk": item["pk"], "sk": item["sk"]}
            self._client.delete_item(TableName=self._table, Key=key)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known.add((job, queue))

    def home(self, job: str) -> str | None:
        """Return the queue of a job."""
        item = self._get(f"JOB#{job}", "HOME")
        return None if item is None else str(item["queue"]["S"])

    def queues(self) -> list[str]:
        """Return the queues that have events."""
        return [item["sk"]["S"] for item in self._query("QUEUES", " ", "~")]

    # -- for the judge ---------------------------------------------------------------------

    def lease(self, queue: str, owner: str, now: int, milliseconds: int) -> Head | None:
        """Take the queue for a time."""
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key=_key(f"STATE#{queue}", "HEAD"),
                UpdateExpression="SET #owner = :owner, #until = :until",
                ConditionExpression="attribute_not_exists(#owner) OR #owner IN (:owner, :nobody) OR #until <= :now",
                ExpressionAttributeNames={"#owner": "owner", "#until": "until"},
                ExpressionAttributeValues={
                    ":owner": {"S": owner},
                    ":nobody": {"S": "-"},
                    ":now": {"N": str(now)},
                    ":until": {"N": str(now + milliseconds)},
                },
                ReturnValues="ALL_NEW",
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return None
        item = answer["Attributes"]
        if "version" not in item:
            return Head()
        version = int(item["version"]["N"])
        parts = [self._get(f"STATE#{queue}", _part(version, number)) for number in range(int(item["parts"]["N"]))]
        state = b"".join(part["body"]["B"] for part in parts if part is not None)
        return Head(version, int(item["written"]["N"]), state if all(parts) else None)

    def events(self, queue: str, since: int) -> Iterator[StoredEvent]:
        """Iterate over the events of a queue."""
        for item in self._query(f"EVENTS#{queue}", f"{since:015d}", "~"):
            yield StoredEvent(item["sk"]["S"], _text(item))

    def commit(self, queue: str, owner: str, head: Head, findings: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Store state, position and findings together."""
        version = head.version + 1
        state = head.state or b""
        parts = [state[start : start + _PART] for start in range(0, len(state), _PART)]
        for number, part in enumerate(parts):
            self._put(f"STATE#{queue}", _part(version, number), body={"B": part})
        together = [self._finding(queue, key, document) for key, document in findings]
        for update in together[_TOGETHER:]:
            self._client.update_item(**update)
        advance = {
            "TableName": self._table,
            "Key": _key(f"STATE#{queue}", "HEAD"),
            "UpdateExpression": "SET #owner = :nobody, #version = :new, #parts = :parts, #written = :written",
            "ConditionExpression": "#owner = :owner AND (attribute_not_exists(#version) OR #version = :old)",
            "ExpressionAttributeNames": {f"#{name}": name for name in ("owner", "version", "parts", "written")},
            "ExpressionAttributeValues": {
                ":nobody": {"S": "-"},
                ":owner": {"S": owner},
                ":old": {"N": str(head.version)},
                ":new": {"N": str(version)},
                ":parts": {"N": str(len(parts))},
                ":written": {"N": str(head.written)},
            },
        }
        try:
            self._client.transact_write_items(
                TransactItems=[{"Update": advance}, *({"Update": update} for update in together[:_TOGETHER])]
            )
        except self._client.exceptions.TransactionCanceledException as error:
            raise LeaseLostError(queue) from error
        self._drop_parts(queue, head.version)

    def findings(self, queue: str) -> list[dict[str, Any]]:
        """Return the findings of a queue."""
        return [json.loads(item["document"]["S"]) for item in self._query(f"FINDINGS#{queue}", " ", "~")]

    def unpublished(self, queue: str) -> list[tuple[str, dict[str, Any]]]:
        """Return findings that weren't published as they are now."""
        return [
            (item["sk"]["S"], json.loads(item["document"]["S"]))
            for item in self._query(f"FINDINGS#{queue}", " ", "~")
            if int(item.get("published", {"N": "-1"})["N"]) < int(item["revision"]["N"])
        ]

    def mark_published(self, queue: str, key: str, revision: int) -> None:
        """Note that a revision of a finding was published."""
        self._client.update_item(
            TableName=self._table,
            Key=_key(f"FINDINGS#{queue}", key),
            UpdateExpression="SET #published = :revision",
            ExpressionAttributeNames={"#published": "published"},
            ExpressionAttributeValues={":revision": {"N": str(revision)}},
        )

    # -- the table -------------------------------------------------------------------------

    def _finding(self, queue: str, key: str, document: dict[str, Any]) -> dict[str, Any]:
        """Return the update that stores a finding, and leaves alone what was published of it."""
        return {
            "TableName": self._table,
            "Key": _key(f"FINDINGS#{queue}", key),
            "UpdateExpression": "SET #document = :document, #revision = :revision",
            "ExpressionAttributeNames": {"#document": "document", "#revision": "revision"},
            "ExpressionAttributeValues": {
                ":document": {"S": json.dumps(document)},
                ":revision": {"N": str(document["revision"])},
            },
        }

    def _drop_parts(self, queue: str, version: int) -> None:
        """Delete the parts of a version that was replaced; what a crash leaves of them is deleted the next time."""
        for item in self._query(f"STATE#{queue}", "PART#", f"{_part(version, 0)[:-4]}~", projection="pk, sk"):
            self._client.delete_item(TableName=self._table, Key={"pk": item["pk"], "sk": item["sk"]})

    def _put(self, pk: str, sk: str, **attributes: dict[str, Any]) -> None:
        self._client.put_item(TableName=self._table, Item={**_key(pk, sk), **attributes})

    def _get(self, pk: str, sk: str) -> dict[str, Any] | None:
        answer = self._client.get_item(TableName=self._table, Key=_key(pk, sk), ConsistentRead=True)
        item: dict[str, Any] | None = answer.get("Item")
        return item

    def _query(self, pk: str, first: str, last: str, projection: str | None = None) -> Iterator[dict[str, Any]]:
        """Iterate over the items of a partition between two sort keys."""
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {":pk": {"S": pk}, ":first": {"S": first}, ":last": {"S": last}},
            "ConsistentRead": True,
        }
        if projection is not None:
            request["ProjectionExpression"] = projection
        while True:
            answer = self._client.query(**request)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _key(pk: str, sk: str) -> dict[str, dict[str, str]]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _end(now: int, seconds: int) -> dict[str, str]:
    """Return when an item has lost its use."""
    return {"N": str(now // 1000 + seconds)}


def _part(version: int, number: int) -> str:
    return f"PART#{version:012d}#{number:04d}"


def _text(item: dict[str, Any]) -> str:
    return zlib.decompress(item["body"]["B"]).decode()
