"""Every operation of quota management and service jobs, field by field, against botocore's own model.

One story uses every input field and gets every output field. Nothing here names a field that
isn't checked against the model, so a name that is wrong, here or in the endpoint, fails.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from local.shapes import members, problems, used
from local.world import FIFO, G5, P4, World, limits, payload

from constructs_qm.local import Settings, mock_quota_management
from constructs_qm.local.operations import OPERATIONS
from constructs_qm.local.service_model import batch_model

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs" / "endpoint.md"

LEFT_OUT = {
    # queues with fair share and container Batch, which are not emulated
    "SubmitServiceJob": {"shareIdentifier"},
    "DescribeServiceJob": {"shareIdentifier"},
    "ListServiceJobs": {"jobSummaryList.shareIdentifier"},
    "GetJobQueueSnapshot": {"queueUtilization.fairshareUtilization"},
    "CreateJobQueue": {"computeEnvironmentOrder.order", "computeEnvironmentOrder.computeEnvironment"},
    "UpdateJobQueue": {"computeEnvironmentOrder.order", "computeEnvironmentOrder.computeEnvironment"},
    "DescribeJobQueues": {"jobQueues.computeEnvironmentOrder"},
}


class _Recorder:
    """Performs operations and keeps which fields were sent and answered."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sent: dict[str, set[str]] = defaultdict(set)
        self.answered: dict[str, set[str]] = defaultdict(set)
        self.problems: list[str] = []
        world.batch.meta.events.register("response-received.batch.*", self._received)
        self._bodies: list[dict[str, Any]] = []

    def __call__(self, operation: str, **request: Any) -> Any:
        model = batch_model().operation_model(operation)
        self.sent[operation] |= used(model.input_shape, request)
        method = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
        answer = getattr(self.world.batch, method)(**request)
        body = self._bodies[-1]  # as it was on the wire: botocore drops what it doesn't know
        self.answered[operation] |= used(model.output_shape, body)
        if operation == "DescribeServiceJob":
            body = {"startedAt": 0, **body}  # required by the model, absent until the job runs
        wrong = problems(model.output_shape, body)
        if wrong:
            self.problems.append(f"{operation}: {wrong}")
        return answer

    def _received(self, response_dict: dict[str, Any], **_: Any) -> None:
        self._bodies.append(json.loads(response_dict["body"]))


TIME_LIMIT = {
    "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
    "state": "RUNNABLE",
    "maxTimeSeconds": 600,
    "action": "TERMINATE",
}
FAIR = {
    "shareDecaySeconds": 60,
    "computeReservation": 1,
    "shareDistribution": [{"shareIdentifier": "a", "weightFactor": 0.5}],
}
OFF = {"inSharePreemption": "DISABLED"}
ON = {"inSharePreemption": "ENABLED"}


TAGS = {"team": "a"}


def _make_environments(do: _Recorder) -> str:
    policy = do("CreateSchedulingPolicy", name="p", quotaSharePolicy=FIFO, tags=TAGS)["arn"]
    fair = do("CreateSchedulingPolicy", name="fair", fairsharePolicy=FAIR)["arn"]
    do("UpdateSchedulingPolicy", arn=policy, quotaSharePolicy=FIFO)
    do("UpdateSchedulingPolicy", arn=fair, fairsharePolicy=FAIR)
    do("DescribeSchedulingPolicies", arns=[policy, fair])
    token = do("ListSchedulingPolicies", maxResults=1)["nextToken"]
    do("ListSchedulingPolicies", nextToken=token)
    for name in ("e", "other"):
        do(
            "CreateServiceEnvironment",
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            state="ENABLED",
            capacityLimits=limits(g5=1),
            tags=TAGS,
        )
    do(
        "UpdateServiceEnvironment",
        serviceEnvironment="e",
        state="ENABLED",
        capacityLimits=limits(g5=3, p4=1),
    )
    token = do("DescribeServiceEnvironments", maxResults=1)["nextToken"]
    do("DescribeServiceEnvironments", nextToken=token)
    do("DescribeServiceEnvironments", serviceEnvironments=["e"])
    return str(policy)


def _make_queues(do: _Recorder, policy: str) -> str:
    order = [{"order": 1, "serviceEnvironment": "e"}]
    queue: str = do(
        "CreateJobQueue",
        jobQueueName="queue",
        state="ENABLED",
        schedulingPolicyArn=policy,
        priority=1,
        computeEnvironmentOrder=[],
        serviceEnvironmentOrder=order,
        jobQueueType="SAGEMAKER_TRAINING",
        tags=TAGS,
        jobStateTimeLimitActions=[TIME_LIMIT],
    )["jobQueueArn"]
    do(
        "UpdateJobQueue",
        jobQueue=queue,
        state="ENABLED",
        schedulingPolicyArn=policy,
        priority=2,
        computeEnvironmentOrder=[],
        serviceEnvironmentOrder=order,
        jobStateTimeLimitActions=[TIME_LIMIT],
    )
    do(
        "CreateJobQueue",
        jobQueueName="other",
        jobQueueType="SAGEMAKER_TRAINING",
        schedulingPolicyArn=policy,
        priority=1,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "other"}],
    )
    token = do("DescribeJobQueues", maxResults=1)["nextToken"]
    do("DescribeJobQueues", nextToken=token)
    do("DescribeJobQueues", jobQueues=[queue])
    return queue


