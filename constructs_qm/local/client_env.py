"""What AWS clients need to find the endpoint, and nothing else: environment variables and a config file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BUCKET", "ROLE", "client_environment", "write_sagemaker_config"]

BUCKET = "sagemaker-local"
"""Bucket SageMaker's SDK uploads to; :meth:`~constructs_qm.local.server.Server.environment` makes it."""

ROLE = "arn:aws:iam::123456789012:role/sagemaker-local"
"""Role of training jobs; nothing checks that it exists."""


def client_environment(url: str, region: str = "us-east-1", sagemaker_config: Path | None = None) -> dict[str, str]:
    """Return the environment in which AWS SDKs, the AWS CLI and SageMaker's SDK use the endpoint.

    Parameters
    ----------
    url : str
        Of the endpoint.
    region : str
    sagemaker_config : Path, optional
        The file :func:`write_sagemaker_config` wrote.

    Returns
    -------
    dict of str to str
        Credentials are made up; the endpoint takes any.
    """
    environment = {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_ENDPOINT_URL": url,
        "AWS_EC2_METADATA_DISABLED": "true",
        # SageMaker's SDK asks IAM about the role before it submits
        "SAGEMAKER_VALIDATE_ROLE": "false",
    }
    if sagemaker_config is not None:
        environment["SAGEMAKER_USER_CONFIG_OVERRIDE"] = str(sagemaker_config)
    return environment


def write_sagemaker_config(path: Path) -> None:
    """Write a config file for SageMaker's SDK: no telemetry, our bucket and role.

    Without the bucket the SDK asks the real STS for the account before it submits anything.

    Parameters
    ----------
    path : Path
        Overwritten; JSON, hence YAML too.
    """
    config = {
        "SchemaVersion": "1.0",
        "SageMaker": {
            "PythonSDK": {
                "Modules": {
                    "TelemetryOptOut": True,
                    "Session": {"DefaultS3Bucket": BUCKET},
                }
            },
            "TrainingJob": {"RoleArn": ROLE},
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=2) + "\n")
