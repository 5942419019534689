"""Every example's stack comes up and goes away again at the endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from local.asset_bucket import upload_assets

from constructs_qm.local import mock_quota_management

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_examples_stacks(example: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lambda")]),
    }
    subprocess.run([sys.executable, example], env=environment, check=True, timeout=120, capture_output=True)
    templates = sorted(tmp_path.glob("*.template.json"))
    assert templates
    with mock_quota_management():
        boto3.client("ssm", region_name="us-east-1").put_parameter(
            Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String"
        )
        upload_assets(boto3.client("s3", region_name="us-east-1"), tmp_path)
        cloudformation = boto3.client("cloudformation", region_name="us-east-1")
        names = [template.name.partition(".")[0] for template in templates]
        for name, template in zip(names, templates, strict=True):
            cloudformation.create_stack(
                StackName=name, TemplateBody=template.read_text(), Capabilities=["CAPABILITY_IAM"]
            )
            [stack] = cloudformation.describe_stacks(StackName=name)["Stacks"]
            assert stack["StackStatus"] == "CREATE_COMPLETE", stack.get("StackStatusReason")
        resources = [
            resource
            for template in templates
            for resource in json.loads(template.read_text())["Resources"].values()
            if resource["Type"] == "AWS::Batch::JobQueue"
        ]
        batch = boto3.client("batch", region_name="us-east-1")
        queues = batch.describe_job_queues()["jobQueues"]
        assert [queue["status"] for queue in queues] == ["VALID"] * len(resources)
        for queue in queues:
            assert batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"]
        for name in reversed(names):
            cloudformation.delete_stack(StackName=name)
        assert cloudformation.describe_stacks()["Stacks"] == []
        retained = [resource for resource in resources if resource.get("DeletionPolicy") == "Retain"]
        assert len(batch.describe_job_queues()["jobQueues"]) == len(retained)
