"""mock_quota_management: alone, within moto's mock, as a decorator; and what it leaves behind."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from local.world import World
from moto import mock_aws
from moto.batch import models
from moto.core.base_backend import AccountSpecificBackend

from constructs_qm.local import Endpoint, SteppedClock, mock_quota_management, seams


def _container_queue(batch: Any) -> dict[str, Any]:
    iam = boto3.client("iam")
    role = iam.create_role(RoleName="role", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    environment = batch.create_compute_environment(
        computeEnvironmentName="containers", type="UNMANAGED", state="ENABLED", serviceRole=role
    )["computeEnvironmentArn"]
    made: dict[str, Any] = batch.create_job_queue(
        jobQueueName="containers",
        priority=1,
        state="ENABLED",
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": environment}],
    )
    return made


def test_alone() -> None:
    with mock_quota_management() as endpoint:
        World(endpoint).make_article_queue()
        assert boto3.client("s3").list_buckets()["Buckets"] == []


def test_within_mock_aws_keeps_what_is_there() -> None:
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="mine")
        batch = boto3.client("batch")
        _container_queue(batch)
        with mock_quota_management() as endpoint:
            world = World(endpoint)
            world.make_article_queue()
            names = [queue["jobQueueName"] for queue in batch.describe_job_queues()["jobQueues"]]
            assert names == ["queue", "containers"]
        assert len(boto3.client("s3").list_buckets()["Buckets"]) == 1
        assert [queue["jobQueueName"] for queue in batch.describe_job_queues()["jobQueues"]] == ["containers"]


@mock_quota_management()
def _decorated() -> list[Any]:
    batch = boto3.client("batch")
    batch.create_service_environment(
        serviceEnvironmentName="e",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}],
    )
    environments: list[Any] = batch.describe_service_environments()["serviceEnvironments"]
    return environments


def test_as_a_decorator_it_starts_anew_each_time() -> None:
    assert [len(_decorated()), len(_decorated())] == [1, 1]


def test_container_batch_is_still_motos(world: World) -> None:
    queue = _container_queue(world.batch)
    world.make_queue()
    definition = world.batch.register_job_definition(
        jobDefinitionName="d",
        type="container",
        containerProperties={"image": "busybox", "vcpus": 1, "memory": 128},
    )
    listed = world.batch.describe_job_definitions()["jobDefinitions"]
    assert [entry["jobDefinitionArn"] for entry in listed] == [definition["jobDefinitionArn"]]
    world.batch.tag_resource(resourceArn=queue["jobQueueArn"], tags={"a": "b"})
    assert world.batch.list_tags_for_resource(resourceArn=queue["jobQueueArn"])["tags"] == {"a": "b"}
    world.batch.update_job_queue(jobQueue="containers", state="DISABLED")
    world.batch.delete_job_queue(jobQueue="containers")
    assert [entry["jobQueueName"] for entry in world.batch.describe_job_queues()["jobQueues"]] == ["queue"]


def test_service_jobs_dont_go_to_container_queues(world: World) -> None:
    _container_queue(world.batch)
    world.make_queue()
    world.make_share("s")
    with pytest.raises(world.batch.exceptions.ClientException, match="not of type SAGEMAKER_TRAINING"):
        world.submit("job", "s", jobQueue="containers")
    with pytest.raises(world.batch.exceptions.ClientException, match="Object already exists"):
        world.make_queue(name="containers")


def test_one_endpoint_in_a_process(world: World) -> None:
    with pytest.raises(RuntimeError, match="one endpoint"), mock_quota_management():
        pass
    world.make_queue()


def test_moto_is_as_before_afterwards() -> None:
    before = models.batch_backends.backend
    with pytest.raises(ZeroDivisionError), mock_quota_management():
        _ = 1 / 0
    assert models.batch_backends.backend is before
    for patch in seams.PATCHES:
        patch.check()
    with mock_aws(), pytest.raises(Exception, match="implemented"):
        boto3.client("batch").list_quota_shares(jobQueue="queue")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (models, "batch_backends"),
        (models.BatchBackend, "describe_job_queues"),
        (AccountSpecificBackend, "__init__"),
        *((patch.owner, patch.name) for patch in seams.PATCHES),
    ],
)
def test_a_changed_moto_fails_loudly(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    monkeypatch.setattr(owner, name, lambda self, other: None, raising=False)
    with pytest.raises(seams.SeamError, match="moto has changed"):
        seams.install(Endpoint(SteppedClock(), None))  # type: ignore[arg-type]


def test_ids_are_repeatable() -> None:
    def ids() -> list[str]:
        with mock_quota_management(seed=5) as endpoint:
            world = World(endpoint)
            world.make_article_queue()
            return [world.submit("job", "QS1"), *(event["id"] for event in endpoint.events)]

    assert ids() == ids()
