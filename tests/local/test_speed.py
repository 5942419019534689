"""How many requests a second the endpoint answers, beside moto's own server in the same run.

``pytest -m slow --log-cli-level INFO tests/local/test_speed.py`` shows the figures.
"""

from __future__ import annotations

import http.client
import json
import logging
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

_log = logging.getLogger(__name__)

ROUNDS = 8
REQUESTS = 25
TIMES_MOTO = 2.0

OURS = """
import sys
from constructs_qm.local import SteppedClock
from constructs_qm.local.server import start
with start(clock=SteppedClock()) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
MOTO = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
"""

TABLE = {
    "TableName": "counters",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
COUNT = {
    "TableName": "counters",
    "Key": {"pk": {"S": "a"}},
    "UpdateExpression": "ADD n :one",
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
EVENT = {"Entries": [{"Source": "test", "DetailType": "x", "Detail": "{}"}]}


class _Client:
    """Speaks HTTP as AWS's clients do: over a connection that it keeps for as long as the server does."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)

    def __call__(self, service: str, path: str, target: str, body: dict[str, Any]) -> None:
        headers = {
            "Authorization": f"AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/{service}/aws4_request, "
            "SignedHeaders=host, Signature=0",
            "Content-Type": "application/x-amz-json-1.0",
            **({"X-Amz-Target": target} if target else {}),
        }
        self._connection.request("POST", path, json.dumps(body), headers)
        response = self._connection.getresponse()
        text = response.read()
        assert response.status == 200, text


@pytest.fixture(scope="module")
def clients() -> Iterator[tuple[_Client, _Client]]:
    """The endpoint and moto's server, each in a process of its own."""
    servers = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for code in (OURS, MOTO)
    ]
    ours, moto = (_Client(server.stdout.readline().strip()) for server in servers if server.stdout)
    for client in (ours, moto):
        client("dynamodb", "/", "DynamoDB_20120810.CreateTable", TABLE)
    yield ours, moto
    for server in servers:
        server.communicate(timeout=30)


CALLS = {
    "Batch, DescribeJobQueues": ("batch", "/v1/describejobqueues", "", {}),
    "DynamoDB, UpdateItem": ("dynamodb", "/", "DynamoDB_20120810.UpdateItem", COUNT),
    "SQS, ListQueues": ("sqs", "/", "AmazonSQS.ListQueues", {}),
    "EventBridge, PutEvents": ("events", "/", "AWSEvents.PutEvents", EVENT),
}


def test_answers_twice_as_many_requests_as_moto(clients: tuple[_Client, _Client]) -> None:
    """In all; of DynamoDB's expressions moto itself is the larger part, which is the same for both."""
    spent = {call: [0.0, 0.0] for call in CALLS}
    for _ in range(ROUNDS):  # in turns, so that what else the machine does hurts both alike
        for call, request in CALLS.items():
            for index, client in enumerate(clients):
                began = time.perf_counter()
                for _ in range(REQUESTS):
                    client(*request)
                spent[call][index] += time.perf_counter() - began
    for call, (ours, moto) in spent.items():
        count = ROUNDS * REQUESTS
        _log.info("%s: %.0f requests a second, moto's server %.0f", call, count / ours, count / moto)
    ours, moto = (sum(both) for both in zip(*spent.values(), strict=True))
    assert moto >= TIMES_MOTO * ours
