"""A team uses the share it was given: everything it needs is the share's ARN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from constructs_qm import QuotaShare, TrainingJobQueue

if TYPE_CHECKING:
    from constructs import Construct

QUEUE_ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/training"
SHARE_ARN = f"{QUEUE_ARN}/quota-share/vision"


class TeamStack(cdk.Stack):
    """The team's own stack, in the account and Region of the queue."""

    def __init__(self, scope: Construct, id: str) -> None:
        environment = cdk.Environment(account="111122223333", region="eu-west-1")
        super().__init__(scope, id, env=environment)
        share = QuotaShare.from_quota_share_arn(self, "Share", SHARE_ARN)
        queue = TrainingJobQueue.from_training_job_queue_arn(self, "Queue", QUEUE_ARN)

        training_role = iam.Role.from_role_name(self, "TrainingRole", "vision-training")
        pipeline = iam.Role(self, "Pipeline", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        share.grant_submit(pipeline, max_priority=50, training_role=training_role)
        share.grant_read(pipeline)

        cdk.Validations.of(pipeline).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::arn:aws:batch:eu-west-1:111122223333:service-job/*]",
                reason="the ARN of a service job names no share",
            ),
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="describing and listing service jobs takes no resource",
            ),
        )

        lost = sqs.Queue(self, "Lost", enforce_ssl=True)
        cdk.Validations.of(lost).acknowledge(
            cdk.Acknowledgment(id="Serverless-SQSRedrivePolicy", reason="it is where the others redrive to")
        )
        finished = sqs.Queue(
            self,
            "Finished",
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=lost, max_receive_count=3),
        )
        target = targets.SqsQueue(finished, dead_letter_queue=lost)
        rule = queue.on_job_state_change("VisionJobEnds", target=target)
        rule.add_event_pattern(detail={"quotaShareName": [share.quota_share_name], "status": ["SUCCEEDED", "FAILED"]})


if __name__ == "__main__":
    app = cdk.App()
    TeamStack(app, "Team")
    app.synth()
