"""A queue and its auditor: whoever breaks the quota policy rings an alarm, with the evidence on an event bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_sns as sns

from constructs_qm import PreemptionAuditor, QueueAlarms, QueueDashboard, QuotaManagedQueue, ResourceSharing
from preemption_auditor import AuditSettings

if TYPE_CHECKING:
    from constructs import Construct

INSTANCE_TYPE = "ml.g5.xlarge"


class AuditedStack(cdk.Stack):
    """Two teams, one of which lends; alarms, a dashboard and the auditor."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, description="AWS Batch quota management: a queue that is audited")
        queue = QuotaManagedQueue(self, "Training", capacity={INSTANCE_TYPE: 8})
        queue.add_quota_share("vision", capacity={INSTANCE_TYPE: 4}, sharing=ResourceSharing.lend())
        queue.add_quota_share(
            "speech",
            capacity={INSTANCE_TYPE: 4},
            sharing=ResourceSharing.lend_and_borrow(limit_percent=100),
            in_share_preemption=True,
        )
        topic = sns.Topic(self, "Operators", enforce_ssl=True)
        # --8<-- [start:auditor]
        auditor = PreemptionAuditor(
            self,
            "Auditor",
            queue=queue,
            settings=AuditSettings(tolerance=1800),  # seconds a job may wait for what it could have
            alarm_topic=topic,
            findings_topic=topic,
        )
        auditor.grant_subscribe("999999999999")  # the platform team's account makes rules for findings
        # --8<-- [end:auditor]
        alarms = QueueAlarms(self, "Alarms", queue=queue, alarm_topic=topic)
        QueueDashboard(self, "Dashboard", queue=queue, alarms=alarms, auditor=auditor)


if __name__ == "__main__":
    app = cdk.App()
    AuditedStack(app, "Audited")
    app.synth()
