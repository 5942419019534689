"""A thousand random requests made from botocore's model: no 5xx, and the state stays sound.

About half are what the model allows, with names of things that exist; the rest have members
dropped, added, or of a wrong type or size.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
import requests
from local.shapes import problems
from local.world import G5, P4, World, borrow, limits, payload

from constructs_qm.local import Settings, mock_quota_management
from constructs_qm.local.operations import OPERATIONS
from constructs_qm.local.service_model import batch_model

if TYPE_CHECKING:
    from botocore.model import Shape

    from constructs_qm.local.state import BatchState

REQUESTS = 1000
URL = "https://batch.us-east-1.amazonaws.com"
ARN = "arn:aws:batch:us-east-1:123456789012"
NAMES: dict[str, list[Any]] = {
    "jobQueue": ["queue", "other", f"{ARN}:job-queue/queue", "new"],
    "jobQueueName": ["queue", "new", "new2"],
    "quotaShareName": ["A", "B", "new"],
    "quotaShareArn": [f"{ARN}:job-queue/queue/quota-share/{name}" for name in ("A", "B", "new", "x")],
    "serviceEnvironment": ["queue-environment", "free", "new"],
    "serviceEnvironmentName": ["free", "new"],
    "schedulingPolicyArn": [f"{ARN}:scheduling-policy/queue-policy", f"{ARN}:scheduling-policy/new"],
    "arn": [f"{ARN}:scheduling-policy/{name}" for name in ("queue-policy", "new", "x")],
    "name": ["new", "JOB_NAME", "QUOTA_SHARE_NAME", "BEFORE_CREATED_AT"],
    "capacityUnit": [G5, P4, "NUM_INSTANCES", "x"],
    "maxCapacity": [1, 1, 2, 3, 0, -1, 2**31 - 1],
    "serviceRequestPayload": [payload(1), payload(3), payload({G5: 1, P4: 1}), payload(0), "{}", "x"],
    "resourceArn": [f"{ARN}:job-queue/queue", f"{ARN}:job-queue/queue/quota-share/A", "x"],
    "jobQueueType": ["SAGEMAKER_TRAINING"],
    "reason": ["enough", "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"],
    "maxTimeSeconds": [600, 599],
    "priority": [0, 1000, -1, 5000],
    "schedulingPriority": [0, 5, 9999, 10_000],
    "attempts": [1, 10, 0],
    "jobId": [],
    "nextToken": ["x", ""],
}
JUNK = [None, True, 0, -1, 1.5, 10**30, "", "x" * 20_000, "\x00\ud800", [], {}, [None], {"x": 1}, [[[]]]]


class _Maker:
    """Makes requests from shapes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.jobs: list[str] = ["nowhere"]

    def request(self, operation: str) -> Any:
        document = self._make(batch_model().operation_model(operation).input_shape, "", 0)
        return self._spoil(document) if self.random.random() < 0.4 else document

    def _make(self, shape: Shape, name: str, depth: int) -> Any:
        pick = self.random
        if name in ("jobId", "jobs"):
            return pick.choice(self.jobs) if shape.type_name == "string" else pick.choices(self.jobs, k=2)
        if NAMES.get(name):
            return NAMES[name][0] if pick.random() < 0.5 else pick.choice(NAMES[name])
        if shape.type_name == "structure":
            return {
                member: self._make(inner, member, depth + 1)
                for member, inner in shape.members.items()
                if member in shape.required_members or pick.random() < 0.3
            }
        if shape.type_name == "list":
            return [self._make(shape.member, name, depth + 1) for _ in range(pick.randrange(3))]
        if shape.type_name == "map":
            return {f"key{index}": "value" for index in range(pick.randrange(3))}
        if shape.type_name == "string":
            return pick.choice(shape.enum) if shape.enum else pick.choice(["x", "A", "queue", ""])
        return pick.choice([0, 1, 2, 100])

    def _spoil(self, document: Any) -> Any:
        """Change one thing somewhere inside."""
        pick = self.random
        if isinstance(document, dict) and document and pick.random() < 0.9:
            key = pick.choice(list(document))
            action = pick.choice(["drop", "junk", "deeper", "add"])
            if action == "drop":
                return {other: value for other, value in document.items() if other != key}
            if action == "add":
                return {**document, "unknownMember": pick.choice(JUNK)}
            value = pick.choice(JUNK) if action == "junk" else self._spoil(document[key])
            return {**document, key: value}
        if isinstance(document, list) and document:
            return [self._spoil(document[0]), *document[1:]]
        return pick.choice(JUNK)


