"""The events AWS Batch sends: which, when and in what shape."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from botocore.validate import ParamValidator
from local.world import World, borrow, limits

from constructs_qm.local import Settings, mock_quota_management
from constructs_qm.local.service_model import batch_model

PREEMPTION_CROSS = "Cross-share preemption triggered to reclaim borrowed capacity"


@pytest.fixture
def preempted(world: World) -> World:
    """A borrower that was preempted across shares."""
    world.make_queue(limits(g5=2))
    world.make_share("A", sharing=borrow())
    world.make_share("B")
    world.submit("stays", "A", 2)
    world.submit("borrows", "A", 1)
    world.advance(10)
    world.submit("owner", "B")
    world.advance(30)
    return world


def _kinds(world: World, job: str) -> list[tuple[str, str]]:
    """Return (kind, status) of a job's events."""
    arn = next(
        event["detail"]["jobArn"]
        for event in world.events("Batch Service Job State Change")
        if event["detail"]["jobName"] == job
    )
    return [
        (event["detail-type"].removeprefix("Batch Service Job "), event["detail"]["status"])
        for event in world.endpoint.events
        if event["resources"] == [arn]
    ]


def test_a_job_tells_of_every_state_but_the_submission(preempted: World) -> None:
    preempted.advance(1000)
    assert _kinds(preempted, "owner") == [
        ("State Change", "RUNNABLE"),
        ("State Change", "SCHEDULED"),
        ("State Change", "STARTING"),
        ("State Change", "RUNNING"),
        ("State Change", "SUCCEEDED"),
    ]


def test_a_preempted_job_tells_of_it(preempted: World) -> None:
    assert _kinds(preempted, "borrows") == [
        ("State Change", "RUNNABLE"),
        ("State Change", "SCHEDULED"),
        ("State Change", "STARTING"),
        ("State Change", "RUNNING"),
        ("Preemption Started", "RUNNING"),
        ("State Change", "RUNNABLE"),
        ("Preemption Completed", "RUNNABLE"),
    ]


def test_envelope(preempted: World) -> None:
    ids = set()
    for event in preempted.endpoint.events:
        ids.add(event["id"])
        assert list(event) == [
            "version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail",
        ]  # fmt: skip
        assert (event["version"], event["source"], event["account"], event["region"]) == (
            "0",
            "aws.batch",
            "123456789012",
            "us-east-1",
        )
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", event["time"])
    assert len(ids) == len(preempted.endpoint.events)


def test_state_change_is_the_description_without_tags_and_payload(world: World) -> None:
    world.make_queue()
    world.make_share("s")
    job = world.submit("job", "s", tags={"a": "b"}, timeoutConfig={"attemptDurationSeconds": 9000})
    world.advance(10)
    described = world.job(job)
    detail = world.events("Batch Service Job State Change")[-1]["detail"]
    assert detail == {key: value for key, value in described.items() if key not in ("tags", "serviceRequestPayload")}


def test_details_fit_the_model_of_the_description(preempted: World) -> None:
    preempted.submit("too-big", "B", 9, demand=2)
    preempted.advance(1000)
    shape = batch_model().operation_model("DescribeServiceJob").output_shape
    described = [
        event["detail"]
        for event in preempted.endpoint.events
        if event["detail-type"] in ("Batch Service Job State Change", "Batch Service Job Queue Blocked")
    ]
    assert len(described) > 10
    for detail in described:
        problems = ParamValidator().validate({"startedAt": 0, **detail}, shape)
        assert not problems.has_errors(), problems.generate_report()


def test_preemption_started(preempted: World) -> None:
    [event] = preempted.events("Batch Service Job Preemption Started")
    assert event["detail"] == {
        "statusReason": f"PREEMPTION_IN_PROGRESS: {PREEMPTION_CROSS}",
        "preemptedJobArn": event["resources"][0],
        "status": "RUNNING",
    }
    assert event["time"] == "2026-01-01T00:00:11Z"


