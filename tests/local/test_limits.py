"""Limits that need many resources, and what a request may leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from local.world import World, limits

if TYPE_CHECKING:
    from typing import Any


def test_object_already_exists_is_the_whole_message(world: World) -> None:
    world.make_environment(limits(g5=1))
    with pytest.raises(ClientError) as raised:
        world.make_environment(limits(g5=1))
    assert raised.value.response["message"] == "Object already exists"


def test_twenty_shares_and_no_more(world: World) -> None:
    world.make_queue()
    for number in range(20):
        world.make_share(f"share-{number}")
    with pytest.raises(ClientError, match="QM004"):
        world.make_share("one-too-many")


def test_fifty_environments_and_queues_and_no_more(world: World) -> None:
    for number in range(50):
        world.make_queue(name=f"queue-{number}")
    with pytest.raises(ClientError, match="50 service environments already"):
        world.make_environment(limits(g5=1))
    [queue] = world.batch.describe_job_queues(jobQueues=["queue-0"])["jobQueues"]
    request: dict[str, Any] = {
        key: queue[key] for key in ("jobQueueType", "priority", "schedulingPolicyArn", "serviceEnvironmentOrder")
    }
    with pytest.raises(ClientError, match="50 job queues already"):
        world.batch.create_job_queue(jobQueueName="one-too-many", **request)


def test_priority_of_a_job_that_ended(world: World) -> None:
    world.make_queue()
    world.make_share("s")
    job = world.submit("job", "s")
    world.batch.terminate_service_job(jobId=job, reason="x")
    with pytest.raises(ClientError, match="FAILED: its priority can't be changed"):
        world.batch.update_service_job(jobId=job, schedulingPriority=1)


def test_unknown_members_and_nulls_are_ignored(world: World) -> None:
    world.make_queue()
    world.batch = world.client("batch", config=Config(parameter_validation=False))
    world.make_share("s", tags=None)
    job = world.submit("job", "s", timeoutConfig={"attemptDurationSeconds": None})
    assert world.job(job)["status"] == "SUBMITTED"
