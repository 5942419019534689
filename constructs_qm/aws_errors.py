"""What an AWS call failed of, with what to do about it."""

from __future__ import annotations

__all__ = ["describe_failure"]

_MENDS = {
    "NoRegionError": "set AWS_DEFAULT_REGION, or name the queue by its ARN",
    "NoCredentialsError": "set AWS_PROFILE, or run `aws configure`",
    "ProfileNotFound": "set AWS_PROFILE to one that `aws configure list-profiles` names",
    "EndpointConnectionError": "start what listens there, or give another --endpoint-url",
}
"""By the name of botocore's error; others say it themselves."""


def describe_failure(error: Exception) -> str:
    """Return the message of an error of boto3, and how to mend it where that is known."""
    mend = _MENDS.get(type(error).__name__)
    message = str(error).rstrip(".")
    return f"{message}: {mend}" if mend else message
