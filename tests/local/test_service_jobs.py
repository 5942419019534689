"""Service jobs: their states, retries, priorities and ends."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local.world import G5, P4, World, borrow, limits

from constructs_qm.local import Settings, mock_quota_management


@pytest.fixture
def queue(world: World) -> World:
    world.make_queue(limits(g5=4, p4=2))
    world.make_share("s", limits(g5=2, p4=2))
    return world


def test_states_in_order(queue: World) -> None:
    job = queue.submit("job", "s")
    seen = []
    for seconds in (0, 1, 2, 5, 599, 1):
        queue.advance(seconds)
        seen.append(queue.job(job)["status"])
    assert seen == ["SUBMITTED", "SCHEDULED", "STARTING", "RUNNING", "RUNNING", "SUCCEEDED"]


def test_description(queue: World) -> None:
    request: dict[str, Any] = {
        "retryStrategy": {
            "attempts": 3,
            "evaluateOnExit": [{"action": "RETRY", "onStatusReason": "Received status from SageMaker: *"}],
        },
        "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 2},
        "timeoutConfig": {"attemptDurationSeconds": 900},
    }
    job = queue.submit("my_job", "s", 7, {G5: 2, P4: 1}, tags={"a": "b"}, **request)
    submitted = queue.job(job)
    assert submitted.pop("serviceRequestPayload").startswith('{"ResourceConfig"')
    expected = {
        **request,
        "attempts": [],
        "capacityUsage": [
            {"capacityUnit": G5, "quantity": 2.0},
            {"capacityUnit": P4, "quantity": 1.0},
        ],
        "createdAt": 1_767_225_600_000,
        "isTerminated": False,
        "jobArn": f"arn:aws:batch:us-east-1:123456789012:service-job/{job}",
        "jobId": job,
        "jobName": "my_job",
        "jobQueue": "arn:aws:batch:us-east-1:123456789012:job-queue/queue",
        "quotaShareName": "s",
        "schedulingPriority": 7,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "SUBMITTED",
        "tags": {"a": "b"},
    }
    key = lambda usage: usage["capacityUnit"]  # noqa: E731
    assert sorted(submitted["capacityUsage"], key=key) == sorted(expected["capacityUsage"], key=key)
    del submitted["capacityUsage"], expected["capacityUsage"]
    assert submitted == expected
    queue.advance(1000)
    ended = queue.job(job)
    training_job = ended["latestAttempt"]["serviceResourceId"]
    assert training_job["name"] == "TrainingJobArn"
    assert training_job["value"].startswith("arn:aws:sagemaker:us-east-1:123456789012:training-job/AWSBatchmy-job")
    assert {key: ended[key] for key in ("scheduledAt", "startedAt", "stoppedAt", "statusReason", "status")} == {
        "scheduledAt": 1_767_225_601_000,
        "startedAt": 1_767_225_608_000,
        "stoppedAt": 1_767_226_208_000,
        "statusReason": "Received status from SageMaker: Training job completed",
        "status": "SUCCEEDED",
    }
    assert ended["attempts"] == [
        {
            "serviceResourceId": training_job,
            "startedAt": 1_767_225_608_000,
            "stoppedAt": 1_767_226_208_000,
            "statusReason": "Received status from SageMaker: Training job completed",
        }
    ]


def test_absent_options_are_left_out(queue: World) -> None:
    submitted = queue.job(queue.submit("job", "s"))
    assert submitted["schedulingPriority"] == 0
    absent = {
        "startedAt",
        "stoppedAt",
        "scheduledAt",
        "statusReason",
        "latestAttempt",
        "preemptionSummary",
        "preemptionConfiguration",
        "retryStrategy",
        "timeoutConfig",
        "shareIdentifier",
    }
    assert not absent & submitted.keys()


def test_training_job_names_are_ones_sagemaker_takes(queue: World) -> None:
    job = queue.submit("a_very-long" + "g" * 117, "s")
    queue.advance(1)
    name = queue.job(job)["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
    assert len(name) == 63
    assert name.startswith("AWSBatcha-very-longggg")


@pytest.mark.parametrize("by", ["id", "arn"])
def test_jobs_are_named_by_id_or_arn(queue: World, by: str) -> None:
    job = queue.submit("job", "s")
    name = job if by == "id" else queue.job(job)["jobArn"]
    answer = queue.batch.update_service_job(jobId=name, schedulingPriority=5)
    assert (answer["jobId"], answer["jobName"]) == (job, "job")
    assert queue.job(name)["schedulingPriority"] == 5
    queue.batch.terminate_service_job(jobId=name, reason="enough")
    ended = queue.job(name)
    assert (ended["status"], ended["statusReason"], ended["isTerminated"]) == ("FAILED", "enough", True)


@pytest.mark.parametrize("state", ["SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING"])
def test_terminate_frees_what_the_job_held(queue: World, state: str) -> None:
    waits = {"SUBMITTED": 0, "RUNNABLE": 1, "SCHEDULED": 1, "STARTING": 3, "RUNNING": 8}
    if state == "RUNNABLE":
        queue.submit("before", "s", 9, 2)
        queue.advance(1)
    job = queue.submit("job", "s", demand=2)
    queue.advance(waits[state])
    assert queue.job(job)["status"] == state
    if state == "RUNNABLE":
        queue.batch.terminate_service_job(jobId=job, reason="why not")
        queue.endpoint.finish("before")
    else:
        queue.submit("next", "s", demand=2)
        queue.batch.terminate_service_job(jobId=job, reason="why not")
        queue.advance(8 + 1)
        assert queue.statuses()["next"] == "RUNNING"
    queue.advance(1000)
    assert queue.job(job)["status"] == "FAILED"


def test_terminate_many(queue: World) -> None:
    jobs = [queue.submit(f"job-{index}", "s") for index in range(3)]
    unknown = "00000000-0000-4000-8000-000000000000"
    answer = queue.batch.terminate_service_jobs(jobs=[*jobs[:2], unknown, "nonsense"], reason="enough")
    assert answer["successful"] == [*jobs[:2], unknown]
    assert [(error["job"], error["code"]) for error in answer["errors"]] == [("nonsense", "ValidationException")]
    assert queue.statuses() == {"job-0": "FAILED", "job-1": "FAILED", "job-2": "SUBMITTED"}
    again = queue.batch.terminate_service_jobs(jobs=jobs[:1], reason="again")
    assert again["successful"] == jobs[:1]
    assert queue.job(jobs[0])["statusReason"] == "enough"


RETRY_ALL = {"attempts": 2}
RETRY_SOME = {
    "attempts": 3,
    "evaluateOnExit": [
        {"action": "EXIT", "onStatusReason": "Received status from SageMaker: Validation*"},
        {"action": "retry", "onStatusReason": "received STATUS from sagemaker: *error*"},
        {"action": "Exit", "onStatusReason": "*"},
    ],
}


@pytest.mark.parametrize(
    ("strategy", "reasons", "last"),
    [
        (None, ["InternalServerError"], "FAILED"),
        (RETRY_ALL, ["a", "b"], "FAILED"),
        (RETRY_ALL, ["a"], "RUNNING"),
        (RETRY_SOME, ["InternalServerError", "InternalServerError"], "RUNNING"),
        (RETRY_SOME, ["InternalServerError"] * 3, "FAILED"),
        (RETRY_SOME, ["ValidationException"], "FAILED"),
        (RETRY_SOME, ["Out of luck"], "FAILED"),
    ],
)
def test_retries(queue: World, strategy: dict[str, Any] | None, reasons: list[str], last: str) -> None:
    more = {} if strategy is None else {"retryStrategy": strategy}
    job = queue.submit("job", "s", **more)
    for reason in reasons:
        queue.advance(8)
        queue.endpoint.fail(job, reason)
    queue.advance(8)
    seen = queue.job(job)
    assert seen["status"] == last
    texts = [f"Received status from SageMaker: {reason}" for reason in reasons]
    assert [attempt["statusReason"] for attempt in seen["attempts"]] == texts
    assert len({attempt["serviceResourceId"]["value"] for attempt in seen["attempts"]}) == len(texts)


def test_attempt_that_takes_too_long(queue: World) -> None:
    job = queue.submit("job", "s", timeoutConfig={"attemptDurationSeconds": 60}, retryStrategy=RETRY_ALL)
    queue.advance(8 + 60)
    assert queue.job(job)["status"] == "SCHEDULED"
    queue.advance(7 + 60)
    ended = queue.job(job)
    assert ended["status"] == "FAILED"
    assert [attempt["statusReason"] for attempt in ended["attempts"]] == [ended["statusReason"]] * 2


def test_lack_of_capacity_uses_no_attempt(queue: World) -> None:
    job = queue.submit("job", "s")
    for _ in range(3):
        queue.advance(1)
        queue.endpoint.lack_capacity(job)
        waiting = queue.job(job)
        assert waiting["status"] == "RUNNABLE"
        assert waiting["statusReason"].startswith("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - ")
        assert "scheduledAt" not in waiting
        queue.advance(60)
        assert queue.job(job)["status"] == "SCHEDULED"
    queue.advance(1000)
    assert queue.job(job)["status"] == "SUCCEEDED"


def test_share_disabled_meanwhile_lets_its_jobs_finish(queue: World) -> None:
    job = queue.submit("job", "s")
    arn = queue.batch.list_quota_shares(jobQueue="queue")["quotaShares"][0]["quotaShareArn"]
    queue.batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
    with pytest.raises(ClientError, match="takes no jobs"):
        queue.submit("late", "s")
    queue.advance(1000)
    assert queue.job(job)["status"] == "SUCCEEDED"


def test_preempted_too_often_fails(world: World) -> None:
    world.make_queue(limits(g5=2))
    world.make_share("A", sharing=borrow())
    world.make_share("B")
    world.submit("stays", "A", 9)
    once = {"preemptionConfiguration": {"preemptionRetriesBeforeTermination": 1}}
    job = world.submit("borrows", "A", 1, **once)
    for name, expected in (("first", "RUNNABLE"), ("second", "FAILED")):
        world.advance(10)
        assert world.job(job)["status"] == "RUNNING"
        world.submit(name, "B")
        world.advance(21)
        assert world.job(job)["status"] == expected
        if expected == "RUNNABLE":
            world.advance(10)
            world.endpoint.finish(name)
    ended = world.job(job)
    assert ended["preemptionSummary"]["preemptedAttemptCount"] == 2
    newest, oldest = ended["preemptionSummary"]["recentPreemptedAttempts"]
    assert newest["stoppedAt"] > oldest["stoppedAt"]
    assert ended["statusReason"] == "Cross-share preemption triggered to reclaim borrowed capacity"


def test_blocked_job_is_ended_by_the_time_limit(world: World) -> None:
    reason = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    action = {"reason": reason, "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "TERMINATE"}
    world.make_queue(jobStateTimeLimitActions=[action])
    world.make_share("s")
    job = world.submit("too-big", "s", demand=2)
    world.advance(2)
    assert world.job(job)["statusReason"] == f"{reason} - Job requirements exceed quota share capacity limits."
    world.advance(600)
    ended = world.job(job)
    assert ended["status"] == "FAILED"
    assert ended["statusReason"] == f"Terminated by JobStateTimeLimit action due to reason: {reason}"


def test_client_token_is_used_once(queue: World) -> None:
    queue.submit("job", "s", clientToken="token")
    with pytest.raises(ClientError, match="clientToken token was used"):
        queue.submit("job", "s", clientToken="token")
    assert list(queue.statuses()) == ["job"]


def test_submits_per_second() -> None:
    with mock_quota_management(settings=Settings(submits_per_second=5)) as endpoint:
        world = World(endpoint)
        world.make_queue()
        world.make_share("s")
        for index in range(5):
            world.submit(f"job-{index}", "s")
        with pytest.raises(ClientError, match="at most 5"):
            world.submit("sixth", "s")
        world.advance(1)
        world.submit("sixth", "s")


def test_snapshot(world: World) -> None:
    world.make_queue(limits(g5=3, p4=1))
    world.make_share("A", limits(g5=1), borrow(200))
    world.make_share("B", limits(g5=1))
    world.make_share("C", limits(p4=1))
    jobs = {
        name: world.submit(name, share, priority)
        for name, share, priority in [
            ("a1", "A", 1),
            ("a2", "A", 5),
            ("a3", "A", 3),
            ("b1", "B", 1),
            ("b2", "B", 2),
        ]
    }
    world.advance(10)
    snapshot = world.batch.get_job_queue_snapshot(jobQueue="queue")
    names = {f"arn:aws:batch:us-east-1:123456789012:service-job/{job}": name for name, job in jobs.items()}
    assert [names[job["jobArn"]] for job in snapshot["frontOfQueue"]["jobs"]] == ["a3", "a1", "b1"]
    fronts = snapshot["frontOfQuotaShares"]["quotaShares"]
    assert {share: [names[job["jobArn"]] for job in jobs] for share, jobs in fronts.items()} == {
        "A": ["a3"],
        "B": ["b1"],
    }
    use = snapshot["queueUtilization"]
    assert use["totalCapacityUsage"] == [
        {"capacityUnit": G5, "quantity": 2.0},
        {"capacityUnit": P4, "quantity": 0.0},
    ]
    shares = use["quotaShareUtilization"]["topCapacityUtilization"]
    assert [(share["quotaShareName"], share["capacityUsage"][0]["quantity"]) for share in shares] == [
        ("A", 1.0),
        ("B", 1.0),
        ("C", 0.0),
    ]


def test_snapshot_shows_the_first_hundred(world: World) -> None:
    world.make_queue(limits(g5=1))
    world.make_share("s")
    for index in range(102):
        world.submit(f"job-{index}", "s")
    world.advance(1)
    jobs = world.batch.get_job_queue_snapshot(jobQueue="queue")["frontOfQueue"]["jobs"]
    assert len(jobs) == 100
