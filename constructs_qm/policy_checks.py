"""Rules over a whole queue, asked when the app is synthesised and every share is known.

Errors fail the synthesis; warnings don't, unless the cdk CLI runs with ``--strict``, and can be
acknowledged by their id, e.g. ``constructs-qm:QM009``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from constructs import IValidation

from quota_scheduler import Level, QuotaPolicy, check_policy
from quota_scheduler.findings import errors_in
from quota_scheduler.queue_rules import check_queue_contents

if TYPE_CHECKING:
    from constructs_qm.training_job_queue import TrainingJobQueueBase
    from quota_scheduler import Finding

__all__ = ["PolicyChecks"]


@jsii.implements(IValidation)
class PolicyChecks:
    """What the construct tree calls to validate one job queue.

    Parameters
    ----------
    queue : TrainingJobQueueBase
    """

    def __init__(self, queue: TrainingJobQueueBase) -> None:
        self._queue = queue

    def validate(self) -> list[str]:
        """Return the errors; put the warnings on the queue."""
        errors = []
        for finding in [*self._policy_findings(), *self._content_findings()]:
            if finding.level is Level.ERROR:
                errors.append(str(finding))
            else:
                rule = f"constructs-qm:{finding.rule}"
                cdk.Annotations.of(self._queue).add_warning_v2(rule, str(finding))
        return errors

    def _policy_findings(self) -> list[Finding]:
        """Return only errors where shares are unknown: more shares can't mend those, but a warning."""
        queue = self._queue
        if queue.policy is not None:
            return check_policy(queue.policy)
        capacity = queue.known_capacity
        if capacity is None:
            return []
        known = tuple(share.policy for share in queue.quota_shares if share.policy is not None)
        return errors_in(check_policy(QuotaPolicy(capacity, known)))

    def _content_findings(self) -> list[Finding]:
        if self._queue.time_limits is None:
            return []
        reasons = [limit.reason for limit in self._queue.time_limits]
        return list(check_queue_contents(len(self._queue.quota_shares), reasons))
