"""One attempt of a service job: the training job it became."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from constructs_qm.local.events import milliseconds

__all__ = ["Attempt", "training_job_name"]

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9-]")


def training_job_name(job_name: str, attempt_id: str) -> str:
    """Return the name Batch gives a training job: at most 63 characters, no underscores.

    Parameters
    ----------
    job_name : str
    attempt_id : str
        A UUID.
    """
    unique = attempt_id.replace("-", "")
    readable = _NOT_IN_A_NAME.sub("-", job_name)[: 63 - len("AWSBatch") - len(unique)]
    return f"AWSBatch{readable}{unique}"


@dataclass(eq=False)
class Attempt:
    """A dispatched attempt.

    Attributes
    ----------
    training_job : str
        ARN.
    scheduled_at : float
        Seconds since 1970, as the others.
    """

    training_job: str
    scheduled_at: float
    started_at: float | None = None
    stopped_at: float | None = None
    status_reason: str | None = None

    @property
    def resource_id(self) -> dict[str, str]:
        """Its ``serviceResourceId``."""
        return {"name": "TrainingJobArn", "value": self.training_job}

    def describe(self) -> dict[str, Any]:
        """Return it as an entry of ``attempts``."""
        details: dict[str, Any] = {"serviceResourceId": self.resource_id}
        if self.started_at is not None:
            details["startedAt"] = milliseconds(self.started_at)
        if self.stopped_at is not None:
            details["stoppedAt"] = milliseconds(self.stopped_at)
        if self.status_reason is not None:
            details["statusReason"] = self.status_reason
        return details
