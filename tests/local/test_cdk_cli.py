"""The real cdk CLI, pinned in package.json, against the endpoint: a stack's whole life."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from local.world import World, limits

from constructs_qm.local import SteppedClock
from constructs_qm.local.client_env import client_environment
from constructs_qm.local.server import start

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
APP = Path(__file__).with_name("cdk_app.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CDK.exists(), reason="needs the cdk CLI: npm ci"),
]


class _Cdk:
    """Runs ``cdk`` in a folder of its own."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self._folder = folder
        assert world.url is not None
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CI": "true",
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_VALIDATION": "false",
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lambda")]),
            **client_environment(world.url),
        }

    def _synthesise(self, variant: str) -> Path:
        """Return the cloud assembly of a variant: made once, since that takes longest."""
        out = self._folder / f"cdk.out.{variant}"
        if not out.exists():
            environment = {**self._environment, "VARIANT": variant, "CDK_OUTDIR": str(out)}
            subprocess.run([sys.executable, APP], env=environment, check=True, timeout=120)
        return out

    def run(self, *words: str, variant: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [CDK, *words, "--app", self._synthesise(variant)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def __call__(self, *words: str, variant: str = "") -> str:
        done = self.run(*words, variant=variant)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output[-5000:]
        return output

    def output(self, stack: str, key: str) -> str:
        [found] = self.world.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        return next(str(output["OutputValue"]) for output in found["Outputs"] if output["OutputKey"] == key)

    def shares(self) -> dict[str, Any]:
        [queue] = self.world.batch.describe_job_queues()["jobQueues"]
        shares = self.world.batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"]
        return {share["quotaShareName"]: share for share in shares}


@pytest.fixture
def cdk(tmp_path: Path) -> Iterator[_Cdk]:
    with start(clock=SteppedClock()) as server:
        yield _Cdk(World(server.endpoint, server.url), tmp_path)


def _use(cdk: _Cdk) -> None:
    """Run a job through the deployed queue: rule, FIFO queue and function bring its events to the table."""
    world = cdk.world
    job = world.submit("first", "QS1", jobQueue=cdk.output("Queue", "QueueArn"))
    for _ in range(70):
        world.advance(1)
    world.endpoint.finish(job)
    for _ in range(10):
        world.advance(1)
    assert world.job(job)["status"] == "SUCCEEDED"
    pages = world.client("dynamodb").get_paginator("scan").paginate(TableName=cdk.output("Audit", "TableName"))
    kept = {item["pk"]["S"] for page in pages for item in page["Items"]}
    events = world.events("Batch Service Job State Change")
    assert [event["detail"]["status"] for event in events] == [
        "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED",
    ]  # fmt: skip
    assert kept == {"call#tick", *(f"message#{event['id']}" for event in events)}


def test_a_stacks_whole_life(cdk: _Cdk) -> None:
    deploy = ("deploy", "--all", "--require-approval", "never")
    cdk("bootstrap", "aws://123456789012/us-east-1")
    cdk(*deploy)
    first = cdk.shares()
    assert set(first) == {"QS1", "QS2", "QS3"}
    assert first["QS1"]["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 100}

    _use(cdk)

    assert cdk(*deploy).count("(no changes)") == 2
    assert "Number of stacks with differences: 0" in cdk("diff")
    assert "AWS::Batch::QuotaShare" in cdk("diff", variant="bigger")

    cdk(*deploy, variant="bigger")
    second = cdk.shares()
    assert second["QS1"]["capacityLimits"] == limits(g5=2)
    assert second["QS1"]["quotaShareArn"] == first["QS1"]["quotaShareArn"]

    cdk(*deploy)
    failed = cdk.run(*deploy, variant="broken")
    assert failed.returncode == 1
    assert "QM005" in failed.stdout + failed.stderr
    assert cdk.shares() == first
    [environment] = cdk.world.batch.describe_service_environments()["serviceEnvironments"]
    assert environment["capacityLimits"] == limits(g5=3)
    assert cdk(*deploy).count("(no changes)") == 2

    cdk("destroy", "--all", "--force")
    assert cdk.world.batch.describe_job_queues()["jobQueues"] == []
    for service, operation, key in (
        ("sqs", "list_queues", "QueueUrls"),
        ("dynamodb", "list_tables", "TableNames"),
        ("lambda", "list_functions", "Functions"),
        ("scheduler", "list_schedules", "Schedules"),
    ):
        assert not getattr(cdk.world.client(service), operation)().get(key), service