def _send(operation: str, document: Any) -> requests.Response:
    model = batch_model().operation_model(operation)
    uri = model.http["requestUri"]
    if "{resourceArn}" in uri:
        document = document if isinstance(document, dict) else {}
        arn = str(document.get("resourceArn", "x"))[:500].encode("utf-8", "replace").decode() or "x"
        uri = f"/v1/tags/{requests.utils.quote(arn, safe='')}"  # type: ignore[attr-defined]
    return requests.request(
        model.http["method"],
        URL + uri,
        data=json.dumps(document).encode(),
        headers={"Authorization": "AWS4-HMAC-SHA256 Credential=X/20260101/us-east-1/batch/aws4_request"},
    )


def _check_sound(world: World, state: BatchState) -> None:
    """Everything can be described, fits the model, and breaks none of the contract's invariants."""
    describe = {
        "DescribeJobQueues": world.batch.describe_job_queues(),
        "DescribeServiceEnvironments": world.batch.describe_service_environments(),
        "ListSchedulingPolicies": world.batch.list_scheduling_policies(),
        "ListServiceJobs": world.batch.list_service_jobs(filters=[{"name": "JOB_NAME", "values": ["*"]}]),
    }
    for operation, answer in describe.items():
        del answer["ResponseMetadata"]
        assert not problems(batch_model().operation_model(operation).output_shape, answer)
    for queue in state.queues.values():
        ledger = queue.scheduler.state.ledger
        world.batch.get_job_queue_snapshot(jobQueue=queue.name)
        world.batch.list_quota_shares(jobQueue=queue.name)
        held: dict[tuple[str, str], int] = {}
        for job in state.jobs.values():
            if job.queue is queue and job.status in ("SCHEDULED", "STARTING", "RUNNING"):
                for unit, count in job.job.demand:
                    held[job.job.share, unit] = held.get((job.job.share, unit), 0) + count
        for (share, unit), use in held.items():
            assert ledger.use(share, unit) == use


@pytest.mark.parametrize("seed", [1, 2])
def test_random_requests(seed: int) -> None:
    maker = _Maker(seed)
    settings = Settings(running_seconds=30, preemption_seconds=5)
    answered: dict[int, int] = {}
    with mock_quota_management(settings=settings, seed=seed) as endpoint:
        world = World(endpoint)
        world.make_queue(limits(g5=3, p4=2))
        world.make_share("A", limits(g5=1, p4=1), borrow())
        world.make_share("B", limits(g5=2))
        world.make_environment(limits(g5=3), "free")
        state = endpoint.state("123456789012", "us-east-1")
        # deleting everything early would leave nothing to test on
        names = sorted(set(OPERATIONS) - {"DeleteJobQueue", "DeleteServiceEnvironment"})
        for number in range(REQUESTS // 2):
            operation = maker.random.choice([*names, "SubmitServiceJob", "SubmitServiceJob"])
            document = maker.request(operation)
            response = _send(operation, document)
            answered[response.status_code] = answered.get(response.status_code, 0) + 1
            assert response.status_code in (200, 400), (operation, document, response.text)
            if response.status_code == 400:
                assert response.json()["message"]
                assert response.headers["x-amzn-ErrorType"] == "ClientException"
            elif operation == "SubmitServiceJob":
                maker.jobs += [response.json()["jobId"], response.json()["jobArn"]]
            endpoint.clock.advance(maker.random.choice([0, 0, 1, 7]))
            if number % 50 == 0:
                _check_sound(world, state)
        _check_sound(world, state)
    assert min(answered[200], answered[400]) > REQUESTS // 10, "one kind of request is missing"
