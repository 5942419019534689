"""The article's flow through SageMaker's SDK, run by test_sagemaker_sdk.py in the SDK's own environment.

Nothing but the SDK speaks to AWS Batch once the resources are there.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request

import boto3
from sagemaker.core.training.configs import Compute, SourceCode
from sagemaker.train.aws_batch.training_queue import TrainingQueue
from sagemaker.train.model_trainer import ModelTrainer

URL = os.environ["AWS_ENDPOINT_URL"]
G5 = [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}]
OFF, ON = {"inSharePreemption": "DISABLED"}, {"inSharePreemption": "ENABLED"}


def advance(seconds: float) -> None:
    body = json.dumps({"advance": seconds}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{URL}/_quota/clock", body, method="POST")).read()


def make_resources(batch: object) -> list[str]:
    policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    batch.create_service_environment(
        serviceEnvironmentName="environment",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 3}],
    )
    batch.create_job_queue(
        jobQueueName="queue",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
    )
    shares = {
        "QS1": ({"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, ON),
        "QS2": ({"strategy": "LEND"}, OFF),
        "QS3": ({"strategy": "RESERVE"}, OFF),
    }
    return [
        batch.create_quota_share(
            quotaShareName=name,
            jobQueue="queue",
            capacityLimits=G5,
            resourceSharingConfiguration=sharing,
            preemptionConfiguration=preemption,
        )["quotaShareArn"]
        for name, (sharing, preemption) in shares.items()
    ]


def statuses(jobs: dict[str, object]) -> dict[str, str]:
    return {name: job.describe()["status"] for name, job in jobs.items()}


def main() -> None:
    batch = boto3.client("batch")
    shares = make_resources(batch)
    trainer = ModelTrainer(
        training_image="123456789012.dkr.ecr.us-east-1.amazonaws.com/image:latest",
        source_code=SourceCode(command="echo hello"),
        compute=Compute(instance_type="ml.g5.xlarge", instance_count=1),
        base_job_name="local",
    )
    queue = TrainingQueue("queue")
    jobs = {
        name: queue.submit(trainer, None, name, priority=priority, quota_share_name="QS1", tags={"a": "b"})
        for name, priority in (("high", 3), ("med", 2), ("low", 1))
    }
    advance(10)
    assert statuses(jobs) == {"high": "RUNNING", "med": "RUNNING", "low": "RUNNABLE"}, statuses(jobs)

    jobs["qs2"] = queue.submit(
        trainer, None, "qs2", retry_config={"attempts": 1}, quota_share_name="QS2",
        preemption_config={"preemptionRetriesBeforeTermination": 0},
    )  # fmt: skip
    advance(30)
    assert statuses(jobs) == {"high": "RUNNING", "med": "RUNNABLE", "low": "RUNNABLE", "qs2": "RUNNING"}

    assert jobs["low"].update(4)["jobName"] == "low"
    advance(30)
    assert statuses(jobs) == {"high": "RUNNABLE", "med": "RUNNABLE", "low": "RUNNING", "qs2": "RUNNING"}

    by_share = queue.list_jobs_by_share(status="RUNNABLE", quota_share_name="QS1")
    assert sorted(job.job_name for job in by_share) == ["high", "med"]
    assert {job.quota_share_name for job in by_share} == {"QS1"}
    assert [job.job_name for job in queue.list_jobs()] == ["qs2", "low"]
    assert queue.get_job("med").job_arn == jobs["med"].job_arn
    attached = jobs["low"].get_model_trainer()
    assert attached.compute.instance_type == "ml.g5.xlarge"

    jobs["high"].terminate("enough")
    advance(700)
    assert jobs["qs2"].result(timeout=5)["status"] == "SUCCEEDED"
    advance(700)
    assert jobs["med"].wait(timeout=5)["status"] == "SUCCEEDED"
    outcome = ""
    try:
        jobs["high"].result(timeout=5)
    except RuntimeError as error:
        outcome = str(error)
    assert outcome == "enough", outcome

    for share in shares:
        batch.update_quota_share(quotaShareArn=share, state="DISABLED")
        batch.delete_quota_share(quotaShareArn=share)
    batch.update_job_queue(jobQueue="queue", state="DISABLED")
    batch.delete_job_queue(jobQueue="queue")
    assert batch.describe_job_queues()["jobQueues"] == []


if __name__ == "__main__":
    sys.exit(main())
