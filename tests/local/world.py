"""A short way to set a queue up, submit to it and look at it, through a real boto3 client."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from botocore.config import Config

    from constructs_qm.local import Endpoint


@cache
def _session() -> boto3.Session:
    """Return one session for all tests: reading botocore's models again costs more than most tests do."""
    return boto3.Session()


G5 = "ml.g5.xlarge"
P4 = "ml.p4d.24xlarge"
REGION = "us-east-1"
FIFO = {"idleResourceAssignmentStrategy": "FIFO"}


def limits(**units: int) -> list[dict[str, Any]]:
    names = {"g5": G5, "p4": P4}
    return [{"capacityUnit": names[unit], "maxCapacity": most} for unit, most in units.items()]


def payload(instances: dict[str, int] | int = 1) -> str:
    demand = instances if isinstance(instances, dict) else {G5: instances}
    groups = [
        {"InstanceGroupName": f"group-{index}", "InstanceType": unit, "InstanceCount": count}
        for index, (unit, count) in enumerate(demand.items())
    ]
    if len(groups) > 1:
        return json.dumps({"ResourceConfig": {"InstanceGroups": groups}})
    return json.dumps({"ResourceConfig": groups[0]})


def borrow(percent: int = -1) -> dict[str, Any]:
    return {"strategy": "LEND_AND_BORROW", "borrowLimit": percent}


LEND = {"strategy": "LEND"}
RESERVE = {"strategy": "RESERVE"}


class World:
    """An endpoint and a client that speaks to it.

    Jobs are named; two of one name are told apart by id only.
    """

    def __init__(self, endpoint: Endpoint, url: str | None = None) -> None:
        self.endpoint = endpoint
        self.url = url
        self.batch = self.client("batch")

    def client(self, service: str, region: str = REGION, config: Config | None = None) -> Any:
        return _session().client(service, region_name=region, endpoint_url=self.url, config=config)

    def advance(self, seconds: float) -> None:
        self.endpoint.clock.advance(seconds)

    # -- resources --------------------------------------------------------------

    def make_policy(self, name: str = "policy") -> str:
        return str(self.batch.create_scheduling_policy(name=name, quotaSharePolicy=FIFO)["arn"])

    def make_environment(self, capacity: list[dict[str, Any]], name: str = "environment") -> str:
        created = self.batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=capacity,
        )
        return str(created["serviceEnvironmentArn"])

    def make_queue(self, capacity: list[dict[str, Any]] | None = None, name: str = "queue", **more: Any) -> str:
        """Make a queue with an environment and a policy of its own."""
        request: dict[str, Any] = {
            "jobQueueName": name,
            "jobQueueType": "SAGEMAKER_TRAINING",
            "priority": 1,
            "schedulingPolicyArn": self.make_policy(f"{name}-policy"),
            "serviceEnvironmentOrder": [
                {
                    "order": 1,
                    "serviceEnvironment": self.make_environment(capacity or limits(g5=3), f"{name}-environment"),
                }
            ],
        }
        return str(self.batch.create_job_queue(**{**request, **more})["jobQueueArn"])

    def make_share(
        self,
        name: str,
        capacity: list[dict[str, Any]] | None = None,
        sharing: dict[str, Any] | None = None,
        *,
        in_share: bool = False,
        queue: str = "queue",
        **more: Any,
    ) -> str:
        created = self.batch.create_quota_share(
            quotaShareName=name,
            jobQueue=queue,
            capacityLimits=capacity or limits(g5=1),
            resourceSharingConfiguration=sharing or LEND,
            preemptionConfiguration={"inSharePreemption": "ENABLED" if in_share else "DISABLED"},
            **more,
        )
        return str(created["quotaShareArn"])

    def make_article_queue(self) -> None:
        """Make the launch article's queue."""
        self.make_queue(limits(g5=3))
        self.make_share("QS1", sharing=borrow(200), in_share=True)
        self.make_share("QS2", sharing=LEND)
        self.make_share("QS3", sharing=RESERVE)

    # -- jobs -------------------------------------------------------------------

    def submit(
        self,
        name: str,
        share: str,
        priority: int | None = None,
        demand: dict[str, int] | int = 1,
        **more: Any,
    ) -> str:
        """Submit a job; return its id."""
        request: dict[str, Any] = {
            "jobName": name,
            "jobQueue": "queue",
            "serviceJobType": "SAGEMAKER_TRAINING",
            "serviceRequestPayload": payload(demand),
            "quotaShareName": share,
        }
        if priority is not None:
            request["schedulingPriority"] = priority
        return str(self.batch.submit_service_job(**{**request, **more})["jobId"])

    def job(self, job_id: str) -> dict[str, Any]:
        return _body(self.batch.describe_service_job(jobId=job_id))

    def statuses(self) -> dict[str, str]:
        """Return every job's status by name."""
        every = [{"name": "JOB_NAME", "values": ["*"]}]
        pages = self.batch.get_paginator("list_service_jobs").paginate(filters=every)
        return {job["jobName"]: job["status"] for page in pages for job in page["jobSummaryList"]}

    # -- events -----------------------------------------------------------------

    def events(self, detail_type: str) -> list[dict[str, Any]]:
        return [event for event in self.endpoint.events if event["detail-type"] == detail_type]


def _body(response: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in response.items() if key != "ResponseMetadata"}
