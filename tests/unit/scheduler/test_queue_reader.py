"""Reading a queue that changes meanwhile, or tells less than usual; the usual is in tests/local."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quota_scheduler import DocumentError, PayloadError
from quota_scheduler.queue_reader import read_job, read_queue
from quota_scheduler.recorded_state import load_state

G5 = "ml.g5.xlarge"
LIMITS = [{"capacityUnit": G5, "maxCapacity": 2}]


def share(strategy: str = "LEND", **sharing: object) -> dict[str, Any]:
    return {
        "quotaShareName": "A",
        "capacityLimits": LIMITS,
        "resourceSharingConfiguration": {"strategy": strategy, **sharing},
        "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
    }


def job(job_id: str, status: str = "RUNNING", **more: object) -> dict[str, Any]:
    usage = [{"capacityUnit": G5, "quantity": 1.0}]
    return {
        **{"jobId": job_id, "jobName": f"name-{job_id}", "quotaShareName": "A", "capacityUsage": usage},
        **{"status": status, "createdAt": 1500, "scheduledAt": 2500, **more},
    }


class Batch:
    """A client that answers from what it is given; jobs may have moved on since they were listed."""

    def __init__(
        self,
        jobs: list[dict[str, Any]] | None = None,
        listed: dict[str, list[str]] | None = None,
        shares: list[dict[str, Any]] | None = None,
        environments: int = 1,
    ) -> None:
        self.jobs = {entry["jobId"]: entry for entry in jobs or []}
        self.listed = listed or {}
        self.shares = [share()] if shares is None else shares
        self.environments = environments
        self.described: list[str] = []
        self.operation = ""

    def describe_job_queues(self, jobQueues: list[str]) -> dict[str, Any]:  # noqa: N803
        order = [{"order": index, "serviceEnvironment": f"arn:{index}"} for index in range(self.environments)]
        return {"jobQueues": [{"jobQueueName": jobQueues[0], "serviceEnvironmentOrder": order}]}

    def describe_service_environments(self, serviceEnvironments: list[str]) -> dict[str, Any]:  # noqa: N803
        return {"serviceEnvironments": [{"capacityLimits": LIMITS} for _ in serviceEnvironments]}

    def describe_service_job(self, jobId: str) -> dict[str, Any]:  # noqa: N803
        self.described.append(jobId)
        return self.jobs[jobId]

    def get_paginator(self, operation: str) -> Batch:
        self.operation = operation
        return self

    def paginate(self, jobQueue: str, jobStatus: str = "") -> list[dict[str, Any]]:  # noqa: N803
        if self.operation == "list_quota_shares":
            return [{"quotaShares": [entry]} for entry in self.shares]
        return [{"jobSummaryList": [{"jobId": job_id}]} for job_id in self.listed.get(jobStatus, [])]


def test_a_job_that_moves_on_is_seen_once_and_as_it_was_last() -> None:
    batch = Batch([job("1", "STARTING")], {"RUNNABLE": ["1"], "SCHEDULED": ["1"], "STARTING": ["1"]})
    document = read_queue(batch, "q")
    assert [(entry["job"], entry["state"]) for entry in document["jobs"]] == [("1", "STARTING")]
    assert batch.described == ["1"]


def test_a_job_that_ended_meanwhile_is_left_out() -> None:
    batch = Batch([job("1", "SUCCEEDED"), job("2")], {"RUNNING": ["1", "2"]})
    assert [entry["job"] for entry in read_queue(batch, "q")["jobs"]] == ["2"]


def test_times_are_seconds_and_what_is_not_told_is_left_out() -> None:
    assert read_job(Batch([job("1")]), "1") == {
        **{"job": "1", "name": "name-1", "share": "A", "demand": {G5: 1}, "state": "RUNNING"},
        **{"createdAt": 1.5, "dispatchedAt": 2.5},
    }


def test_a_priority_of_0_is_told() -> None:
    assert read_job(Batch([job("1", schedulingPriority=0)]), "1")["priority"] == 0


def test_the_payload_tells_the_demand_where_usage_does_not() -> None:
    payload = json.dumps({"ResourceConfig": {"InstanceType": G5, "InstanceCount": 3}})
    assert read_job(Batch([job("1", capacityUsage=[], serviceRequestPayload=payload)]), "1")["demand"] == {G5: 3}
    with pytest.raises(PayloadError):
        read_job(Batch([job("1", capacityUsage=[])]), "1")


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        (share("LEND", borrowLimit=-1), None),
        (share("RESERVE", borrowLimit=0), None),
        (share("LEND_AND_BORROW", borrowLimit=50), 50),
        (share("LEND_AND_BORROW"), None),
    ],
)
def test_a_borrow_limit_counts_for_a_share_that_borrows_only(given: dict[str, Any], limit: int | None) -> None:
    document = read_queue(Batch(shares=[given]), "q")
    assert document["shares"][0].get("borrowLimit") == limit
    load_state(document)


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (Batch(environments=0), "job queue 'q' has 0 service environments"),
        (Batch(environments=2), "job queue 'q' has 2 service environments"),
        (Batch(shares=[]), "job queue 'q' has no quota shares"),
    ],
)
def test_fails_for_a_queue_without_quota_management(batch: Batch, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        read_queue(batch, "q")
