"""Several stacks, accounts, stages and partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from constructs_qm import QuotaManagedQueue, QuotaShare, QuotaShareBase, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs import Construct

G5 = "ml.g5.xlarge"
LEND = ResourceSharing.lend()
PLATFORM = cdk.Environment(account="111111111111", region="eu-west-1")
TEAM = cdk.Environment(account="222222222222", region="us-east-1")


class PlatformStack(cdk.Stack):
    """A queue with two shares."""

    def __init__(
        self, scope: Construct, id: str, *, job_queue_name: str | None = None, env: cdk.Environment | None = None
    ) -> None:
        super().__init__(scope, id, env=env)
        self.queue = QuotaManagedQueue(self, "Training", capacity={G5: 2}, job_queue_name=job_queue_name)
        self.vision = self.queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
        self.queue.add_quota_share("speech", capacity={G5: 1}, sharing=LEND)


def submit_resources(stack: cdk.Stack, share: QuotaShareBase) -> str:
    """Let a role of `stack` submit to `share`; return the ARNs of the statement as one text."""
    share.grant_submit(iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal()))
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    return _text(policy["Properties"]["PolicyDocument"]["Statement"][0]["Resource"])


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case list():
            return " ".join(map(_text, value))
        case {"Fn::Join": [_, parts]}:
            return "".join(map(_text, parts))
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Fn::Select": [index, {"Fn::Split": [separator, source]}]}:
            return _text(source).split(separator)[int(index)]
    return str(value)


def test_share_in_the_teams_own_stack(
    app: cdk.App, stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]
) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1})
    team = cdk.Stack(app, "Team")
    QuotaShare(team, "Share", job_queue=queue, quota_share_name="vision", capacity={G5: 1}, sharing=LEND)
    (share,) = render(team).values()
    assert list(share["Properties"]["JobQueue"]) == ["Fn::ImportValue"]
    assert [dependency.stack_name for dependency in team.dependencies] == ["Stack"]


@pytest.mark.parametrize("name", ["training", cdk.PhysicalName.GENERATE_IF_NEEDED])
def test_role_in_another_account_gets_real_arns(app: cdk.App, name: str) -> None:
    platform = PlatformStack(app, "Platform", job_queue_name=name, env=PLATFORM)
    queue, share, jobs = submit_resources(cdk.Stack(app, "Team", env=TEAM), platform.vision).split()
    assert queue.startswith("arn:aws:batch:eu-west-1:111111111111:job-queue/")
    assert queue.endswith("training") is (name == "training")
    assert share == f"{queue}/quota-share/vision"
    assert jobs == "arn:aws:batch:eu-west-1:111111111111:service-job/*"


def test_jobs_are_in_the_account_of_an_imported_share(app: cdk.App) -> None:
    team = cdk.Stack(app, "Team", env=TEAM)
    arn = "arn:aws:batch:eu-west-1:111111111111:job-queue/training/quota-share/vision"
    *_, jobs = submit_resources(team, QuotaShare.from_quota_share_arn(team, "Share", arn)).split()
    assert jobs == "arn:aws:batch:eu-west-1:111111111111:service-job/*"


def test_queue_without_a_name_cant_be_used_from_another_account(app: cdk.App) -> None:
    platform = PlatformStack(app, "Platform", env=PLATFORM)
    with pytest.raises(RuntimeError, match="cross-environment"):
        submit_resources(cdk.Stack(app, "Team", env=TEAM), platform.vision)


@pytest.mark.parametrize(
    ("region", "partition"),
    [("eu-west-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_arns_are_of_the_partition(region: str, partition: str) -> None:
    app = cdk.App(context={"@aws-cdk/core:enablePartitionLiterals": True})
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(account="1" * 12, region=region))
    queue = f"arn:{partition}:batch:{region}:{'1' * 12}:job-queue/training"
    share = QuotaShare.from_quota_share_arn(stack, "Share", f"{queue}/quota-share/vision")
    share.grant_submit(iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal()))
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    assert policy["Properties"]["PolicyDocument"]["Statement"][0]["Resource"] == [
        queue,
        f"{queue}/quota-share/vision",
        f"arn:{partition}:batch:{region}:{'1' * 12}:service-job/*",
    ]


def test_no_partition_is_assumed(render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    platform = PlatformStack(cdk.App(), "Platform")
    platform.vision.grant_submit(iam.Role(platform, "Role", assumed_by=iam.AccountRootPrincipal()))
    resources = {k: v for k, v in render(platform).items() if v["Type"] != "AWS::IAM::Role"}
    assert "arn:aws:" not in str(resources)


def test_stages_render_alike_and_know_only_their_own(app: cdk.App) -> None:
    templates = []
    for name in ("Beta", "Production"):
        stage = cdk.Stage(app, name, env=PLATFORM)
        PlatformStack(stage, "Platform")
        (artifact,) = stage.synth().stacks
        templates.append(artifact.template["Resources"])
    assert templates[0] == templates[1]
    app.synth()


def test_error_in_a_stage_fails_the_app(app: cdk.App) -> None:
    stage = cdk.Stage(app, "Beta")
    PlatformStack(stage, "Platform").queue.add_quota_share("huge", capacity={G5: 3}, sharing=LEND)
    with pytest.raises(RuntimeError, match=r"\[Beta/Platform/Training\] shares\.huge.*QM005"):
        app.synth()


def test_two_queues_in_one_stack(stack: cdk.Stack, render: Callable[[cdk.Stack], dict[str, Any]]) -> None:
    for name in ("Research", "Production"):
        queue = QuotaManagedQueue(stack, name, capacity={G5: 1})
        queue.add_quota_share("vision", capacity={G5: 1}, sharing=LEND)
    resources = render(stack)
    queues = {id for id, r in resources.items() if r["Type"] == "AWS::Batch::JobQueue"}
    shares = [r["Properties"] for r in resources.values() if r["Type"] == "AWS::Batch::QuotaShare"]
    assert {share["JobQueue"]["Fn::GetAtt"][0] for share in shares} == queues
    assert len(queues) == len(shares) == 2
