"""Three teams share one queue: two borrow from each other, releases have a reserve nobody touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from constructs_qm import (
    AlarmSetting,
    InsufficientInstanceCapacity,
    QueueAlarms,
    QueueDashboard,
    QuotaManagedQueue,
    QuotaManagementLimitExceeded,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironmentMaxResource,
)

if TYPE_CHECKING:
    from constructs import Construct

BIG, SMALL = "ml.p5.48xlarge", "ml.g5.12xlarge"


class ThreeTeamsStack(cdk.Stack):
    """The platform team's stack: queue, shares, who may use them, alarms and a dashboard."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, description="AWS Batch quota management: three teams with a reserve")
        queue = QuotaManagedQueue(
            self,
            "Training",
            capacity={BIG: 8, SMALL: 20},
            priority=10,
            removal_policy=cdk.RemovalPolicy.RETAIN,
            time_limits=[
                ServiceEnvironmentMaxResource(cdk.Duration.minutes(10)),
                QuotaManagementLimitExceeded(cdk.Duration.minutes(10)),
                InsufficientInstanceCapacity(cdk.Duration.hours(24)),
            ],
        )
        borrow = ResourceSharing.lend_and_borrow(limit_percent=100)
        vision = queue.add_quota_share("vision", capacity={BIG: 3, SMALL: 10}, sharing=borrow, in_share_preemption=True)
        speech = queue.add_quota_share("speech", capacity={BIG: 3, SMALL: 6}, sharing=borrow)
        release = queue.add_quota_share("release", capacity={BIG: 2, SMALL: 4}, sharing=ResourceSharing.reserve())
        training_role = self._training_role()
        self._admit("Vision", vision, training_role, max_priority=100)
        self._admit("Speech", speech, training_role, max_priority=100)
        self._admit("Release", release, training_role, max_priority=1000)
        self._watch(queue)
        cdk.Tags.of(queue).add("cost-centre", "ml-platform")

    def _training_role(self) -> iam.Role:
        return iam.Role(self, "TrainingRole", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))

    def _admit(self, team: str, share: QuotaShare, training_role: iam.Role, *, max_priority: int) -> None:
        """Give a team its share: submit, and reprioritise and terminate the jobs it submitted itself."""
        role = iam.Role(self, f"{team}Role", assumed_by=iam.AccountRootPrincipal())
        tags = {"team": team.lower()}
        share.grant_submit(role, max_priority=max_priority, training_role=training_role, job_tags=tags)
        share.grant_read(role)
        share.grant_reprioritize(role, max_priority=max_priority, job_tags=tags)
        share.grant_terminate(role, job_tags=tags)
        cdk.Validations.of(role).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>"
                ":service-job/*]",
                reason="the ARN of a service job names no share; the tags hold a team to its own jobs",
            ),
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="describing and listing service jobs takes no resource",
            ),
        )

    def _watch(self, queue: QuotaManagedQueue) -> None:
        topic = sns.Topic(self, "Operators", enforce_ssl=True)
        alarms = QueueAlarms(
            self,
            "Alarms",
            queue=queue,
            alarm_topic=topic,
            preempted_jobs=AlarmSetting(20, period=cdk.Duration.hours(1)),
            failed_jobs=None,  # teams watch their own failures
        )
        QueueDashboard(self, "Dashboard", queue=queue, alarms=alarms)


if __name__ == "__main__":
    app = cdk.App()
    ThreeTeamsStack(app, "ThreeTeams")
    app.synth()
