"""What the functions are told by their environment variables."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from preemption_auditor.policy_timeline import PolicyTimeline, load_policy_timeline
from preemption_auditor.settings import AuditSettings, Delivery

__all__ = ["Environment"]


@dataclass(frozen=True)
class Environment:
    """Settings of a deployed auditor.

    Attributes
    ----------
    table : str
        ``AUDITOR_TABLE``: name of the DynamoDB table.
    queues : tuple of str
        ``AUDITOR_QUEUES``: names of the queues to judge, as a JSON list; empty for all that have events.
    bus : str or None
        ``AUDITOR_BUS``: name or ARN of the bus findings go to.
    topic : str or None
        ``AUDITOR_TOPIC``: ARN of an SNS topic violations go to.
    settings : AuditSettings
        ``AUDITOR_DELIVERY``, ``AUDITOR_DECISION_LAG``, ``AUDITOR_TOLERANCE``, ``AUDITOR_LATENESS``.
    declared : dict of str to PolicyTimeline
        ``AUDITOR_POLICIES``: declared policy of each queue, as a JSON object of policy documents.
    """

    table: str
    queues: tuple[str, ...]
    bus: str | None
    topic: str | None
    settings: AuditSettings
    declared: dict[str, PolicyTimeline]

    @classmethod
    def read(cls) -> Environment:
        """Read the variables; raises KeyError, ValueError or AuditorError where they can't be used."""
        given = os.environ
        policies: dict[str, Any] = json.loads(given.get("AUDITOR_POLICIES", "{}"))
        return cls(
            table=given["AUDITOR_TABLE"],
            queues=tuple(json.loads(given.get("AUDITOR_QUEUES", "[]"))),
            bus=given.get("AUDITOR_BUS") or None,
            topic=given.get("AUDITOR_TOPIC") or None,
            settings=AuditSettings(
                delivery=Delivery(given.get("AUDITOR_DELIVERY", "lossy")),
                decision_lag=float(given.get("AUDITOR_DECISION_LAG", "30")),
                tolerance=float(given.get("AUDITOR_TOLERANCE", "900")),
                lateness=float(given.get("AUDITOR_LATENESS", "300")),
            ),
            declared={queue: load_policy_timeline(document) for queue, document in policies.items()},
        )
