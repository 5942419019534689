"""The policies an auditor holds the deployed ones against, as far as this app knows them (QM-A15)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import jsii
from constructs import IValidation

from constructs_qm.tokens import note_unchecked
from quota_scheduler import dump_policy

if TYPE_CHECKING:
    from constructs import Construct

    from constructs_qm.training_job_queue import TrainingJobQueueBase

__all__ = ["DeclaredPolicies"]

ROOM = 3_000
"""Bytes of the 4 KB all environment variables of a function may take (AWS Lambda Developer Guide, quotas)."""


@jsii.implements(cdk.IStableStringProducer, IValidation)
class DeclaredPolicies:
    """The value of ``AUDITOR_POLICIES``, made when every share of every queue is known.

    Parameters
    ----------
    scope : Construct
        The auditor: it is told which policies aren't known.
    queues : list of TrainingJobQueueBase
        More may be added to it.
    """

    def __init__(self, scope: Construct, queues: list[TrainingJobQueueBase]) -> None:
        self._scope = scope
        self._queues = queues

    def produce(self) -> str:
        """Return the policies as JSON; the names of queues in it are tokens."""
        return str(cdk.Stack.of(self._scope).to_json_string(self._documents()))

    def validate(self) -> list[str]:
        """Say which queues are audited by the policy in force alone, and refuse what is too long."""
        for queue in self._queues:
            if queue.policy is None:
                note_unchecked(self._scope, f"the policy of {queue.node.path} isn't known in this app (QM-A15)")
        size = len(json.dumps(list(self._documents().values()), separators=(",", ":")))
        if size <= ROOM:
            return []
        return [
            f"the declared policies of {len(self._queues)} queues take {size} bytes, more than the {ROOM} that fit "
            "into the judge's environment: use an auditor for each queue, or declared_policies=False"
        ]

    def _documents(self) -> dict[str, Any]:
        known = [(queue, queue.policy) for queue in self._queues]
        return {queue.job_queue_name: dump_policy(policy) for queue, policy in known if policy is not None}
