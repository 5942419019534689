"""``batch-quota validate --queue``: a queue at the embedded endpoint, and its drift from what is declared."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from support.templates import GOOD, edited

pytest.importorskip("moto", reason="needs the extra `local`")

from constructs_qm.local import SteppedClock
from constructs_qm.local.server import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from constructs_qm.local.server import Server

    Run = Callable[..., tuple[int, str, str]]

G5 = "ml.g5.xlarge"
POLICY: dict[str, Any] = {
    "environment": {G5: 4},
    "shares": [
        {"name": "vision", "limits": {G5: 2}, "strategy": "LEND_AND_BORROW", "borrowLimit": 100},
        {"name": "speech", "limits": {G5: 2}, "strategy": "LEND"},
    ],
}


@pytest.fixture(autouse=True)
def _no_real_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def limit(count: int) -> list[dict[str, Any]]:
    return [{"capacityUnit": G5, "maxCapacity": count}]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with start(clock=SteppedClock(), seed=1) as server:
        batch = boto3.client(
            "batch",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
            aws_secret_access_key="secret",
        )
        arn = batch.create_scheduling_policy(
            name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )["arn"]
        batch.create_service_environment(
            serviceEnvironmentName="environment",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=limit(4),
        )
        batch.create_job_queue(
            jobQueueName="training",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=arn,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
            jobStateTimeLimitActions=[
                {"state": "RUNNABLE", "action": "TERMINATE", "maxTimeSeconds": 3600, "reason": reason}
                for reason in (
                    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
                    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
                )
            ],
        )
        sharing = [{"strategy": "LEND_AND_BORROW", "borrowLimit": 100}, {"strategy": "LEND"}]
        for name, how in zip(("vision", "speech"), sharing, strict=True):
            batch.create_quota_share(
                quotaShareName=name,
                jobQueue="training",
                capacityLimits=limit(2),
                resourceSharingConfiguration=how,
                preemptionConfiguration={"inSharePreemption": "DISABLED"},
            )
        yield server


def findings(run: Run, server: Server, *arguments: object) -> list[dict[str, Any]]:
    _, out, err = run("validate", "--json", "--queue", "training", "--endpoint-url", server.url, *arguments)
    assert err == ""
    found: list[dict[str, Any]] = json.loads(out)["findings"]
    return found


def test_deployed_queue_without_fault(run: Run, server: Server) -> None:
    assert findings(run, server) == []


def test_deployed_queue_with_a_fault(run: Run, server: Server) -> None:
    batch = boto3.client("batch", endpoint_url=server.url)
    batch.update_service_environment(serviceEnvironment="environment", capacityLimits=limit(5))
    try:
        (found,) = findings(run, server)
    finally:
        batch.update_service_environment(serviceEnvironment="environment", capacityLimits=limit(4))
    assert (found["rule"], found["file"], found["line"]) == ("QM010", None, None)
    assert found["path"] == "service-environment/environment.capacityLimits.0.maxCapacity"


def test_no_such_queue(run: Run, server: Server) -> None:
    status, out, err = run("validate", "--queue", "nowhere", "--endpoint-url", server.url)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'nowhere'" in err


def test_no_drift(run: Run, server: Server, tmp_path: Path) -> None:
    for name, declared in (("policy.json", POLICY), ("template.json", GOOD)):
        path = tmp_path / name
        path.write_text(json.dumps(declared))
        assert findings(run, server, path) == []


DRIFT: list[tuple[dict[str, Any], str, str]] = [
    ({"environment": {G5: 8}}, "environment.ml.g5.xlarge", "capacity of ml.g5.xlarge is 4 as deployed, declared 8"),
    ({"limits": {G5: 3}}, "shares.vision.limits.ml.g5.xlarge", "capacity of ml.g5.xlarge is 2 as deployed, declared 3"),
    ({"borrowLimit": None}, "shares.vision.borrowLimit", "borrow limit is 100 as deployed, declared -1"),
    ({"borrowLimit": 50}, "shares.vision.borrowLimit", "borrow limit is 100 as deployed, declared 50"),
    ({"inSharePreemption": True}, "shares.vision.inSharePreemption", "DISABLED as deployed, declared ENABLED"),
    ({"state": "DISABLED"}, "shares.vision.state", "state is ENABLED as deployed, declared DISABLED"),
    ({"strategy": "LEND", "borrowLimit": None}, "shares.vision.strategy", "LEND_AND_BORROW as deployed, declared LEND"),
]


@pytest.mark.parametrize(("change", "path", "message"), DRIFT)
def test_drift_of_a_property(
    run: Run, server: Server, tmp_path: Path, change: dict[str, Any], path: str, message: str
) -> None:
    declared = deepcopy(POLICY)
    declared.update({key: value for key, value in change.items() if key == "environment"})
    declared["shares"][0].update({key: value for key, value in change.items() if key != "environment"})
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared, indent=1))
    drift = [found for found in findings(run, server, file) if found["rule"] == "QM-A15"]
    assert [(found["path"], found["line"] is not None) for found in drift] == [(path, True)]
    assert message in drift[0]["message"]


def test_drift_of_shares(run: Run, server: Server, tmp_path: Path) -> None:
    declared = deepcopy(POLICY)
    declared["shares"][1]["name"] = "audio"
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared))
    messages = [found["message"] for found in findings(run, server, file)]
    assert messages == ["quota share audio is not deployed", "quota share speech is deployed, but not declared"]


def test_drift_of_a_template(run: Run, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "template.json"
    limits = "Queue.Properties.JobStateTimeLimitActions.0.MaxTimeSeconds"
    file.write_text(json.dumps(edited(("Queue.Properties.Priority", 5), (limits, 600)), indent=1))
    assert [(found["path"], found["message"].split(" as ")[0]) for found in findings(run, server, file)] == [
        ("Queue.Priority", "priority is 1"),
        (
            "Queue.JobStateTimeLimitActions.0",
            "time limit for MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE is 3600",
        ),
    ]


def test_export_of_a_deployed_queue_is_a_deployment_file_without_drift(
    run: Run, server: Server, tmp_path: Path
) -> None:
    place = ["--team", "research", "--region", "us-east-1", "--account", "123456789012"]
    status, out, err = run("export", "--queue", "training", "--endpoint-url", server.url, *place)
    assert (status, err) == (0, "")
    file = tmp_path / "quota.yaml"
    file.write_text(out)
    assert run("validate", "--strict", file)[0] == 0
    assert findings(run, server, file) == []


def test_import_of_a_sample(run: Run, tmp_path: Path) -> None:
    units = [{"capacity_unit": G5, "max_capacity": 1}]
    share = {"name": "a", "capacity_limits": units, "sharing_strategy": "RESERVE", "in_share_preemption": False}
    queues = [
        {
            "name": "qm",
            "type": "quota-management",
            "priority": 1,
            "service_environment": {"name": "e", "capacity_limits": units},
            "quota_shares": [share],
        },
        {"name": "first-come", "type": "fifo"},
    ]
    sample, file = tmp_path / "sample.json", tmp_path / "quota.yaml"
    sample.write_text(json.dumps({"queues": queues}))
    status, out, err = run("import", sample, "--team", "a", "--region", "eu-west-1")
    assert (status, err) == (0, "batch-quota: not taken over: queue 'first-come' of type 'fifo'\n")
    file.write_text(out)
    assert run("validate", "--strict", file)[0] == 0
    sample.write_text("[]")
    status, out, err = run("import", sample, "--team", "a", "--region", "eu-west-1")
    assert (status, out, err.count("\n"), "sample.json: sample is list" in err) == (2, "", 1, True)
