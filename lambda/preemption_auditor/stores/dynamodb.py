"""A store in one DynamoDB table, keyed by ``pk`` and ``sk``.

| pk | sk | holds |
|---|---|---|
| ``EVENTS#queue`` | time written ``#`` identity | an event, compressed |
| ``JOB#job`` | ``HOME`` | the queue of a job |
| ``JOB#job`` | ``EVENT#identity`` | an event that waits for it |
| ``QUEUES`` | queue | that a queue has events |
| ``STATE#queue`` | ``HEAD`` | lease, version, who committed it, and how many parts it has |
| ``STATE#queue`` | ``PART#version#who#kind#number`` | a part of the state, of the summary, or of the findings |
| ``FINDINGS#queue`` | key | a finding, the version it is of, and which revision of it was published |

A commit writes its parts, and then one conditional update of the head makes all of them count at
once. Its findings are brought to their own items after that; where a crash comes between, the next
lease does it. Parts of commits that failed are never read. Everything but the head, the list of queues
and the findings carries ``ttl``: to let parts expire costs nothing, while deleting one costs as much as
writing it. So a judge that doesn't run for as long as events are kept begins anew.
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from preemption_auditor.stores.base import Head, LeaseLostError, Store, StoredEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["DynamoDBStore"]

_PART = 350_000
"""Bytes of one part, of the 400 KB an item may have."""
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
        Days events are kept, and the state of the judge.
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
        news = self._read_parts(queue, item, "NEWS")
        if news is not None:
            self._show(
                queue, version, json.loads(zlib.decompress(news))
            )  # whoever committed them may not have come to that
        state = self._read_parts(queue, item, "STATE")
        return Head(version, int(item["written"]["N"]), state)

    def events(self, queue: str, since: int) -> Iterator[StoredEvent]:
        """Iterate over the events of a queue."""
        for item in self._query(f"EVENTS#{queue}", f"{since:015d}", "~"):
            yield StoredEvent(item["sk"]["S"], _text(item))

    def commit(self, queue: str, owner: str, head: Head, findings: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Store state, position and findings together."""
        version = head.version + 1
        kept = {"STATE": head.state, "SUMMARY": _packed(head.summary), "NEWS": _packed(findings or None)}
        end = _end(head.written, self._event_seconds)
        parts = {kind: self._write_parts(queue, version, owner, kind, body, end) for kind, body in kept.items()}
        try:
            self._client.update_item(
                TableName=self._table,
                Key=_key(f"STATE#{queue}", "HEAD"),
                UpdateExpression=(
                    "SET #owner = :nobody, #by = :owner, #version = :new, #parts = :parts, #written = :written"
                ),
                ConditionExpression="#owner = :owner AND (attribute_not_exists(#version) OR #version = :old)",
                ExpressionAttributeNames={f"#{name}": name for name in ("owner", "by", "version", "parts", "written")},
                ExpressionAttributeValues={
                    ":nobody": {"S": "-"},
                    ":owner": {"S": owner},
                    ":old": {"N": str(head.version)},
                    ":new": {"N": str(version)},
                    ":parts": {"M": {kind: {"N": str(count)} for kind, count in parts.items()}},
                    ":written": {"N": str(head.written)},
                },
            )
        except self._client.exceptions.ConditionalCheckFailedException as error:
            raise LeaseLostError(queue) from error
        self._show(queue, version, findings)

    def summary(self, queue: str) -> dict[str, Any] | None:
        """Return the summary of the last commit."""
        for _ in range(3):  # a commit may replace it between the head and its parts
            item = self._get(f"STATE#{queue}", "HEAD")
            if item is None or "version" not in item:
                return None
            packed = self._read_parts(queue, item, "SUMMARY")
            if packed is not None:
                summary: dict[str, Any] = json.loads(zlib.decompress(packed))
                return summary
        return None

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

    def _show(self, queue: str, version: int, findings: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Bring the findings of a version to their own items, and leave alone those of a later one."""
        for key, document in findings:
            with suppress(self._client.exceptions.ConditionalCheckFailedException):
                self._client.update_item(
                    TableName=self._table,
                    Key=_key(f"FINDINGS#{queue}", key),
                    UpdateExpression="SET #document = :document, #revision = :revision, #version = :version",
                    ConditionExpression="attribute_not_exists(#version) OR #version < :version",
                    ExpressionAttributeNames={f"#{name}": name for name in ("document", "revision", "version")},
                    ExpressionAttributeValues={
                        ":document": {"S": json.dumps(document)},
                        ":revision": {"N": str(document["revision"])},
                        ":version": {"N": str(version)},
                    },
                )

    def _write_parts(
        self, queue: str, version: int, owner: str, kind: str, body: bytes | None, end: dict[str, str]
    ) -> int:
        """Write something in parts, and return how many there are."""
        starts = range(0, len(body or b""), _PART)
        for number, start in enumerate(starts):
            part = {"B": (body or b"")[start : start + _PART]}
            self._put(f"STATE#{queue}", _part(version, owner, kind, number), body=part, ttl=end)
        return len(starts)

    def _read_parts(self, queue: str, head: dict[str, Any], kind: str) -> bytes | None:
        """Return what a head has parts of; None where it has none, or where they were replaced meanwhile."""
        version, owner = int(head["version"]["N"]), head["by"]["S"]
        numbers = range(int(head["parts"]["M"][kind]["N"]))
        parts = [self._get(f"STATE#{queue}", _part(version, owner, kind, number)) for number in numbers]
        found = [part["body"]["B"] for part in parts if part is not None]
        return b"".join(found) if found and len(found) == len(parts) else None

    def _put(self, pk: str, sk: str, **attributes: dict[str, Any]) -> None:
        self._client.put_item(TableName=self._table, Item={**_key(pk, sk), **attributes})

    def _get(self, pk: str, sk: str) -> dict[str, Any] | None:
        answer = self._client.get_item(TableName=self._table, Key=_key(pk, sk), ConsistentRead=True)
        item: dict[str, Any] | None = answer.get("Item")
        return item

    def _query(self, pk: str, first: str, last: str) -> Iterator[dict[str, Any]]:
        """Iterate over the items of a partition between two sort keys."""
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {":pk": {"S": pk}, ":first": {"S": first}, ":last": {"S": last}},
            "ConsistentRead": True,
        }
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


def _part(version: int, owner: str, kind: str, number: int) -> str:
    return f"PART#{version:012d}#{owner}#{kind}#{number:04d}"


def _packed(value: object) -> bytes | None:
    return None if value is None else zlib.compress(json.dumps(value).encode())


def _text(item: dict[str, Any]) -> str:
    return zlib.decompress(item["body"]["B"]).decode()
