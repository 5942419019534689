"""ARNs of Batch resources (service authorization reference)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ArnMaker"]


@dataclass(frozen=True)
class ArnMaker:
    """Makes the ARNs of one account and Region.

    Parameters
    ----------
    partition : str
        ``aws``, ``aws-cn`` or ``aws-us-gov``.
    region : str
    account : str
        12 digits.
    """

    partition: str
    region: str
    account: str

    def batch(self, kind: str, name: str) -> str:
        """Return the ARN of a Batch resource, `kind` being e.g. ``job-queue``."""
        return f"arn:{self.partition}:batch:{self.region}:{self.account}:{kind}/{name}"

    def training_job(self, name: str) -> str:
        """Return the ARN of a SageMaker training job."""
        return f"arn:{self.partition}:sagemaker:{self.region}:{self.account}:training-job/{name}"
