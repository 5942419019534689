"""The auditor deployed: events of two queues, one of them with a rogue scheduler, to findings, with its real code.

Functions see the time of day, so everything they are to judge happens in the hour before.
"""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from local.asset_bucket import upload_assets
from local.world import World

from constructs_qm.local import Rogue, Settings, SteppedClock, mock_quota_management
from constructs_qm.local.cdk_cli import CdkCli
from constructs_qm.local.server import start
from preemption_auditor import AuditSettings, Delivery, audit
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("awslambdaric", reason="needs awslambdaric")

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
APP = Path(__file__).with_name("auditor_app.py")
HOUR = 3600
G5 = "ml.g5.xlarge"
WILD = QuotaPolicy(
    {G5: 3}, (QuotaShare("R", {G5: 1}, ResourceSharing.reserve()), QuotaShare("L", {G5: 1}, ResourceSharing.lend()))
)
ACCOUNT = "123456789012"


def last_hour() -> SteppedClock:
    return SteppedClock(time.time() - HOUR - 200)


class Audited:
    """The deployed stack, and what a user sees of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        [stack] = world.client("cloudformation").describe_stacks(StackName="Audited")["Stacks"]
        self._outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        self.wild = self.name("Wild")
        self._arrived = self._subscribe()

    def name(self, output: str) -> str:
        return str(self._outputs[f"{output}Name"])

    def _subscribe(self) -> dict[str, str]:
        """Let queues get what arrives at the bus and at the topic."""
        sqs, events, sns = (self.world.client(service) for service in ("sqs", "events", "sns"))
        urls = {name: str(sqs.create_queue(QueueName=name)["QueueUrl"]) for name in ("bus", "topic")}
        arn = f"arn:aws:sqs:us-east-1:{ACCOUNT}"
        events.put_rule(Name="all", EventBusName=self.name("Bus"), EventPattern='{"source": ["preemption-auditor"]}')
        target = {"Id": "queue", "Arn": f"{arn}:bus"}
        events.put_targets(Rule="all", EventBusName=self.name("Bus"), Targets=[target])
        sns.subscribe(TopicArn=self.name("Topic"), Protocol="sqs", Endpoint=f"{arn}:topic")
        return urls

    def arrived(self, where: str) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.messages(self._arrived[where])]

    def messages(self, url: str) -> list[str]:
        sqs, bodies = self.world.client("sqs"), []
        while found := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            bodies += [message["Body"] for message in found]
        return bodies

    def findings(self, queue: str) -> list[dict[str, Any]]:
        answer = self.world.client("dynamodb").query(
            TableName=self.name("Table"),
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"FINDINGS#{queue}"}},
        )
        return [json.loads(item["document"]["S"]) for item in answer["Items"]]

    def metric(self, name: str, **dimensions: str) -> float:
        now = datetime.now(tz=timezone.utc)
        answer = self.world.client("cloudwatch").get_metric_statistics(
            Namespace="PreemptionAuditor",
            MetricName=name,
            Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()],
            StartTime=now - timedelta(hours=1),
            EndTime=now + timedelta(minutes=1),
            Period=HOUR,
            Statistics=["Sum"],
        )
        return float(sum(point["Sum"] for point in answer["Datapoints"]))

    # -- what happens -----------------------------------------------------------------------

    def work(self) -> None:
        """The article's walk-through: borrowing, a preemption across shares, one within a share."""
        world = self.world
        for name, share, priority in (("low", "QS1", 1), ("high", "QS1", 100), ("owner", "QS2", 1)):
            world.submit(name, share, priority, jobQueue="steady")
            world.advance(40)
        world.submit("higher", "QS1", 200, jobQueue="steady")
        world.advance(60)

    def break_the_reserve(self) -> list[str]:
        """A rogue scheduler dispatches two jobs in a reserved share of one."""
        self.world.endpoint.rogue = rogue = Rogue("QM-A03")
        for number in range(2):
            self.world.submit(f"job-{number}", "R", jobQueue=self.wild)
            self.world.advance(40)
        assert len(rogue.offences) == 1
        return rogue.offences

    def poison(self) -> list[str]:
        """Send what can't be read, among all that can."""
        broken = {"source": "aws.batch", "detail-type": "Batch Service Job State Change", "detail": {}}
        bodies = ["{", json.dumps({**broken, "time": "2026-01-01T00:00:00Z"})]
        for body in bodies:
            self.world.client("sqs").send_message(QueueUrl=self.name("Events"), MessageBody=body)
        return bodies

    def until_judged(self) -> None:
        """Let the schedule fire once."""
        self.world.advance(HOUR - 200)


