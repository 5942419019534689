"""The real AWS CLI, with the commands of the guide's pages on quota management, in their order.

Names and numbers stand where the guide has placeholders; the payload's quotes aren't escaped, since
the guide's are not JSON once a shell has read them.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from constructs_qm.local.client_env import client_environment

pytest.importorskip("awscli", reason="needs the extra `dev`")

from awscli.clidriver import create_clidriver

if TYPE_CHECKING:
    from local.world import World

PAYLOAD = (
    '{"TrainingJobName": "sagemaker-training-job-example", "AlgorithmSpecification": {"TrainingImage": '
    '"123456789012.dkr.ecr.us-east-1.amazonaws.com/pytorch-inference:1.8.0-cpu-py3", "TrainingInputMode": '
    '"File", "ContainerEntrypoint": ["sleep", "1"]}, "RoleArn":"arn:aws:iam::123456789012:role/'
    'SageMakerExecutionRole", "OutputDataConfig": {"S3OutputPath": "s3://example-bucket/model-output/"}, '
    '"ResourceConfig": {"InstanceType": "ml.m6i.large", "InstanceCount": 1, "VolumeSizeInGB": 1}}'
)


class _Cli:
    """Runs ``aws batch`` against the endpoint: the real CLI's own entry point, started once."""

    def __init__(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        self.world = world
        self._capsys = capsys
        self._driver = create_clidriver()

    def __call__(self, command: str) -> Any:
        words = shlex.split(command.replace("\\\n", " "))
        assert words[:2] == ["aws", "batch"]
        status = self._driver.main([*words[1:], "--endpoint-url", self.world.url, "--output", "json"])
        shown = self._capsys.readouterr()
        assert status == 0, f"{command}\n{shown.err}"
        return json.loads(shown.out) if shown.out.strip() else None


@pytest.fixture
def cli(served: World, capsys: pytest.CaptureFixture[str]) -> _Cli:
    return _Cli(served, capsys)


def _create(cli: _Cli) -> None:
    """create-quota-management-resources, create-quota-shares."""
    policy = cli(
        "aws batch create-scheduling-policy --name my-qm-sagemaker-scheduling-policy "
        "--quota-share-policy idleResourceAssignmentStrategy=FIFO"
    )
    cli(
        """aws batch create-service-environment \\
          --service-environment-name my-qm-sagemaker-service-env \\
          --service-environment-type SAGEMAKER_TRAINING \\
          --capacity-limits capacityUnit=ml.m6i.large,maxCapacity=20"""
    )
    [environment] = cli(
        """aws batch describe-service-environments \\
          --service-environments my-qm-sagemaker-service-env"""
    )["serviceEnvironments"]
    assert (environment["state"], environment["status"]) == ("ENABLED", "VALID")
    cli(
        f"""aws batch create-job-queue \\
          --job-queue-name my-qm-sagemaker-jq \\
          --job-queue-type SAGEMAKER_TRAINING \\
          --priority 1 \\
          --service-environment-order order=1,serviceEnvironment=my-qm-sagemaker-service-env \\
          --scheduling-policy-arn {policy["arn"]}"""
    )
    [queue] = cli("aws batch describe-job-queues --job-queues my-qm-sagemaker-jq")["jobQueues"]
    assert (queue["state"], queue["status"], queue["statusReason"]) == ("ENABLED", "VALID", "JobQueue Healthy")
    shares = {
        "lend_and_borrow_qs": (5, "LEND_AND_BORROW,borrowLimit=100", "ENABLED"),
        "lend_qs": (8, "LEND", "DISABLED"),
        "reserve_qs": (2, "RESERVE", "DISABLED"),
    }
    for name, (capacity, strategy, in_share) in shares.items():
        cli(
            f"""aws batch create-quota-share \\
              --quota-share-name {name} \\
              --job-queue my-qm-sagemaker-jq \\
              --capacity-limits maxCapacity={capacity},capacityUnit=ml.m6i.large \\
              --resource-sharing-configuration strategy={strategy} \\
              --preemption-configuration inSharePreemption={in_share}"""
        )


def _submit_and_look(cli: _Cli) -> None:
    """submit-quota-share-jobs, monitor-service-jobs, terminate."""
    job = cli(
        f"""aws batch submit-service-job \\
            --job-name "my-sagemaker-training-job" \\
            --job-queue "my-qm-sagemaker-jq" \\
            --service-job-type "SAGEMAKER_TRAINING" \\
            --quota-share-name "lend_qs" \\
            --timeout-config '{{"attemptDurationSeconds":3600}}' \\
            --scheduling-priority 5 \\
            --retry-strategy attempts=1 \\
            --preemption-configuration preemptionRetriesBeforeTermination=3 \\
            --client-token "unique-token-12345" \\
            --tags team=a \\
            --service-request-payload '{PAYLOAD}'"""
    )
    cli.world.advance(10)
    listed = [
        cli(command)
        for command in (
            "aws batch list-service-jobs --job-queue my-qm-sagemaker-jq --job-status RUNNING",
            "aws batch list-service-jobs --job-queue my-qm-sagemaker-jq --job-status RUNNABLE",
            "aws batch list-service-jobs --job-queue my-qm-sagemaker-jq"
            " --filters name=JOB_NAME,values=my-sagemaker-training-job",
            "aws batch list-service-jobs --job-queue my-qm-sagemaker-jq --job-status RUNNING"
            " --filters name=QUOTA_SHARE_NAME,values=lend_qs",
            "aws batch get-job-queue-snapshot --job-queue my-qm-sagemaker-jq",
            f"aws batch describe-service-job --job-id {job['jobId']}",
            "aws batch list-quota-shares --job-queue my-qm-sagemaker-jq --max-items 2",
        )
    ]
    assert [len(answer["jobSummaryList"]) for answer in listed[:4]] == [1, 0, 1, 1]
    use = listed[4]["queueUtilization"]["quotaShareUtilization"]["topCapacityUtilization"]
    assert use[0]["quotaShareName"] == "lend_qs"
    assert listed[5]["status"] == "RUNNING"
    assert len(listed[6]["quotaShares"]) == 2
    assert "NextToken" in listed[6]
    cli(f"aws batch update-service-job --job-id {job['jobId']} --scheduling-priority 9")
    cli(f"aws batch terminate-service-job --job-id {job['jobId']} --reason enough")


def _tag(cli: _Cli, share: str) -> None:
    cli(f"aws batch tag-resource --resource-arn {share} --tags team=a,cost=b")
    cli(f"aws batch untag-resource --resource-arn {share} --tag-keys cost")
    assert cli(f"aws batch list-tags-for-resource --resource-arn {share}")["tags"] == {"team": "a"}


def _delete(cli: _Cli, shares: list[str], policy: str) -> None:
    """delete-quota-management-resources: shares, queue, environment, policy."""
    for share in shares:
        cli(f"aws batch update-quota-share --quota-share-arn {share} --state DISABLED")
        cli(f"aws batch delete-quota-share --quota-share-arn {share}")
    cli("aws batch update-job-queue --job-queue my-qm-sagemaker-jq --state DISABLED")
    cli("aws batch delete-job-queue --job-queue my-qm-sagemaker-jq")
    cli(
        """aws batch update-service-environment \\
            --service-environment my-qm-sagemaker-service-env \\
            --state DISABLED"""
    )
    cli("aws batch delete-service-environment --service-environment my-qm-sagemaker-service-env")
    cli(f"aws batch delete-scheduling-policy --arn {policy}")
    left = cli("aws batch describe-service-environments --service-environments my-qm-sagemaker-service-env")
    assert left == {"serviceEnvironments": []}


def test_the_guides_commands(cli: _Cli) -> None:
    _create(cli)
    _submit_and_look(cli)
    shares = [
        share["quotaShareArn"]
        for share in cli.world.batch.list_quota_shares(jobQueue="my-qm-sagemaker-jq")["quotaShares"]
    ]
    described = cli(f"aws batch describe-quota-share --quota-share-arn {shares[0]}")
    assert described["status"] == "VALID"
    _tag(cli, shares[0])
    [policy] = cli("aws batch list-scheduling-policies")["schedulingPolicies"]
    [details] = cli(f"aws batch describe-scheduling-policies --arns {policy['arn']}")["schedulingPolicies"]
    assert details["quotaSharePolicy"] == {"idleResourceAssignmentStrategy": "FIFO"}
    cli(
        f"aws batch update-scheduling-policy --arn {policy['arn']} "
        "--quota-share-policy idleResourceAssignmentStrategy=FIFO"
    )
    _delete(cli, shares, policy["arn"])


def test_an_error_is_one_line_and_a_status(served: World, tmp_path: Path) -> None:
    """As a process of its own; ``--endpoint-url`` wins over the environment."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        **client_environment("http://127.0.0.1:9"),
    }
    aws = Path(sys.executable).with_name("aws")
    command = [aws, "batch", "describe-quota-share", "--quota-share-arn", "nowhere", "--endpoint-url", served.url]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (254, 255)  # 254 from version 2 on
    message = "An error occurred (ClientException) when calling the DescribeQuotaShare operation: "
    assert f"{message}Quota share nowhere does not exist" in done.stderr.strip()
