"""What the team expects of its stack: idle capacity is borrowed, and given back when its owner comes."""

import json

import aws_cdk as cdk
import boto3
import pytest

from constructs_qm.local import Endpoint
from examples.article import ArticleStack  # the stack under test: yours

PAYLOAD = json.dumps({"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}})


@pytest.fixture(scope="session")
def template() -> str:
    """Synthesise the stack once; without the rule that asks for a bootstrapped account."""
    synthesizer = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    app = cdk.App(default_stack_synthesizer=synthesizer)
    stack = ArticleStack(app, "Article")
    return json.dumps(app.synth().get_stack_by_name(stack.stack_name).template)


@pytest.fixture
def queue(quota_endpoint: Endpoint, template: str) -> str:
    """Deploy the stack, and return the name of its queue."""
    boto3.client("cloudformation").create_stack(StackName="Article", TemplateBody=template)
    [queue] = boto3.client("batch").describe_job_queues()["jobQueues"]
    return str(queue["jobQueueName"])


def submit(queue: str, share: str, name: str) -> str:
    job = boto3.client("batch").submit_service_job(
        jobName=name,
        jobQueue=queue,
        quotaShareName=share,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=PAYLOAD,
    )
    return str(job["jobId"])


def state_of(job: str) -> str:
    return str(boto3.client("batch").describe_service_job(jobId=job)["status"])


def test_borrowed_capacity_comes_back(quota_endpoint: Endpoint, queue: str) -> None:
    own, borrowing = submit(queue, "QS1", "own"), submit(queue, "QS1", "borrowing")
    quota_endpoint.clock.advance(60)
    assert (state_of(own), state_of(borrowing)) == ("RUNNING", "RUNNING")

    owner = submit(queue, "QS2", "owner")
    quota_endpoint.clock.advance(60)
    assert (state_of(owner), state_of(borrowing)) == ("RUNNING", "RUNNABLE")


def test_reserved_capacity_is_never_lent(quota_endpoint: Endpoint, queue: str) -> None:
    jobs = [submit(queue, "QS1", f"job-{number}") for number in range(3)]
    quota_endpoint.clock.advance(60)
    assert [state_of(job) for job in jobs] == ["RUNNING", "RUNNING", "RUNNABLE"]
