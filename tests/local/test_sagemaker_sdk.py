"""SageMaker's Python SDK v3, unmodified. Opt-in: it is a gigabyte.

Set CONSTRUCTS_QM_SAGEMAKER to the folder of a virtual environment: one that has `sagemaker-train`,
or one to be made there, which installs it from the package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from local.world import G5

from constructs_qm.local import SteppedClock
from constructs_qm.local.client_env import client_environment, write_sagemaker_config
from constructs_qm.local.server import start

FLOW = Path(__file__).with_name("sagemaker_flow.py")


@pytest.mark.slow
def test_the_articles_flow_through_the_sdk(tmp_path: Path) -> None:
    place = os.environ.get("CONSTRUCTS_QM_SAGEMAKER")
    if not place:
        pytest.skip("set CONSTRUCTS_QM_SAGEMAKER to a virtual environment to run SageMaker's SDK")
    python = Path(place) / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "sagemaker-train>=1.27"], check=True)
    with start(clock=SteppedClock()) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            **server.environment(tmp_path / "sagemaker.yaml"),
        }
        done = subprocess.run([python, FLOW], env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        uploaded = [event["detail"].get("jobName") for event in server.endpoint.events]
    assert {"high", "med", "low", "qs2"} <= set(uploaded)


def test_environment_variables(tmp_path: Path) -> None:
    """A process with these variables and nothing else finds the endpoint and no other AWS."""
    with start(clock=SteppedClock()) as server:
        environment = server.environment(tmp_path / "deep" / "sagemaker.yaml")
        assert environment == client_environment(server.url, "us-east-1", tmp_path / "deep" / "sagemaker.yaml")
        script = (
            "import boto3; b = boto3.client('batch'); "
            f"b.create_service_environment(serviceEnvironmentName='e', serviceEnvironmentType="
            f"'SAGEMAKER_TRAINING', capacityLimits=[{{'capacityUnit': '{G5}', 'maxCapacity': 1}}])"
        )
        subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=60)
        assert [event["detail"]["eventName"] for event in server.endpoint.events] == ["CreateServiceEnvironment"]


def test_config_file(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "sagemaker.yaml"
    write_sagemaker_config(path)
    modules = yaml.safe_load(path.read_text())["SageMaker"]["PythonSDK"]["Modules"]
    assert modules == {"TelemetryOptOut": True, "Session": {"DefaultS3Bucket": "sagemaker-local"}}
