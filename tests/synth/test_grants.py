"""Grants, evaluated as IAM would: what a team may do, and above all what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from support.iam import ACCOUNT, BATCH, REGION, allows, statements_of

from constructs_qm import PropError, QuotaManagedQueue, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable

G5 = "ml.g5.xlarge"
QUEUE = f"{BATCH}:job-queue/training"
VISION, SPEECH = f"{QUEUE}/quota-share/vision", f"{QUEUE}/quota-share/speech"
JOB = f"{BATCH}:service-job/0123"
TRAINING_ROLE = f"arn:aws:iam::{ACCOUNT}:role/vision-training"
PRIORITY = "batch:SchedulingPriority"
OWN, OTHERS = {"aws:ResourceTag/team": "vision"}, {"aws:ResourceTag/team": "speech"}
TAGGED, MISTAGGED = {"aws:RequestTag/team": "vision"}, {"aws:RequestTag/team": "speech"}

Statements = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def statements(render: Callable[[cdk.Stack], dict[str, Any]]) -> Statements:
    """What each role may do."""
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    queue = QuotaManagedQueue(
        stack, "Training", capacity={G5: 2}, job_queue_name="training", service_environment_name="gpus"
    )
    share: dict[str, Any] = {"capacity": {G5: 1}, "sharing": ResourceSharing.lend()}
    vision = queue.add_quota_share("vision", **share)
    queue.add_quota_share("speech", **share)
    imported = QuotaShare.from_quota_share_arn(stack, "Imported", VISION)
    training_role = iam.Role(
        stack,
        "VisionTraining",
        role_name="vision-training",
        assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
    )
    roles = {
        name: iam.Role(stack, name, assumed_by=iam.AccountRootPrincipal())
        for name in ("submit", "imported", "tagged", "open", "read", "lead", "reader", "admin")
    }
    vision.grant_submit(roles["submit"], max_priority=100, training_role=training_role)
    imported.grant_submit(roles["imported"], max_priority=100)
    vision.grant_submit(roles["tagged"], job_tags={"team": "vision"})
    vision.grant_submit(roles["open"])
    vision.grant_read(roles["read"])
    vision.grant_reprioritize(roles["lead"], max_priority=100, job_tags={"team": "vision"})
    vision.grant_terminate(roles["lead"], job_tags={"team": "vision"})
    queue.grant_read(roles["reader"])
    queue.grant_administer(roles["admin"])
    resources = render(stack)
    logical_ids = {name: stack.get_logical_id(role.node.default_child) for name, role in roles.items()}  # type: ignore[arg-type]
    return {name: statements_of(resources, logical_id) for name, logical_id in logical_ids.items()}


def submit(share: str, queue: str = QUEUE) -> tuple[str, list[str]]:
    return "batch:SubmitServiceJob", [queue, share, JOB]


UPDATE, TERMINATE, TAG = (f"batch:{name}" for name in ("UpdateServiceJob", "TerminateServiceJob", "TagResource"))
TO_SAGEMAKER = {"iam:PassedToService": "sagemaker.amazonaws.com"}

ALLOWED: list[tuple[str, str, list[str], dict[str, Any]]] = [
    ("submit", *submit(VISION), {PRIORITY: 100}),
    ("submit", *submit(VISION), {PRIORITY: 0}),
    ("submit", *submit(VISION), {}),
    ("submit", TAG, [JOB], {}),
    ("submit", "iam:PassRole", [TRAINING_ROLE], TO_SAGEMAKER),
    ("imported", *submit(VISION), {PRIORITY: 100}),
    ("open", *submit(VISION), {PRIORITY: 9999}),
    ("tagged", *submit(VISION), TAGGED),
    ("tagged", TAG, [JOB], TAGGED),
    ("tagged", TAG, [JOB], {**TAGGED, **OWN}),
    ("read", "batch:DescribeQuotaShare", [VISION], {}),
    ("read", "batch:GetJobQueueSnapshot", [QUEUE], {}),
    ("read", "batch:DescribeServiceJob", ["*"], {}),
    ("lead", UPDATE, [JOB], {**OWN, PRIORITY: 100}),
    ("lead", TERMINATE, [JOB], OWN),
    ("reader", "batch:ListQuotaShares", [QUEUE], {}),
    ("reader", "batch:DescribeQuotaShare", [SPEECH], {}),
    ("reader", "batch:DescribeServiceEnvironments", ["*"], {}),
    ("admin", "batch:CreateQuotaShare", [QUEUE, f"{QUEUE}/quota-share/new"], {}),
    ("admin", "batch:UpdateQuotaShare", [SPEECH], {}),
    ("admin", "batch:UpdateJobQueue", [QUEUE], {}),
    ("admin", "batch:UpdateServiceEnvironment", [f"{BATCH}:service-environment/gpus"], {}),
    ("admin", UPDATE, [JOB], {PRIORITY: 9999}),
    ("admin", TERMINATE, [JOB], {}),
    ("admin", "batch:DescribeQuotaShare", [VISION], {}),
]

LIKE_QUEUE = f"{BATCH}:job-queue/training-2"
FORBIDDEN: list[tuple[str, str, list[str], dict[str, Any]]] = [
    # another team's share, in the same queue, by a name that begins alike, and in a queue that does
    ("submit", *submit(SPEECH), {}),
    ("submit", *submit(f"{VISION}-2"), {}),
    ("submit", *submit(f"{LIKE_QUEUE}/quota-share/vision", LIKE_QUEUE), {}),
    ("submit", *submit(VISION, LIKE_QUEUE), {}),
    ("imported", *submit(SPEECH), {}),
    ("imported", *submit(f"{LIKE_QUEUE}/quota-share/vision", LIKE_QUEUE), {}),
    ("open", *submit(SPEECH), {}),
    ("tagged", *submit(SPEECH), TAGGED),
    # a higher priority
    ("submit", *submit(VISION), {PRIORITY: 101}),
    ("imported", *submit(VISION), {PRIORITY: 101}),
    # another role, or to another service
    ("submit", "iam:PassRole", [f"{TRAINING_ROLE}-2"], TO_SAGEMAKER),
    ("submit", "iam:PassRole", [TRAINING_ROLE], {"iam:PassedToService": "lambda.amazonaws.com"}),
    ("submit", "iam:PassRole", [TRAINING_ROLE], {}),
    ("open", "iam:PassRole", [TRAINING_ROLE], TO_SAGEMAKER),
    # without the tags, with another team's, and taking over another team's job by tagging it
    ("tagged", *submit(VISION), {}),
    ("tagged", *submit(VISION), MISTAGGED),
    ("tagged", TAG, [JOB], MISTAGGED),
    ("tagged", TAG, [JOB], {**TAGGED, **OTHERS}),
    # submitting is not managing, and the other way round
    ("submit", UPDATE, [JOB], {PRIORITY: 1}),
    ("submit", TERMINATE, [JOB], {}),
    ("submit", "batch:UpdateQuotaShare", [VISION], {}),
    ("submit", TAG, [VISION], {}),
    ("lead", *submit(VISION), {}),
    ("lead", UPDATE, [JOB], {**OTHERS, PRIORITY: 1}),
    ("lead", UPDATE, [JOB], {PRIORITY: 1}),
    ("lead", UPDATE, [JOB], {**OWN, PRIORITY: 101}),
    ("lead", UPDATE, [JOB], OWN),
    ("lead", TERMINATE, [JOB], OTHERS),
    ("lead", TERMINATE, [JOB], {}),
    # reading is one's own share only, and never changing
    ("read", "batch:DescribeQuotaShare", [SPEECH], {}),
    ("read", *submit(VISION), {}),
    ("reader", "batch:DescribeQuotaShare", [f"{LIKE_QUEUE}/quota-share/vision"], {}),
    ("reader", "batch:UpdateQuotaShare", [VISION], {}),
    ("reader", UPDATE, [JOB], {PRIORITY: 1}),
    # an administrator of one queue is not one of another, and submits nothing
    ("admin", *submit(VISION), {}),
    ("admin", "batch:UpdateQuotaShare", [f"{LIKE_QUEUE}/quota-share/vision"], {}),
    ("admin", "batch:UpdateJobQueue", [LIKE_QUEUE], {}),
    ("admin", "batch:DeleteJobQueue", [QUEUE], {}),
    ("admin", "batch:UpdateServiceEnvironment", [f"{BATCH}:service-environment/gpus-2"], {}),
    ("admin", "iam:PassRole", [TRAINING_ROLE], TO_SAGEMAKER),
]


@pytest.mark.parametrize(("role", "action", "resources", "context"), ALLOWED)
def test_allowed(statements: Statements, role: str, action: str, resources: list[str], context: dict[str, Any]) -> None:
    assert allows(statements[role], action, resources, context)


@pytest.mark.parametrize(("role", "action", "resources", "context"), FORBIDDEN)
def test_forbidden(
    statements: Statements, role: str, action: str, resources: list[str], context: dict[str, Any]
) -> None:
    assert not allows(statements[role], action, resources, context)


@pytest.mark.parametrize(
    ("props", "said"),
    [
        ({"max_priority": 10_000}, "Stack/Training/vision.max_priority: .*10000.* 0 to 9999"),
        ({"max_priority": True}, "Stack/Training/vision.max_priority: .*True.*whole number"),
        ({"training_role": TRAINING_ROLE}, "Stack/Training/vision.training_role: .* is not a role"),
        ({"job_tags": {}}, "Stack/Training/vision.job_tags: {} holds no tag"),
        ({"job_tags": "team"}, "Stack/Training/vision.job_tags: 'team' holds no tag"),
    ],
)
def test_illegal_grant(stack: cdk.Stack, props: dict[str, Any], said: str) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1})
    share = queue.add_quota_share("vision", capacity={G5: 1}, sharing=ResourceSharing.lend())
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    with pytest.raises(PropError, match=said):
        share.grant_submit(role, **props)
