"""The HTTP server: where it listens, how it ends, and what it does with nonsense."""

from __future__ import annotations

import http.client
import json
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
        with pytest.raises((OSError, SystemExit)):
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
