"""Events AWS Batch sends about service jobs (EventBridge, source ``aws.batch``).

Delivery is at least once and in no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_events as events

if TYPE_CHECKING:
    from constructs import Construct

__all__ = ["QUEUE_BLOCKED", "QueueEvents", "batch_rule"]

STATE_CHANGE = "Batch Service Job State Change"
QUEUE_BLOCKED = "Batch Service Job Queue Blocked"
PREEMPTION_STARTED = "Batch Service Job Preemption Started"
PREEMPTION_COMPLETED = "Batch Service Job Preemption Completed"


class QueueEvents(cdk.Resource):
    """Event rules of one job queue, made here or imported."""

    job_queue_arn: str

    def on_job_state_change(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """Make a rule for every state change of this queue's jobs; a submission sends none.

        Parameters
        ----------
        id : str
            Id of the rule in the queue.
        target : aws_events.IRuleTarget, optional
            Where the events go; more with ``rule.add_target``. Narrow the rule with
            ``rule.add_event_pattern``, e.g. ``detail={"status": ["FAILED"]}``.
        """
        return batch_rule(self, id, STATE_CHANGE, queue_arn=self.job_queue_arn, target=target)

    def on_queue_blocked(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """Make a rule for jobs that block a share of this queue, since they can't run for now or ever.

        Parameters
        ----------
        id : str
            Id of the rule in the queue.
        target : aws_events.IRuleTarget, optional
            Where the events go.
        """
        return batch_rule(self, id, QUEUE_BLOCKED, queue_arn=self.job_queue_arn, target=target)

    def on_preemption_started(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """Make a rule for preemptions that begin.

        These events name the preempted job only, neither queue nor share: the rule matches the preemptions
        of **every** queue of the account and Region. Look up the job to tell whose it is.

        Parameters
        ----------
        id : str
            Id of the rule in the queue.
        target : aws_events.IRuleTarget, optional
            Where the events go.
        """
        return batch_rule(self, id, PREEMPTION_STARTED, target=target)

    def on_preemption_completed(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """Make a rule for preemptions that are over, of every queue: see :meth:`on_preemption_started`.

        Parameters
        ----------
        id : str
            Id of the rule in the queue.
        target : aws_events.IRuleTarget, optional
            Where the events go.
        """
        return batch_rule(self, id, PREEMPTION_COMPLETED, target=target)


def batch_rule(
    scope: Construct,
    id: str,
    detail_type: str,
    *,
    queue_arn: str | None = None,
    target: events.IRuleTarget | None = None,
) -> events.Rule:
    """Make a rule for one kind of AWS Batch event, of one queue or of all."""
    return events.Rule(
        scope,
        id,
        event_pattern=events.EventPattern(
            source=["aws.batch"],
            detail_type=[detail_type],
            detail=None if queue_arn is None else {"jobQueue": [queue_arn]},
        ),
        targets=None if target is None else [target],
    )
