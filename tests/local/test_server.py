"""The HTTP server: where it listens, how it ends, and what it does with nonsense."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from typing import Any

import boto3
import pytest
from local.world import World

from constructs_qm.local import SteppedClock
from constructs_qm.local.server import start

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/batch/aws4_request, "
    "SignedHeaders=host, Signature=0"
)


def _send(world: World, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
    assert world.url is not None
    connection = http.client.HTTPConnection(world.url.removeprefix("http://"), timeout=10)
    connection.request(method, path, body, {"Authorization": AUTHORIZATION, **headers})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, json.loads(text) if text else None


def test_listens_on_the_loopback_address_only(served: World) -> None:
    assert served.url is not None
    assert served.url.startswith("http://127.0.0.1:")


def test_a_taken_port_is_an_error_that_leaves_nothing_behind() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="the port is taken"):
            start(taken.getsockname()[1])
    with start(clock=SteppedClock()) as server:
        World(server.endpoint, server.url).make_queue()


def test_nothing_is_left_after_stop() -> None:
    threads = set(threading.enumerate())
    with start() as server:
        World(server.endpoint, server.url).make_queue()
        boto3.client("s3", endpoint_url=server.url).create_bucket(Bucket="mine")
    server.stop()
    assert set(threading.enumerate()) <= threads
    with start(clock=SteppedClock()) as server:
        world = World(server.endpoint, server.url)
        assert world.batch.describe_job_queues()["jobQueues"] == []
        assert world.client("s3").list_buckets()["Buckets"] == []


def test_the_clock_over_http(served: World) -> None:
    before = _send(served, "GET", "/_quota/clock")[1]["now"]
    assert _send(served, "POST", "/_quota/clock", b'{"advance": 90}') == (200, {"now": before + 90})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/_quota/clock", b'{"advance": -1}'),
        ("POST", "/_quota/clock", b'{"advance": "x"}'),
        ("POST", "/_quota/clock", b"{"),
        ("POST", "/_quota/clock", b"[]"),
        ("POST", "/_quota/clock", b"\xff"),
        ("POST", "/_quota/nothing", b""),
        ("DELETE", "/_quota/events", b""),
        ("POST", "/v1/createquotashare", b""),
        ("POST", "/v1/createquotashare", b"{"),
        ("POST", "/v1/createquotashare", b"[]"),
        ("POST", "/v1/createquotashare", b"null"),
        ("POST", "/v1/createquotashare", b"\xff\xfe"),
        ("POST", "/v1/createquotashare", b"[" * 100_000),
        ("POST", "/v1/createquotashare", b'{"quotaShareName": NaN}'),
        ("POST", "/v1/nothing", b"{}"),
        ("GET", "/v1/createquotashare", b"{}"),
        ("PUT", "/v1/tags/x", b"{}"),
        ("GET", "/v1/tags/x", b"{}"),
        ("DELETE", "/v1/tags/x", b""),
        ("POST", "/v1/describejobqueues", b'{"maxResults": 1e400}'),
        ("POST", "/v1/describejobqueues", b'{"maxResults": 99999999999999999999}'),
        ("POST", "/v1/describejobqueues", b'{"jobQueues": "\\ud800"}'),
    ],
)
def test_nonsense_is_the_clients_fault(served: World, method: str, path: str, body: bytes) -> None:
    status, answer = _send(served, method, path, body)
    assert status == 400
    assert answer["message"]
    served.make_queue()


def test_clients_at_once(served: World) -> None:
    """Twenty clients submit at the same time; every job is there once."""
    served.make_queue()
    served.make_share("s")

    def submit(number: int) -> None:
        world = World(served.endpoint, served.url)
        for turn in range(5):
            world.submit(f"job-{number}-{turn}", "s")

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(served.statuses()) == sorted(f"job-{n}-{t}" for n in range(20) for t in range(5))


def test_a_counter_in_dynamodb_counts_every_client(served: World) -> None:
    """moto reads, adds and writes without a lock: threads would lose each other's additions."""
    served.client("dynamodb").create_table(
        TableName="counters",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    winners: list[int] = []

    def add(number: int) -> None:
        table = boto3.Session().resource("dynamodb", region_name="us-east-1", endpoint_url=served.url).Table("counters")
        for _ in range(10):
            table.update_item(Key={"pk": "all"}, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": 1})
        try:
            table.put_item(Item={"pk": "first", "by": number}, ConditionExpression="attribute_not_exists(pk)")
        except table.meta.client.exceptions.ConditionalCheckFailedException:
            return
        winners.append(number)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    item = served.client("dynamodb").get_item(TableName="counters", Key={"pk": {"S": "all"}})["Item"]
    assert item["n"] == {"N": "80"}
    assert len(winners) == 1


# -- connections ----------------------------------------------------------------

HEAD = f"POST /v1/describejobqueues HTTP/1.1\r\nHost: x\r\nAuthorization: {AUTHORIZATION}\r\n"


def _exchange(world: World, *sent: str) -> str:
    """Send bytes as they are, end the sending side, and return everything that comes back."""
    assert world.url is not None
    host, port = world.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        for part in sent:
            connection.sendall(part.encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        ((HEAD + "Content-Length: 2\r\n\r\n{}",), [200]),
        ((HEAD + "Content-Length: 2\r\n\r\n{}",) * 3, [200, 200, 200]),
        ((HEAD + "Content-Length: 2\r\n\r\n[]", HEAD + "Content-Length: 2\r\n\r\n{}"), [400, 200]),
        ((HEAD + "Content-Length: 2\r\n\r\n", "{", "}"), [200]),
        ((HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "1\r\n}\r\n0\r\n\r\n"), [200]),
        ((HEAD + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",), [100, 200]),
        ((HEAD + "Connection: close\r\nContent-Length: 2\r\n\r\n{}",), [200]),
        (("HEAD /bucket HTTP/1.1\r\nHost: x\r\n\r\n", HEAD + "Content-Length: 2\r\n\r\n{}"), [404, 200]),
        ((HEAD + "Content-Length: two\r\n\r\n{}",), [400]),
        ((HEAD + "Content-Length: -2\r\n\r\n{}",), [400]),
        ((HEAD + "Content-Length: 99999999999999999999\r\n\r\n{}",), [400]),
        ((HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}",), [400]),
        (("POST http://[ HTTP/1.1\r\nHost: x\r\n\r\n",), [400]),
        (("nonsense\r\n\r\n",), []),  # said in HTML, as one speaks to those who came before status lines
        ((HEAD + "Content-Length: 20\r\n\r\n{}",), []),
        ((), []),
    ],
)
def test_one_connection(served: World, sent: tuple[str, ...], statuses: list[int]) -> None:
    answer = _exchange(served, *sent)
    assert [int(status) for status in re.findall(r"HTTP/1\.1 (\d+)", answer)] == statuses
    served.make_queue()
