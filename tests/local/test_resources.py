"""Life cycles of policies, environments, queues and shares, and what refers to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError
from local.world import FIFO, LEND, RESERVE, World, borrow, limits

from constructs_qm.local import Settings, mock_quota_management

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def slow() -> Iterator[World]:
    """A world whose resources take ten seconds to change."""
    with mock_quota_management(settings=Settings(transition_seconds=10)) as endpoint:
        yield World(endpoint)


def _environment(world: World) -> dict[str, object]:
    [environment] = world.batch.describe_service_environments()["serviceEnvironments"]
    return dict(environment)


def test_policy(world: World) -> None:
    arn = world.make_policy()
    [policy] = world.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"]
    assert policy == {"name": "policy", "arn": arn, "quotaSharePolicy": FIFO, "tags": {}}
    assert arn == "arn:aws:batch:us-east-1:123456789012:scheduling-policy/policy"
    world.batch.delete_scheduling_policy(arn=arn)
    assert world.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"] == []


def test_fair_share_policies_are_kept_as_well(world: World) -> None:
    fair = {"shareDecaySeconds": 60, "computeReservation": 1}
    arn = world.batch.create_scheduling_policy(name="fair", fairsharePolicy=fair)["arn"]
    world.batch.update_scheduling_policy(arn=arn, fairsharePolicy={"shareDecaySeconds": 90})
    [policy] = world.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"]
    assert policy["fairsharePolicy"] == {"shareDecaySeconds": 90}


def test_environment(world: World) -> None:
    arn = world.make_environment(limits(g5=3, p4=2))
    assert _environment(world) == {
        "serviceEnvironmentName": "environment",
        "serviceEnvironmentArn": arn,
        "serviceEnvironmentType": "SAGEMAKER_TRAINING",
        "state": "ENABLED",
        "status": "VALID",
        "capacityLimits": limits(g5=3, p4=2),
        "tags": {},
    }
    world.batch.update_service_environment(serviceEnvironment=arn, state="DISABLED", capacityLimits=limits(g5=1))
    assert (_environment(world)["state"], _environment(world)["capacityLimits"]) == (
        "DISABLED",
        limits(g5=1),
    )


def test_queue(world: World) -> None:
    actions = [
        {
            "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
            "state": "RUNNABLE",
            "maxTimeSeconds": 600,
            "action": "TERMINATE",
        }
    ]
    arn = world.make_queue(jobStateTimeLimitActions=actions, computeEnvironmentOrder=[], tags={"a": "b"})
    [queue] = world.batch.describe_job_queues(jobQueues=[arn])["jobQueues"]
    environment = _environment(world)["serviceEnvironmentArn"]
    assert queue == {
        "jobQueueName": "queue",
        "jobQueueArn": arn,
        "state": "ENABLED",
        "schedulingPolicyArn": "arn:aws:batch:us-east-1:123456789012:scheduling-policy/queue-policy",
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
        "priority": 1,
        "computeEnvironmentOrder": [],
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": environment}],
        "jobQueueType": "SAGEMAKER_TRAINING",
        "tags": {"a": "b"},
        "jobStateTimeLimitActions": actions,
    }
    world.batch.update_job_queue(jobQueue="queue", priority=7, state="DISABLED", jobStateTimeLimitActions=[])
    [queue] = world.batch.describe_job_queues(jobQueues=["queue"])["jobQueues"]
    assert (queue["priority"], queue["state"], queue["jobStateTimeLimitActions"]) == (7, "DISABLED", [])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (RESERVE, RESERVE),
        (LEND, LEND),
        ({"strategy": "LEND_AND_BORROW"}, borrow(-1)),
        (borrow(0), borrow(0)),
        (borrow(200), borrow(200)),
    ],
)
def test_share(world: World, given: dict[str, object], shown: dict[str, object]) -> None:
    queue = world.make_queue()
    arn = world.make_share("s", limits(g5=2), given, in_share=True, tags={"team": "a"})
    share = world.batch.describe_quota_share(quotaShareArn=arn)
    del share["ResponseMetadata"]
    assert share == {
        "quotaShareName": "s",
        "quotaShareArn": f"{queue}/quota-share/s",
        "jobQueueArn": queue,
        "capacityLimits": limits(g5=2),
        "resourceSharingConfiguration": shown,
        "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
        "state": "ENABLED",
        "status": "VALID",
        "tags": {"team": "a"},
    }
    del share["tags"]
    assert world.batch.list_quota_shares(jobQueue=queue)["quotaShares"] == [share]


def test_share_update_changes_what_it_names(world: World) -> None:
    world.make_queue()
    arn = world.make_share("s", limits(g5=2), borrow(50))
    before = world.batch.describe_quota_share(quotaShareArn=arn)
    changes = [
        {"capacityLimits": limits(g5=1)},
        {"resourceSharingConfiguration": RESERVE},
        {"preemptionConfiguration": {"inSharePreemption": "ENABLED"}},
        {"state": "DISABLED"},
    ]
    expected = {key: value for key, value in before.items() if key != "ResponseMetadata"}
    for change in changes:
        world.batch.update_quota_share(quotaShareArn=arn, **change)
        expected.update(change)
        after = world.batch.describe_quota_share(quotaShareArn=arn)
        assert {key: after[key] for key in expected} == expected


def test_environment_goes_through_its_statuses(slow: World) -> None:
    slow.make_environment(limits(g5=1))
    seen = [_environment(slow)["status"]]
    slow.advance(10)
    seen.append(_environment(slow)["status"])
    slow.batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
    seen.append(_environment(slow)["status"])
    slow.advance(10)
    slow.batch.delete_service_environment(serviceEnvironment="environment")
    seen.append(_environment(slow)["status"])
    slow.advance(10)
    assert seen == ["CREATING", "VALID", "UPDATING", "DELETING"]
    assert slow.batch.describe_service_environments()["serviceEnvironments"] == []


def test_each_step_waits_for_the_one_before(slow: World) -> None:
    policy = slow.make_policy()
    slow.make_environment(limits(g5=1))
    queue = {
        "jobQueueName": "queue",
        "jobQueueType": "SAGEMAKER_TRAINING",
        "priority": 1,
        "schedulingPolicyArn": policy,
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "environment"}],
    }
    with pytest.raises(ClientError, match="CREATING: wait until it is VALID"):
        slow.batch.create_job_queue(**queue)
    slow.advance(10)
    slow.batch.create_job_queue(**queue)
    with pytest.raises(ClientError, match="CREATING: wait until it is VALID"):
        slow.make_share("s")
    slow.advance(10)
    share = slow.make_share("s")
    with pytest.raises(ClientError, match="takes no jobs"):
        slow.submit("job", "s")
    slow.advance(10)
    slow.submit("job", "s")
    slow.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    with pytest.raises(ClientError, match="UPDATING: wait until it is VALID"):
        slow.batch.delete_quota_share(quotaShareArn=share)


def test_share_is_deleted_with_its_jobs(slow: World) -> None:
    slow.make_environment(limits(g5=3))
    slow.advance(10)
    queue = {
        "jobQueueName": "queue",
        "jobQueueType": "SAGEMAKER_TRAINING",
        "priority": 1,
        "schedulingPolicyArn": slow.make_policy(),
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "environment"}],
    }
    slow.batch.create_job_queue(**queue)
    slow.advance(10)
    share = slow.make_share("s")
    slow.make_share("other")
    slow.advance(10)
    jobs = [slow.submit("runs", "s"), slow.submit("waits", "s")]
    slow.submit("elsewhere", "other")
    slow.advance(20)
    jobs.append(slow.submit("submitted", "s"))
    slow.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    slow.advance(10)
    slow.batch.delete_quota_share(quotaShareArn=share)
    assert slow.batch.describe_quota_share(quotaShareArn=share)["status"] == "DELETING"
    assert slow.job(jobs[0])["status"] == "RUNNING"
    slow.advance(10)
    assert [slow.job(job)["status"] for job in jobs] == ["FAILED"] * 3
    assert slow.statuses()["elsewhere"] == "RUNNING"
    with pytest.raises(ClientError, match="does not exist"):
        slow.batch.describe_quota_share(quotaShareArn=share)


def test_deleting_refuses_what_is_in_use(world: World) -> None:
    """The order the guide gives: shares, queue, environment and policy, each disabled first."""
    queue = world.make_queue()
    share = world.make_share("s")
    policy = world.batch.list_scheduling_policies()["schedulingPolicies"][0]["arn"]

    def refused(operation: str, match: str, **request: str) -> None:
        with pytest.raises(ClientError, match=match):
            getattr(world.batch, operation)(**request)

    refused("delete_quota_share", "DISABLED before", quotaShareArn=share)
    refused("delete_job_queue", "DISABLED before", jobQueue=queue)
    refused("delete_service_environment", "DISABLED before", serviceEnvironment="queue-environment")
    world.batch.update_job_queue(jobQueue=queue, state="DISABLED")
    world.batch.update_service_environment(serviceEnvironment="queue-environment", state="DISABLED")
    refused("delete_job_queue", "quota share s", jobQueue=queue)
    refused("delete_service_environment", "job queue queue", serviceEnvironment="queue-environment")
    refused("delete_scheduling_policy", "in use by job queue queue", arn=policy)
    world.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    world.batch.delete_quota_share(quotaShareArn=share)
    world.batch.delete_job_queue(jobQueue=queue)
    world.batch.delete_service_environment(serviceEnvironment="queue-environment")
    world.batch.delete_scheduling_policy(arn=policy)
    assert world.batch.describe_job_queues()["jobQueues"] == []


@pytest.mark.parametrize("kind", ["policy", "environment", "queue", "share", "job"])
def test_tags(either: World, kind: str) -> None:
    world = either
    queue = world.make_queue()
    share = world.make_share("s")
    arns = {
        "policy": world.batch.list_scheduling_policies()["schedulingPolicies"][0]["arn"],
        "environment": _environment(world)["serviceEnvironmentArn"],
        "queue": queue,
        "share": share,
        "job": world.job(world.submit("job", "s"))["jobArn"],
    }
    arn = arns[kind]
    world.batch.tag_resource(resourceArn=arn, tags={"a": "1", "b": "2", "c/d": "3"})
    world.batch.tag_resource(resourceArn=arn, tags={"b": "4"})
    world.batch.untag_resource(resourceArn=arn, tagKeys=["a", "unknown"])
    assert world.batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "4", "c/d": "3"}


def test_capacity_added_to_the_environment_is_used(world: World) -> None:
    world.make_queue(limits(g5=1))
    share = world.make_share("s")
    world.submit("a", "s")
    world.submit("b", "s")
    world.advance(10)
    assert world.statuses() == {"a": "RUNNING", "b": "RUNNABLE"}
    world.batch.update_service_environment(serviceEnvironment="queue-environment", capacityLimits=limits(g5=2))
    world.batch.update_quota_share(quotaShareArn=share, capacityLimits=limits(g5=2))
    world.advance(10)
    assert world.statuses() == {"a": "RUNNING", "b": "RUNNING"}


def test_regions_and_accounts_are_apart(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.make_queue()
    elsewhere = World(world.endpoint)
    elsewhere.batch = elsewhere.client("batch", "eu-west-1")
    assert elsewhere.batch.describe_job_queues()["jobQueues"] == []
    arn = elsewhere.make_queue()
    assert arn == "arn:aws:batch:eu-west-1:123456789012:job-queue/queue"
    monkeypatch.setenv("MOTO_ACCOUNT_ID", "111111111111")
    assert world.batch.describe_job_queues()["jobQueues"] == []


def test_a_disabled_environment_starts_nothing(world: World) -> None:
    world.make_queue()
    world.make_share("s", limits(g5=2))
    world.submit("runs", "s")
    world.advance(10)
    world.batch.update_service_environment(serviceEnvironment="queue-environment", state="DISABLED")
    world.submit("waits", "s")
    world.advance(100)
    assert world.statuses() == {"runs": "RUNNING", "waits": "RUNNABLE"}
    world.batch.update_service_environment(serviceEnvironment="queue-environment", state="ENABLED")
    world.advance(10)
    assert world.statuses() == {"runs": "RUNNING", "waits": "RUNNING"}
    world.batch.update_service_environment(serviceEnvironment="queue-environment", state="DISABLED")
    world.advance(1000)
    assert set(world.statuses().values()) == {"SUCCEEDED"}
