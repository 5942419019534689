"""What goes wrong is told as AWS tells it, and changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from local.world import FIFO, G5, LEND, RESERVE, World, limits, payload

from constructs_qm.local import mock_quota_management

if TYPE_CHECKING:
    from collections.abc import Iterator

QUEUE = "arn:aws:batch:us-east-1:123456789012:job-queue/queue"
SHARE = f"{QUEUE}/quota-share/s"
POLICY = "arn:aws:batch:us-east-1:123456789012:scheduling-policy/queue-policy"
OFF = {"inSharePreemption": "DISABLED"}
JOB = {
    "jobName": "job",
    "jobQueue": "queue",
    "serviceJobType": "SAGEMAKER_TRAINING",
    "serviceRequestPayload": payload(),
    "quotaShareName": "s",
}
NEW_QUEUE = {
    "jobQueueName": "new",
    "jobQueueType": "SAGEMAKER_TRAINING",
    "priority": 1,
    "schedulingPolicyArn": POLICY,
    "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "free"}],
}
NEW_SHARE = {
    "quotaShareName": "new",
    "jobQueue": "queue",
    "capacityLimits": limits(g5=1),
    "resourceSharingConfiguration": LEND,
    "preemptionConfiguration": OFF,
}
NEW_ENVIRONMENT = {
    "serviceEnvironmentName": "new",
    "serviceEnvironmentType": "SAGEMAKER_TRAINING",
    "capacityLimits": limits(g5=1),
}
TIME_LIMIT = {
    "reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "state": "RUNNABLE",
    "maxTimeSeconds": 600,
    "action": "TERMINATE",
}


@pytest.fixture(scope="module")
def prepared() -> Iterator[World]:
    """One of everything; shared, since what is refused changes nothing."""
    with mock_quota_management() as endpoint:
        world = World(endpoint)
        world.make_queue(limits(g5=3))
        world.make_share("s")
        world.make_share("off", state="DISABLED")
        world.make_environment(limits(g5=1), "free")
        world.batch.create_scheduling_policy(name="fair", fairsharePolicy={})
        unchecked = Config(parameter_validation=False, retries={"max_attempts": 0})
        world.batch = world.client("batch", config=unchecked)
        yield world


def _too_big(size: int) -> str:
    return json.dumps({**json.loads(payload()), "HyperParameters": {"x": "x" * size}})


ERRORS: list[tuple[str, dict[str, Any], str]] = [
    # scheduling policies
    ("create_scheduling_policy", {"name": "queue-policy", "quotaSharePolicy": FIFO}, "Object already exists"),
    ("create_scheduling_policy", {"name": "a.b"}, "QM001"),
    ("create_scheduling_policy", {"name": ""}, "QM001"),
    ("create_scheduling_policy", {"name": "x" * 129}, "QM001"),
    (
        "create_scheduling_policy",
        {"name": "x", "quotaSharePolicy": FIFO, "fairsharePolicy": {}},
        "Only one of",
    ),
    (
        "create_scheduling_policy",
        {"name": "x", "quotaSharePolicy": {"idleResourceAssignmentStrategy": "LIFO"}},
        "use one of FIFO",
    ),
    (
        "create_scheduling_policy",
        {"name": "x", "quotaSharePolicy": {}},
        "idleResourceAssignmentStrategy is req",
    ),
    ("update_scheduling_policy", {"arn": POLICY, "fairsharePolicy": {}}, "kind can't be changed"),
    ("update_scheduling_policy", {"arn": "nowhere"}, "does not exist"),
    ("delete_scheduling_policy", {"arn": "nowhere"}, "does not exist"),
    ("describe_scheduling_policies", {"arns": ["x"] * 101}, "at most 100"),
    # service environments
    (
        "create_service_environment",
        {**NEW_ENVIRONMENT, "serviceEnvironmentName": "free"},
        "Object already exists",
    ),
    ("create_service_environment", {**NEW_ENVIRONMENT, "serviceEnvironmentName": "a b"}, "QM001"),
    (
        "create_service_environment",
        {**NEW_ENVIRONMENT, "serviceEnvironmentType": "EKS"},
        "SAGEMAKER_TRAINING",
    ),
    ("create_service_environment", {**NEW_ENVIRONMENT, "state": "OFF"}, "use one of ENABLED, DISABLED"),
    ("create_service_environment", {**NEW_ENVIRONMENT, "capacityLimits": []}, "QM002"),
    ("create_service_environment", {**NEW_ENVIRONMENT, "capacityLimits": limits(g5=0)}, "QM002"),
    ("create_service_environment", {**NEW_ENVIRONMENT, "capacityLimits": limits(g5=1) * 2}, "QM002"),
    ("create_service_environment", {**NEW_ENVIRONMENT, "capacityLimits": [{"maxCapacity": 1}]}, "QM003"),
    ("create_service_environment", {**NEW_ENVIRONMENT, "capacityLimits": [{"capacityUnit": G5}]}, "QM002"),
    (
        "create_service_environment",
        {**NEW_ENVIRONMENT, "capacityLimits": [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}]},
        "QM003",
    ),
    ("update_service_environment", {"serviceEnvironment": "nowhere"}, "does not exist"),
    ("update_service_environment", {"serviceEnvironment": "free", "capacityLimits": limits(g5=0)}, "QM002"),
    ("delete_service_environment", {"serviceEnvironment": "nowhere"}, "does not exist"),
    # job queues
    ("create_job_queue", {**NEW_QUEUE, "jobQueueName": "queue"}, "Object already exists"),
    ("create_job_queue", {**NEW_QUEUE, "jobQueueName": "a/b"}, "QM001"),
    ("create_job_queue", {**NEW_QUEUE, "priority": 1001}, "use 0 to 1000"),
    ("create_job_queue", {**NEW_QUEUE, "priority": -1}, "use 0 to 1000"),
    ("create_job_queue", {**NEW_QUEUE, "priority": "high"}, "use a number"),
    ("create_job_queue", {**NEW_QUEUE, "priority": True}, "use a number"),
    ("create_job_queue", {**NEW_QUEUE, "priority": 1.5}, "use a whole number"),
    ("create_job_queue", {**NEW_QUEUE, "schedulingPolicyArn": "nowhere"}, "does not exist"),
    (
        "create_job_queue",
        {**NEW_QUEUE, "schedulingPolicyArn": POLICY.replace("queue-policy", "fair")},
        "quotaShare",
    ),
    ("create_job_queue", {**NEW_QUEUE, "serviceEnvironmentOrder": []}, "exactly one"),
    (
        "create_job_queue",
        {**NEW_QUEUE, "serviceEnvironmentOrder": [{"order": 1}]},
        "serviceEnvironment is required",
    ),
    (
        "create_job_queue",
        {**NEW_QUEUE, "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "queue-environment"}]},
        "connected to job queue queue already",
    ),
    (
        "create_job_queue",
        {**NEW_QUEUE, "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "nowhere"}]},
        "does not exist",
    ),
    (
        "create_job_queue",
        {**NEW_QUEUE, "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "x"}]},
        "can't have both",
    ),
    (
        "create_job_queue",
        {**NEW_QUEUE, "jobStateTimeLimitActions": [{**TIME_LIMIT, "maxTimeSeconds": 599}]},
        "QM008",
    ),
    (
        "create_job_queue",
        {**NEW_QUEUE, "jobStateTimeLimitActions": [{**TIME_LIMIT, "action": "CANCEL"}]},
        "QM008",
    ),
    ("create_job_queue", {**NEW_QUEUE, "jobStateTimeLimitActions": [{**TIME_LIMIT, "reason": "x"}]}, "QM008"),
    ("create_job_queue", {**NEW_QUEUE, "jobStateTimeLimitActions": [TIME_LIMIT, {}]}, "is required"),
    (
        "create_job_queue",
        {key: NEW_QUEUE[key] for key in NEW_QUEUE if key != "schedulingPolicyArn"},
        "is required",
    ),
    ("update_job_queue", {"jobQueue": "nowhere"}, "does not exist"),
    ("update_job_queue", {"jobQueue": "queue", "priority": 2000}, "use 0 to 1000"),
    ("update_job_queue", {"jobQueue": "queue", "serviceEnvironmentOrder": []}, "exactly one"),
    ("delete_job_queue", {"jobQueue": "nowhere"}, "does not exist"),
    ("get_job_queue_snapshot", {"jobQueue": "nowhere"}, "does not exist"),
    # quota shares
    ("create_quota_share", {**NEW_SHARE, "quotaShareName": "s"}, "already exists"),
    ("create_quota_share", {**NEW_SHARE, "quotaShareName": "é"}, "QM001"),
    ("create_quota_share", {**NEW_SHARE, "jobQueue": "nowhere"}, "does not exist"),
    ("create_quota_share", {**NEW_SHARE, "capacityLimits": limits(g5=4)}, "QM005"),
    ("create_quota_share", {**NEW_SHARE, "capacityLimits": limits(p4=1)}, "QM005"),
    ("create_quota_share", {**NEW_SHARE, "capacityLimits": limits(g5=0)}, "QM002"),
    ("create_quota_share", {**NEW_SHARE, "capacityLimits": limits(g5=1) * 6}, "QM002"),
    (
        "create_quota_share",
        {**NEW_SHARE, "resourceSharingConfiguration": {**RESERVE, "borrowLimit": 5}},
        "QM006",
    ),
    (
        "create_quota_share",
        {**NEW_SHARE, "resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": -2}},
        "QM006",
    ),
    ("create_quota_share", {**NEW_SHARE, "resourceSharingConfiguration": {}}, "strategy is required"),
    ("create_quota_share", {**NEW_SHARE, "preemptionConfiguration": {}}, "inSharePreemption is required"),
    ("create_quota_share", {**NEW_SHARE, "tags": {str(number): "x" for number in range(51)}}, "51 entries"),
    ("create_quota_share", {**NEW_SHARE, "tags": {"x" * 129: "x"}}, "129 characters"),
    ("update_quota_share", {"quotaShareArn": SHARE, "capacityLimits": limits(g5=4)}, "QM005"),
    ("update_quota_share", {"quotaShareArn": SHARE, "state": "GONE"}, "use one of"),
    ("update_quota_share", {"quotaShareArn": f"{QUEUE}/quota-share/x"}, "does not exist"),
    ("update_quota_share", {"quotaShareArn": QUEUE}, "does not exist"),
    ("describe_quota_share", {"quotaShareArn": f"{QUEUE}/quota-share/x"}, "does not exist"),
    ("delete_quota_share", {"quotaShareArn": f"{QUEUE}/quota-share/x"}, "does not exist"),
    ("list_quota_shares", {"jobQueue": "nowhere"}, "does not exist"),
    ("list_quota_shares", {"jobQueue": "queue", "maxResults": 0}, "use 1 to 100"),
    ("list_quota_shares", {"jobQueue": "queue", "maxResults": 101}, "use 1 to 100"),
    ("list_quota_shares", {"jobQueue": "queue", "nextToken": "!"}, "nextToken is not valid"),
    ("list_quota_shares", {"jobQueue": "queue", "nextToken": "eHg6MQ=="}, "nextToken is not valid"),
    # service jobs
    ("submit_service_job", {**JOB, "jobName": "a b"}, "QM001"),
    ("submit_service_job", {**JOB, "jobQueue": "nowhere"}, "does not exist"),
    ("submit_service_job", {**JOB, "quotaShareName": "nowhere"}, "does not exist"),
    ("submit_service_job", {**JOB, "quotaShareName": "off"}, "DISABLED"),
    ("submit_service_job", {**JOB, "quotaShareName": None}, "quotaShareName is required"),
    ("submit_service_job", {**JOB, "shareIdentifier": "x"}, "shareIdentifier can't be specified"),
    ("submit_service_job", {**JOB, "schedulingPriority": 10_000}, "0 to 9999"),
    ("submit_service_job", {**JOB, "schedulingPriority": -1}, "0 to 9999"),
    ("submit_service_job", {**JOB, "serviceRequestPayload": "{"}, "not JSON"),
    ("submit_service_job", {**JOB, "serviceRequestPayload": "{}"}, "ResourceConfig"),
    ("submit_service_job", {**JOB, "serviceRequestPayload": payload(0)}, "at least 1"),
    ("submit_service_job", {**JOB, "serviceRequestPayload": _too_big(10_240)}, "use at most 10240"),
    (
        "submit_service_job",
        {
            **JOB,
            "tags": {f"{n:0128d}": "x" * 256 for n in range(50)},
            "retryStrategy": {
                "attempts": 1,
                "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "\u20ac" * 512}] * 5,
            },
            "serviceRequestPayload": _too_big(9000),
        },
        "use at most 30720",
    ),
    ("submit_service_job", {**JOB, "retryStrategy": {}}, "attempts is required"),
    ("submit_service_job", {**JOB, "retryStrategy": {"attempts": 0}}, "1 to 10"),
    ("submit_service_job", {**JOB, "retryStrategy": {"attempts": 11}}, "1 to 10"),
    (
        "submit_service_job",
        {**JOB, "retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT"}] * 6}},
        "at most 5",
    ),
    (
        "submit_service_job",
        {**JOB, "retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "WAIT"}]}},
        "use one of RETRY, EXIT",
    ),
    (
        "submit_service_job",
        {**JOB, "retryStrategy": {"attempts": 1, "evaluateOnExit": [{"onStatusReason": "x"}]}},
        "use RETRY or EXIT",
    ),
    ("submit_service_job", {**JOB, "timeoutConfig": {"attemptDurationSeconds": 0}}, "use 1 or more"),
    (
        "submit_service_job",
        {**JOB, "preemptionConfiguration": {"preemptionRetriesBeforeTermination": -1}},
        "use 0 or more",
    ),
    ("submit_service_job", {**JOB, "serviceJobType": "OTHER"}, "SAGEMAKER_TRAINING"),
    ("submit_service_job", {**JOB, "clientToken": ""}, "0 characters"),
    ("describe_service_job", {"jobId": "nowhere"}, "does not exist"),
    ("update_service_job", {"jobId": "nowhere", "schedulingPriority": 1}, "does not exist"),
    ("terminate_service_job", {"jobId": "nonsense", "reason": "x"}, "neither the id nor the ARN"),
    ("terminate_service_job", {"jobId": "nonsense", "reason": ""}, "reason is empty"),
    ("terminate_service_job", {"jobId": "nonsense"}, "reason is required"),
    ("terminate_service_jobs", {"jobs": [], "reason": "x"}, "give 1 to 50"),
    ("terminate_service_jobs", {"jobs": ["x"] * 51, "reason": "x"}, "give 1 to 50"),
    ("list_service_jobs", {}, "jobQueue is required"),
    ("list_service_jobs", {"jobQueue": "nowhere"}, "does not exist"),
    ("list_service_jobs", {"jobQueue": "queue", "jobStatus": "LOST"}, "use one of"),
    (
        "list_service_jobs",
        {"jobQueue": "queue", "filters": [{"name": "JOB_NAME", "values": ["x"]}] * 2},
        "Only one filter key-value pair can be specified.",
    ),
    (
        "list_service_jobs",
        {"jobQueue": "queue", "filters": [{"name": "X", "values": ["x"]}]},
        "use one of JOB_NAME",
    ),
    ("list_service_jobs", {"jobQueue": "queue", "filters": [{"name": "JOB_NAME"}]}, "give one"),
    (
        "list_service_jobs",
        {"jobQueue": "queue", "filters": [{"name": "AFTER_CREATED_AT", "values": ["yesterday"]}]},
        "milliseconds",
    ),
    # between the two kinds of Batch
    ("submit_job", {"jobName": "x", "jobQueue": "queue", "jobDefinition": "x"}, "use SubmitServiceJob"),
    ("list_jobs", {"jobQueue": "queue"}, "use ListServiceJobs"),
    # tags
    ("tag_resource", {"resourceArn": f"{SHARE}x", "tags": {"a": "b"}}, "does not exist"),
    ("tag_resource", {"resourceArn": SHARE, "tags": {}}, "0 entries"),
    ("tag_resource", {"resourceArn": SHARE, "tags": {"a": 1}}, "use a string"),
    ("untag_resource", {"resourceArn": SHARE, "tagKeys": []}, "0 entries"),
    ("list_tags_for_resource", {"resourceArn": "nowhere"}, "does not exist"),
]


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [pytest.param(*case, id=f"{case[0]}-{index}") for index, case in enumerate(ERRORS)],
)
def test_error(prepared: World, operation: str, request_: dict[str, Any], message: str) -> None:
    before = _everything(prepared)
    with pytest.raises(ClientError) as raised:
        getattr(prepared.batch, operation)(**request_)
    response = raised.value.response
    assert response["Error"]["Code"] == "ClientException"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert message in response["message"]
    assert "\n" not in response["message"]
    assert _everything(prepared) == before


def _everything(world: World) -> list[object]:
    batch = world.batch
    answers = [
        batch.list_scheduling_policies(),
        batch.describe_service_environments(),
        batch.describe_job_queues(),
        batch.list_quota_shares(jobQueue="queue"),
        batch.list_service_jobs(filters=[{"name": "JOB_NAME", "values": ["*"]}]),
        batch.list_tags_for_resource(resourceArn=SHARE),
    ]
    for answer in answers:
        del answer["ResponseMetadata"]
    return [*answers, len(world.endpoint.events)]
