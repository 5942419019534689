"""The app test_auditor_end_to_end.py deploys: two queues, and one auditor of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_sns as sns

from constructs_qm import PreemptionAuditor, QuotaManagedQueue, ResourceSharing
from preemption_auditor import AuditSettings

if TYPE_CHECKING:
    from constructs import Construct

G5 = "ml.g5.xlarge"


class AuditedStack(cdk.Stack):
    """The article's queue and one with a reserve; the judge runs once an hour."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        steady = QuotaManagedQueue(self, "Steady", capacity={G5: 3}, job_queue_name="steady")
        steady.add_quota_share(
            "QS1",
            capacity={G5: 1},
            sharing=ResourceSharing.lend_and_borrow(limit_percent=100),
            in_share_preemption=True,
        )
        steady.add_quota_share("QS2", capacity={G5: 1}, sharing=ResourceSharing.lend())
        steady.add_quota_share("QS3", capacity={G5: 1}, sharing=ResourceSharing.reserve())
        wild = QuotaManagedQueue(self, "Wild", capacity={G5: 3})
        wild.add_quota_share("R", capacity={G5: 1}, sharing=ResourceSharing.reserve())
        wild.add_quota_share("L", capacity={G5: 1}, sharing=ResourceSharing.lend())
        topic = sns.Topic(self, "Topic")
        auditor = PreemptionAuditor(
            self,
            "Auditor",
            queues=[steady, wild],
            settings=AuditSettings(decision_lag=0, lateness=0),
            rate=cdk.Duration.hours(1),
            alarm_topic=topic,
            findings_topic=topic,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        assert auditor.source.archive is not None
        outputs = {
            "Wild": wild.job_queue_name,
            "Table": auditor.table.table_name,
            "Events": auditor.events_queue.queue_url,
            "DeadLetters": auditor.dead_letter_queue.queue_url,
            "Bus": auditor.findings_bus.event_bus_name,
            "Topic": topic.topic_arn,
            "Archive": auditor.source.archive.ref,
            "JudgeLog": auditor.judge_function.log_group.log_group_name,
        }
        for name, value in outputs.items():
            cdk.CfnOutput(self, f"{name}Name", value=value)


if __name__ == "__main__":
    app = cdk.App()
    AuditedStack(app, "Audited")
    app.synth()
