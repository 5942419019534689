"""The state file: what there was is there again, and time goes on where it stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from local.test_lambda import ROLE, archive
from local.world import World

from constructs_qm.local import RealClock, Rogue, Script, Settings, SteppedClock
from constructs_qm.local.saved_state import StateError
from constructs_qm.local.server import start

if TYPE_CHECKING:
    from pathlib import Path


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "ResponseMetadata"}


def _everything(world: World) -> list[Any]:
    batch = world.batch
    every = [{"name": "JOB_NAME", "values": ["*"]}]
    jobs = batch.list_service_jobs(filters=every)["jobSummaryList"]
    answers = [
        batch.describe_job_queues(),
        batch.list_quota_shares(jobQueue="queue"),
        *(batch.describe_service_job(jobId=job["jobId"]) for job in jobs),
        batch.get_job_queue_snapshot(jobQueue="queue"),
    ]
    return [_plain(answer) for answer in answers]


def _fill(world: World) -> None:
    """Jobs in every state, one of them being stopped."""
    world.endpoint.script(Script("hangs", running_seconds=None))
    world.make_article_queue()
    world.submit("done", "QS3", clientToken="done")
    world.advance(700)
    world.submit("hangs", "QS1", 3, clientToken="hangs", tags={"a": "b"})
    world.submit("borrows", "QS1", 2, clientToken="borrows")
    world.submit("waits", "QS1", 1, clientToken="waits")
    world.advance(10)
    world.submit("owner", "QS2", clientToken="owner")
    world.advance(5)
    world.submit("new", "QS3", clientToken="new")


def test_batch_goes_on_exactly_where_it_stopped(tmp_path: Path) -> None:
    """The same afterwards, whether it was stopped in between or not."""

    def play(stop: bool) -> tuple[list[Any], list[Any]]:
        file = tmp_path / f"state-{stop}"
        settings = Settings(preemption_seconds=30)
        server = start(clock=SteppedClock(), settings=settings, seed=1, state_file=file)
        world = World(server.endpoint, server.url)
        _fill(world)
        if stop:
            before = _everything(world)
            server.stop()
            server = start(clock=SteppedClock(), state_file=file)
            world = World(server.endpoint, server.url)
            assert _everything(world) == before
            assert world.endpoint.settings == settings
        world.advance(2000)
        seen = _everything(world), world.endpoint.events
        server.stop()
        return seen

    assert play(stop=True) == play(stop=False)


def _make_more(world: World) -> None:
    """One of each of an auditor's other parts."""
    dynamodb = world.client("dynamodb")
    dynamodb.create_table(
        TableName="t",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.put_item(TableName="t", Item={"pk": {"S": "kept"}})
    world.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument="{}")
    function = world.client("lambda").create_function(
        FunctionName="f",
        Runtime="python3.12",
        Role=ROLE,
        Handler="index.handler",
        Code={"ZipFile": archive(index="def handler(event, context): pass")},
    )["FunctionArn"]
    world.client("scheduler").create_schedule(
        Name="s",
        ScheduleExpression="rate(1 day)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": function, "RoleArn": ROLE},
    )
    world.client("cloudwatch").put_metric_alarm(
        AlarmName="a",
        MetricName="m",
        Namespace="n",
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        Period=60,
        Statistic="Sum",
        Threshold=1,
    )


def test_the_rest_of_aws_comes_along(tmp_path: Path) -> None:
    file = tmp_path / "state"
    template = {
        "Resources": {
            "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "q"}},
            "Policy": {
                "Type": "AWS::Batch::SchedulingPolicy",
                "Properties": {"Name": "p", "QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
            },
        }
    }
    with start(clock=SteppedClock(), state_file=file) as server:
        world = World(server.endpoint, server.url)
        world.client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))
        sqs = world.client("sqs")
        url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody="kept")
        world.client("s3").create_bucket(Bucket="bucket")
        world.client("s3").put_object(Bucket="bucket", Key="k", Body=b"kept")
        world.client("ssm").put_parameter(Name="p", Value="kept", Type="String")
        _make_more(world)
        events = world.client("events")
        events.put_rule(Name="r", EventPattern=json.dumps({"source": ["mine"]}))
        events.put_targets(Rule="r", Targets=[{"Id": "q", "Arn": "arn:aws:sqs:us-east-1:123456789012:q"}])
    with start(clock=SteppedClock(), state_file=file) as server:
        world = World(server.endpoint, server.url)
        assert world.client("s3").get_object(Bucket="bucket", Key="k")["Body"].read() == b"kept"
        assert world.client("ssm").get_parameter(Name="p")["Parameter"]["Value"] == "kept"
        assert world.client("dynamodb").scan(TableName="t")["Count"] == 1
        assert len(world.client("lambda").list_functions()["Functions"]) == 1
        assert len(world.client("scheduler").list_schedules()["Schedules"]) == 1
        assert len(world.client("cloudwatch").describe_alarms()["MetricAlarms"]) == 1
        sqs = world.client("sqs")
        world.client("events").put_events(Entries=[{"Source": "mine", "DetailType": "x", "Detail": "{}"}])
        messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
        assert len(messages) == 2
        template["Resources"]["Queue"]["Properties"]["VisibilityTimeout"] = 60  # type: ignore[index]
        cloudformation = world.client("cloudformation")
        cloudformation.update_stack(StackName="s", TemplateBody=json.dumps(template))
        attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        assert attributes["VisibilityTimeout"] == "60"
        cloudformation.delete_stack(StackName="s")
        assert world.batch.list_scheduling_policies()["schedulingPolicies"] == []


def test_what_is_due_while_it_was_stopped_happens_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "state"
    with start(clock=SteppedClock(start=0), state_file=file) as server:
        world = World(server.endpoint, server.url)
        world.make_queue()
        world.make_share("s")
        world.submit("job", "s")
    with start(clock=RealClock(), state_file=file) as server:
        world = World(server.endpoint, server.url)
        assert world.statuses() == {"job": "SUCCEEDED"}


def test_a_rogue_stays_one(tmp_path: Path) -> None:
    file = tmp_path / "state"
    with start(clock=SteppedClock(), state_file=file) as server:
        server.endpoint.rogue = Rogue("QM-A05")
    with start(clock=SteppedClock(), state_file=file) as server:
        assert server.endpoint.rogue == Rogue("QM-A05")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no state file"),
        (b"nonsense\nmore", "no state file"),
        (b'{"moto": "1"}\n', "was written by moto 1"),
        (b"[1]\n", "was written by something else"),
    ],
)
def test_other_files_are_refused_and_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "state"
    file.write_bytes(content)
    with pytest.raises(StateError, match=message):
        start(state_file=file)
    assert file.read_bytes() == content
    with start(clock=SteppedClock()):
        pass


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state"
    with start(clock=SteppedClock(), state_file=file):
        pass
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(StateError, match="can't be read"):
        start(state_file=file)