def _make_shares(do: _Recorder, queue: str) -> list[str]:
    shares = []
    for name in ("A", "B"):
        share = do(
            "CreateQuotaShare",
            quotaShareName=name,
            jobQueue=queue,
            capacityLimits=limits(g5=1),
            resourceSharingConfiguration={"strategy": "LEND_AND_BORROW", "borrowLimit": 100},
            preemptionConfiguration=OFF,
            state="ENABLED",
            tags={"team": "a"},
        )["quotaShareArn"]
        do("DescribeQuotaShare", quotaShareArn=share)
        shares.append(share)
    do(
        "UpdateQuotaShare",
        quotaShareArn=shares[0],
        capacityLimits=limits(g5=1, p4=1),
        resourceSharingConfiguration={"strategy": "LEND_AND_BORROW", "borrowLimit": 200},
        preemptionConfiguration=ON,
        state="ENABLED",
    )
    token = do("ListQuotaShares", jobQueue=queue, maxResults=1)["nextToken"]
    do("ListQuotaShares", jobQueue=queue, nextToken=token)
    do("TagResource", resourceArn=shares[0], tags={"x": "y"})
    do("UntagResource", resourceArn=shares[0], tagKeys=["x"])
    do("ListTagsForResource", resourceArn=shares[0])
    return shares


def _run_jobs(do: _Recorder, queue: str) -> None:
    def submit(name: str, share: str, demand: dict[str, int]) -> str:
        job: str = do(
            "SubmitServiceJob",
            jobName=name,
            jobQueue=queue,
            retryStrategy={
                "attempts": 2,
                "evaluateOnExit": [{"action": "RETRY", "onStatusReason": "Received status from SageMaker: *"}],
            },
            schedulingPriority=1,
            serviceRequestPayload=payload(demand),
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=share,
            preemptionConfiguration={"preemptionRetriesBeforeTermination": 3},
            timeoutConfig={"attemptDurationSeconds": 5000},
            tags={"team": "a"},
            clientToken=f"token-{name}",
        )["jobId"]
        do("DescribeServiceJob", jobId=job)
        return job

    job = submit("first", "A", {G5: 1, P4: 1})
    borrower = submit("borrower", "A", {G5: 1})
    do.world.advance(10)
    do("DescribeServiceJob", jobId=job)
    do.world.endpoint.fail(job, "InternalServerError")
    do("UpdateServiceJob", jobId=borrower, schedulingPriority=0)
    submit("owner", "B", {G5: 1})
    do.world.advance(30)
    do("DescribeServiceJob", jobId=borrower)
    do("DescribeServiceJob", jobId=job)
    do("GetJobQueueSnapshot", jobQueue=queue)
    token = do("ListServiceJobs", jobQueue=queue, jobStatus="RUNNING", maxResults=1)["nextToken"]
    do("ListServiceJobs", jobQueue=queue, jobStatus="RUNNING", nextToken=token)
    do("TerminateServiceJob", jobId=borrower, reason="enough")
    do("TerminateServiceJobs", jobs=[job, "nonsense"], reason="enough")
    do("DescribeServiceJob", jobId=job)
    do("ListServiceJobs", filters=[{"name": "JOB_NAME", "values": ["*"]}])


def _delete(do: _Recorder, queue: str, shares: list[str]) -> None:
    for share in shares:
        do("UpdateQuotaShare", quotaShareArn=share, state="DISABLED")
        do("DeleteQuotaShare", quotaShareArn=share)
    do("UpdateJobQueue", jobQueue=queue, state="DISABLED")
    do("DeleteJobQueue", jobQueue=queue)
    do("UpdateServiceEnvironment", serviceEnvironment="e", state="DISABLED")
    do("DeleteServiceEnvironment", serviceEnvironment="e")
    policy = do("CreateSchedulingPolicy", name="unused", quotaSharePolicy=FIFO)["arn"]
    do("DeleteSchedulingPolicy", arn=policy)


@pytest.fixture(scope="module")
def story() -> Iterator[_Recorder]:
    """The whole life of two queues, recorded."""
    with mock_quota_management(settings=Settings(running_seconds=None)) as endpoint:
        do = _Recorder(World(endpoint))
        queue = _make_queues(do, _make_environments(do))
        shares = _make_shares(do, queue)
        _run_jobs(do, queue)
        _delete(do, queue, shares)
        yield do


def _without_left_out(operation: str, paths: set[str]) -> set[str]:
    out = LEFT_OUT.get(operation, set())
    return {path for path in paths if not any(path == left or path.startswith(f"{left}.") for left in out)}


def test_answers_fit_the_model(story: _Recorder) -> None:
    assert story.problems == []


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_input_field_is_taken(story: _Recorder, operation: str) -> None:
    every = members(batch_model().operation_model(operation).input_shape)
    assert story.sent[operation] == _without_left_out(operation, every)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_output_field_is_given(story: _Recorder, operation: str) -> None:
    every = members(batch_model().operation_model(operation).output_shape)
    assert _without_left_out(operation, story.answered[operation]) == _without_left_out(operation, every)


def test_every_operation_of_quota_management_is_there() -> None:
    """Told from container Batch by the words in their names, so that a new one in botocore is noticed."""
    ours = re.compile(r"QuotaShare|ServiceJob|ServiceEnvironment|SchedulingPolic|JobQueue|Resource$|TagsForResource")
    theirs = {"CreateConsumableResource", "DeleteConsumableResource", "DescribeConsumableResource"}
    theirs |= {"UpdateConsumableResource", "ListJobsByConsumableResource"}
    expected = {name for name in batch_model().operation_names if ours.search(name)} - theirs
    assert set(OPERATIONS) == expected


def test_the_table_in_the_docs_is_true() -> None:
    rows = dict(re.findall(r"^\| `([A-Z]\w+)` \| (.*) \|$", DOCS.read_text(), re.MULTILINE))
    assert set(rows) == set(OPERATIONS)
    for operation, text in rows.items():
        left_out = {name for names in re.findall(r"all but (.*)", text) for name in re.findall(r"`([\w.]+)`", names)}
        assert left_out == LEFT_OUT.get(operation, set()), operation
