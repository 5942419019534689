"""A state machine submits a training job to a quota share; Step Functions has no task of its own for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks

from constructs_qm import QuotaManagedQueue, ResourceSharing

if TYPE_CHECKING:
    from constructs import Construct

G5 = "ml.g5.xlarge"


class PipelineStack(cdk.Stack):
    """A queue with one share, and a state machine that may submit to it."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, description="AWS Batch quota management: submit from Step Functions")
        queue = QuotaManagedQueue(self, "Training", capacity={G5: 2})
        nightly = queue.add_quota_share("nightly", capacity={G5: 2}, sharing=ResourceSharing.reserve())
        training_role = iam.Role(self, "TrainingRole", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        submit = tasks.CallAwsService(
            self,
            "Submit",
            service="batch",
            action="submitServiceJob",
            iam_action="batch:SubmitServiceJob",
            iam_resources=[nightly.quota_share_arn],
            parameters={
                "JobName": "nightly",
                "JobQueue": queue.job_queue_arn,
                "QuotaShareName": nightly.quota_share_name,
                "ServiceJobType": "SAGEMAKER_TRAINING",
                "SchedulingPriority": 10,
                "ServiceRequestPayload": sfn.JsonPath.json_to_string(sfn.JsonPath.object_at("$.training")),
            },
        )
        machine = sfn.StateMachine(
            self,
            "Nightly",
            definition_body=sfn.DefinitionBody.from_chainable(submit),
            tracing_enabled=True,
            logs=sfn.LogOptions(destination=logs.LogGroup(self, "Log"), level=sfn.LogLevel.ALL),
        )
        # The task allows the share alone; this adds queue, jobs and role, and holds it to a priority.
        nightly.grant_submit(machine, max_priority=10, training_role=training_role)
        cdk.Validations.of(machine).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>"
                ":service-job/*]",
                reason="the ARN of a service job names no share",
            ),
            cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason="tracing and log delivery take no resource"),
        )


if __name__ == "__main__":
    app = cdk.App()
    PipelineStack(app, "Pipeline")
    app.synth()