def check(audited: Audited) -> None:
    poison = audited.poison()
    audited.work()
    (offender,) = audited.break_the_reserve()
    audited.until_judged()

    assert audited.findings("steady") == []
    (finding,) = audited.findings(audited.wild)
    assert (finding["rule"], finding["kind"], finding["shares"]) == ("QM-A03", "violation", ["R"])
    assert offender in finding["jobs"]

    (event,) = audited.arrived("bus")
    assert event["detail-type"] == "Preemption Auditor Finding"
    assert {key: value for key, value in event["detail"].items() if key != "key"} == finding
    (told,) = audited.arrived("topic")
    assert json.loads(told["Message"]) == finding

    assert audited.metric("Violations", JobQueueName=audited.wild) == 1
    assert audited.metric("Violations", JobQueueName=audited.wild, QuotaShareName="R", Rule="QM-A03") == 1
    assert audited.metric("Violations", JobQueueName="steady") == 0
    assert audited.metric("Decisions", JobQueueName="steady") >= 6  # four dispatches and two preemptions
    assert audited.metric("PoisonMessages", service="ingest") == 5 * len(poison)

    assert sorted(audited.messages(audited.name("DeadLetters"))) == sorted(poison)
    assert audited.messages(audited.name("Events")) == []
    kept = audited.world.client("events").describe_archive(ArchiveName=audited.name("Archive"))
    assert kept["EventCount"] >= len(audited.world.events("Batch Service Job State Change"))
    alarms = audited.world.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert len(alarms) == 4


@pytest.fixture
def in_process(tmp_path: Path) -> Iterator[Callable[[], Audited]]:
    """Deploys through CloudFormation alone, which saves the time of the cdk CLI."""
    import aws_cdk as cdk
    from local.auditor_app import AuditedStack

    app = cdk.App(outdir=str(tmp_path))
    AuditedStack(app, "Audited")
    artifact = app.synth().get_stack_artifact("Audited")
    with mock_quota_management(clock=last_hour(), settings=Settings(running_seconds=None), seed=1) as endpoint:
        world = World(endpoint)

        def deploy() -> Audited:
            upload_assets(world.client("s3"), tmp_path)
            bootstrap = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "30", "Type": "String"}
            world.client("ssm").put_parameter(**bootstrap)
            cloudformation = world.client("cloudformation")
            cloudformation.create_stack(
                StackName="Audited", TemplateBody=json.dumps(artifact.template), Capabilities=["CAPABILITY_IAM"]
            )
            [stack] = cloudformation.describe_stacks(StackName="Audited")["Stacks"]
            events = cloudformation.describe_stack_events(StackName="Audited")["StackEvents"]
            reasons = [event.get("ResourceStatusReason") for event in events]
            assert stack["StackStatus"] == "CREATE_COMPLETE", reasons
            return Audited(world)

        yield deploy


def test_findings_of_a_rogue_queue_and_none_of_a_faithful_one(in_process: Callable[[], Audited]) -> None:
    check(in_process())


def test_the_archive_can_be_audited_again(in_process: Callable[[], Audited]) -> None:
    audited = in_process()
    (offender,) = audited.break_the_reserve()
    client = audited.world.client("events")
    url = audited.world.client("sqs").create_queue(QueueName="again")["QueueUrl"]
    client.put_rule(Name="again", EventPattern='{"replay-name": ["again"]}')
    client.put_targets(Rule="again", Targets=[{"Id": "queue", "Arn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:again"}])
    archive = client.describe_archive(ArchiveName=audited.name("Archive"))
    client.start_replay(
        ReplayName="again",
        EventSourceArn=archive["ArchiveArn"],
        EventStartTime=0,
        EventEndTime=time.time(),
        Destination={"Arn": archive["EventSourceArn"]},
    )
    recording = audited.messages(url)
    assert len(recording) == archive["EventCount"]
    report = audit(recording, WILD, AuditSettings(Delivery.COMPLETE))
    assert [finding.rule for finding in report.findings if offender in finding.jobs] == ["QM-A03"]


@pytest.mark.slow
@pytest.mark.skipif(not CDK.exists(), reason="needs the cdk CLI: npm ci")
def test_the_same_deployed_with_the_cdk_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "lambda")]))
    with start(clock=last_hour(), settings=Settings(running_seconds=None), seed=1) as server:
        cdk = CdkCli(server.url, APP, tmp_path, str(CDK))
        cdk.deploy()
        world = World(server.endpoint, server.url)
        check(Audited(world))
        cdk.destroy()
        assert world.client("lambda").list_functions()["Functions"] == []
        assert world.client("dynamodb").list_tables()["TableNames"] == []
        assert world.client("scheduler").list_schedules()["Schedules"] == []