def test_preemption_completed(preempted: World) -> None:
    [event] = preempted.events("Batch Service Job Preemption Completed")
    [attempt] = event["detail"]["preemptionSummary"].pop("recentPreemptedAttempts")
    assert attempt.pop("serviceResourceId")["name"] == "TrainingJobArn"
    assert attempt == {
        "startedAt": 1_767_225_608_000,
        "stoppedAt": 1_767_225_631_000,
        "statusReason": PREEMPTION_CROSS,
    }
    assert event["detail"] == {
        "preemptedJobArn": event["resources"][0],
        "preemptionSummary": {"preemptedAttemptCount": 1},
        "status": "RUNNABLE",
    }
    assert event["time"] == "2026-01-01T00:00:31Z"


def test_in_share_reason_has_the_documented_prefix(world: World) -> None:
    world.make_article_queue()
    for name, priority in (("high", 3), ("med", 2), ("low", 1)):
        world.submit(name, "QS1", priority)
    world.submit("qs2", "QS2")
    world.advance(60)
    world.submit("top", "QS1", 9)
    world.advance(1)
    reason = world.events("Batch Service Job Preemption Started")[-1]["detail"]["statusReason"]
    assert reason.startswith("PREEMPTION_IN_PROGRESS: In-share preemption")


def test_queue_blocked(world: World) -> None:
    world.make_queue()
    world.make_share("s")
    job = world.submit("too-big", "s", demand=2)
    world.advance(1)
    [event] = world.events("Batch Service Job Queue Blocked")
    assert event["detail"]["jobId"] == job
    assert event["detail"]["status"] == "RUNNABLE"
    assert event["detail"]["statusReason"] == (
        "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits."
    )
    assert not {"tags", "serviceRequestPayload"} & event["detail"].keys()


def test_calls_that_change_something_are_on_the_trail(world: World) -> None:
    world.make_queue()
    arn = world.make_share("s")
    job = world.submit("job", "s")
    world.batch.update_service_job(jobId=job, schedulingPriority=7)
    world.batch.update_quota_share(quotaShareArn=arn, capacityLimits=limits(g5=2))
    world.batch.describe_quota_share(quotaShareArn=arn)
    calls = world.events("AWS API Call via CloudTrail")
    assert [event["detail"]["eventName"] for event in calls] == [
        "CreateSchedulingPolicy",
        "CreateServiceEnvironment",
        "CreateJobQueue",
        "CreateQuotaShare",
        "SubmitServiceJob",
        "UpdateServiceJob",
        "UpdateQuotaShare",
    ]
    detail = calls[-2]["detail"]
    assert detail["eventSource"] == "batch.amazonaws.com"
    assert detail["requestParameters"] == {"jobId": job, "schedulingPriority": 7}
    assert detail["responseElements"]["jobId"] == job
    assert "serviceRequestPayload" not in calls[4]["detail"]["requestParameters"]


def test_without_a_trail() -> None:
    with mock_quota_management(settings=Settings(cloudtrail=False)) as endpoint:
        World(endpoint).make_queue()
        assert endpoint.events == []


def test_events_over_http(served: World) -> None:
    served.make_queue()
    served.make_share("s")
    served.submit("job", "s")
    served.advance(1000)
    every = _fetch(served, "events")
    assert every == served.endpoint.events
    assert _fetch(served, "events?after=3") == every[3:]
    without = _fetch(served, "events?api-calls=false")
    assert [event["detail"]["status"] for event in without] == [
        "RUNNABLE",
        "SCHEDULED",
        "STARTING",
        "RUNNING",
        "SUCCEEDED",
    ]


def _fetch(world: World, path: str) -> list[Any]:
    import urllib.request

    with urllib.request.urlopen(f"{world.url}/_quota/{path}") as response:
        return [json.loads(line) for line in response.read().decode().splitlines()]
