"""The auditor's construct: what it deploys, what it may do, and what it refuses."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from cdk_nag import AwsSolutionsChecks, NagPack, ServerlessChecks

from constructs_qm import (
    AlarmSetting,
    PreemptionAuditor,
    PropError,
    QueueDashboard,
    QuotaManagedQueue,
    ResourceSharing,
    TrainingJobQueue,
    lambda_asset,
)
from preemption_auditor import AuditorError, AuditSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm import TrainingJobQueueBase

G5 = "ml.g5.xlarge"
ACCOUNT, REGION = "123456789012", "eu-west-1"
QUEUE_ARN = f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue"
Render = Any


def new_stack() -> cdk.Stack:
    context = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]
    return cdk.Stack(cdk.App(context=context), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))


@pytest.fixture
def stack() -> cdk.Stack:
    return new_stack()


def new_queue(stack: cdk.Stack) -> QuotaManagedQueue:
    made = QuotaManagedQueue(stack, "Training", capacity={G5: 3}, job_queue_name="training")
    made.add_quota_share("vision", capacity={G5: 3}, sharing=ResourceSharing.reserve())
    return made


@pytest.fixture
def queue(stack: cdk.Stack) -> QuotaManagedQueue:
    return new_queue(stack)


def imported(stack: cdk.Stack, name: str) -> TrainingJobQueueBase:
    return TrainingJobQueue.from_training_job_queue_arn(stack, name, f"{QUEUE_ARN}/{name}")


def of_type(resources: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in resources.values() if resource["Type"] == kind]


def flat(value: Any) -> Any:
    """Return a template's value with joins joined, and names in angle brackets for what is known at deployment."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return separator.join(str(flat(part)) for part in parts)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name[:-8]}.{attribute}>"
        case {"Ref": name}:
            return f"<{name[:-8]}>"
        case {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": [name, _]}]}]}:
            return f"<name of {name[:-8]}>"
        case dict():
            return {key: flat(item) for key, item in value.items()}
        case list():
            return [flat(item) for item in value]
    return value


def allowed(resources: dict[str, Any], role: str) -> dict[str, list[str]]:
    """Return what a role may do, as actions by resource."""
    found: dict[str, list[str]] = {}
    for policy in of_type(resources, "AWS::IAM::Policy"):
        if [flat(name) for name in policy["Roles"]] == [f"<{role}>"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                assert statement["Effect"] == "Allow"
                assert set(statement) == {"Action", "Effect", "Resource"}
                actions = statement["Action"]
                resource = flat(statement["Resource"])
                for one in resource if isinstance(resource, list) else [resource]:
                    found.setdefault(one, []).extend([actions] if isinstance(actions, str) else actions)
    return found


def environment(resources: dict[str, Any], handler: str) -> dict[str, Any]:
    (function,) = (f for f in of_type(resources, "AWS::Lambda::Function") if handler in f["Handler"])
    return dict(flat(function["Environment"]["Variables"]))


@pytest.fixture(scope="module")
def resources(render: Render) -> dict[str, Any]:
    """What an auditor with nothing but a queue deploys."""
    stack = new_stack()
    PreemptionAuditor(stack, "Auditor", queue=new_queue(stack))
    return dict(render(stack))


class TestDefaults:
    def test_table(self, resources: dict[str, Any]) -> None:
        (table,) = (r for r in resources.values() if r["Type"] == "AWS::DynamoDB::GlobalTable")
        assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
        properties = table["Properties"]
        assert properties["BillingMode"] == "PAY_PER_REQUEST"
        assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
        (replica,) = properties["Replicas"]
        assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}

    def test_poison_goes_to_the_dead_letters_alone(self, resources: dict[str, Any]) -> None:
        queues = {flat({"Ref": k}): r["Properties"] for k, r in resources.items() if r["Type"] == "AWS::SQS::Queue"}
        redrive = queues["<AuditorEvents>"]["RedrivePolicy"]
        assert flat(redrive) == {"deadLetterTargetArn": "<AuditorDeadLetters.Arn>", "maxReceiveCount": 5}
        assert all(queue["SqsManagedSseEnabled"] for queue in queues.values())
        (source,) = of_type(resources, "AWS::Lambda::EventSourceMapping")
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert flat(source["EventSourceArn"]) == "<AuditorEvents.Arn>"
        (ingest,) = (f for f in of_type(resources, "AWS::Lambda::Function") if "ingest" in f["Handler"])
        assert queues["<AuditorEvents>"]["VisibilityTimeout"] >= 6 * ingest["Timeout"]

    def test_rules_are_narrowed_where_events_name_the_queue(self, resources: dict[str, Any]) -> None:
        rules = of_type(resources, "AWS::Events::Rule")
        patterns = {rule["EventPattern"]["detail-type"][0]: flat(rule["EventPattern"]) for rule in rules}
        states = patterns["Batch Service Job State Change"]
        assert states["detail-type"] == ["Batch Service Job State Change", "Batch Service Job Queue Blocked"]
        assert states["detail"] == {"jobQueue": ["<Training.JobQueueArn>"]}
        preemptions = patterns["Batch Service Job Preemption Started"]
        assert "Batch Service Job Preemption Completed" in preemptions["detail-type"]
        assert "detail" not in preemptions
        calls = patterns["AWS API Call via CloudTrail"]["detail"]
        assert {"UpdateServiceJob", "UpdateQuotaShare", "SubmitServiceJob"} < set(calls["eventName"])
        for rule in rules:
            (target,) = rule["Targets"]
            assert flat(target["Arn"]) == "<AuditorEvents.Arn>"
            assert flat(target["DeadLetterConfig"]["Arn"]) == "<AuditorDeadLetters.Arn>"

    def test_archive_keeps_what_the_rules_match(self, resources: dict[str, Any]) -> None:
        (archive,) = (r for r in resources.values() if r["Type"] == "AWS::Events::Archive")
        assert archive["DeletionPolicy"] == "Retain"
        pattern = flat(archive["Properties"]["EventPattern"])
        rules = [flat(rule["EventPattern"]) for rule in of_type(resources, "AWS::Events::Rule")]
        assert [{"source": pattern["source"], **part} for part in pattern["$or"]] == rules
        assert archive["Properties"]["RetentionDays"] == 365

    def test_roles_may_do_exactly_this(self, resources: dict[str, Any]) -> None:
        traces = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
        log = ["logs:CreateLogStream", "logs:PutLogEvents"]
        assert allowed(resources, "AuditorIngestRole") == {
            "<AuditorIngestLog.Arn>": log,
            "*": traces,
            "<AuditorTable.Arn>": [
                "dynamodb:DeleteItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
            ],
            "<AuditorEvents.Arn>": [
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:GetQueueUrl",
                "sqs:ReceiveMessage",
            ],
        }
        reads = ["batch:DescribeJobQueues", "batch:DescribeServiceEnvironments", "batch:DescribeServiceJob"]
        assert allowed(resources, "AuditorJudgeRole") == {
            "<AuditorJudgeLog.Arn>": log,
            "*": [*reads, *traces],
            "<AuditorTable.Arn>": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
            "<AuditorFindings.Arn>": ["events:PutEvents"],
            "<Training.JobQueueArn>": ["batch:ListQuotaShares"],
        }
        assert all("ManagedPolicyArns" not in role for role in of_type(resources, "AWS::IAM::Role"))

    def test_judge_runs_by_schedule_which_may_call_it_alone(self, resources: dict[str, Any]) -> None:
        (schedule,) = of_type(resources, "AWS::Scheduler::Schedule")
        assert schedule["ScheduleExpression"] == "rate(5 minutes)"
        assert flat(schedule["Target"]["Arn"]) == "<AuditorJudge.Arn>"
        (role,) = (role for role in of_type(resources, "AWS::IAM::Role") if "Policies" in role)
        (policy,) = role["Policies"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert flat(statement) == {
            "Action": "lambda:InvokeFunction",
            "Effect": "Allow",
            "Resource": "<AuditorJudge.Arn>",
        }

    def test_judge_knows_the_queue_and_what_was_declared(self, resources: dict[str, Any]) -> None:
        given = environment(resources, "judge")
        assert json.loads(given["AUDITOR_QUEUES"]) == ["<name of Training>"]
        declared = {
            "environment": {G5: 3},
            "shares": [{"name": "vision", "limits": {G5: 3}, "strategy": "RESERVE", "inSharePreemption": False}],
        }
        assert json.loads(given["AUDITOR_POLICIES"]) == {"<name of Training>": declared}
        assert given["AUDITOR_BUS"] == "<AuditorFindings.Arn>"
        assert "AUDITOR_TOPIC" not in given

    def test_code_and_layer_are_the_same_for_both(self, resources: dict[str, Any]) -> None:
        ingest, judge = of_type(resources, "AWS::Lambda::Function")
        assert ingest["Code"] == judge["Code"]
        (layer,) = judge["Layers"]
        assert flat(layer).startswith(f"arn:aws:lambda:{REGION}:017000801446:layer:AWSLambdaPowertoolsPythonV3-python3")
        assert ingest["TracingConfig"] == judge["TracingConfig"] == {"Mode": "Active"}

    def test_alarms(self, resources: dict[str, Any]) -> None:
        alarms = {alarm["MetricName"]: alarm for alarm in of_type(resources, "AWS::CloudWatch::Alarm")}
        dimensions = {name: flat(alarm["Dimensions"]) for name, alarm in alarms.items()}
        assert dimensions == {
            "ApproximateNumberOfMessagesVisible": [{"Name": "QueueName", "Value": "<AuditorDeadLetters.QueueName>"}],
            "Errors": [{"Name": "FunctionName", "Value": "<AuditorJudge>"}],
            "Violations": [{"Name": "JobQueueName", "Value": "<name of Training>"}],
        }
        assert {(alarm["Threshold"], alarm["Period"]) for alarm in alarms.values()} == {(1, 300)}


@pytest.mark.parametrize("pack", [AwsSolutionsChecks, ServerlessChecks])
def test_nag_finds_nothing_unacknowledged(
    stack: cdk.Stack, queue: QuotaManagedQueue, pack: Callable[..., NagPack]
) -> None:
    topic = sns.Topic(stack, "Topic", enforce_ssl=True)
    PreemptionAuditor(stack, "Auditor", queue=queue, alarm_topic=topic, findings_topic=topic)
    report = pack(verbose=True).validate_scope(stack.node.root)
    assert [f"{v.rule_name}: {v.description}" for v in report.violations] == []


def test_settings(stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
    alarm_topic = sns.Topic.from_topic_arn(stack, "Operators", f"arn:aws:sns:{REGION}:{ACCOUNT}:operators")
    told = sns.Topic.from_topic_arn(stack, "Told", f"arn:aws:sns:{REGION}:{ACCOUNT}:violations")
    bus = events.EventBus.from_event_bus_arn(stack, "Bus", f"arn:aws:events:{REGION}:999999999999:event-bus/findings")
    auditor = PreemptionAuditor(
        stack,
        "Auditor",
        queue=queue,
        settings=AuditSettings("complete", decision_lag=1.5, tolerance=600, lateness=60),
        rate=cdk.Duration.hours(1),
        declared_policies=False,
        alarm_topic=alarm_topic,
        violations=AlarmSetting(3, cdk.Duration.hours(1)),
        dead_letters=None,
        findings_topic=told,
        findings_bus=bus,
        archive=None,
        removal_policy=cdk.RemovalPolicy.DESTROY,
        judge_memory_size=3008,
    )
    resources = render(stack)
    given = environment(resources, "judge")
    assert {name: value for name, value in given.items() if name not in ("AUDITOR_TABLE", "AUDITOR_QUEUES")} == {
        "AUDITOR_BUS": bus.event_bus_arn,
        "AUDITOR_TOPIC": told.topic_arn,
        "AUDITOR_DELIVERY": "complete",
        "AUDITOR_DECISION_LAG": "1.5",
        "AUDITOR_TOLERANCE": "600",
        "AUDITOR_LATENESS": "60",
    }
    may = allowed(resources, "AuditorJudgeRole")
    assert may[bus.event_bus_arn] == ["events:PutEvents"]
    assert may[told.topic_arn] == ["sns:Publish"]
    kinds = {resource["Type"] for resource in resources.values()}
    assert not kinds & {"AWS::Events::EventBus", "AWS::Events::Archive"}
    (table,) = (r for r in resources.values() if r["Type"] == "AWS::DynamoDB::GlobalTable")
    assert table["DeletionPolicy"] == "Delete"
    (schedule,) = of_type(resources, "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(60 minutes)"
    assert set(auditor.alarms) == {"judge_errors", "violations/Stack/Training"}
    alarms = {alarm["MetricName"]: alarm for alarm in of_type(resources, "AWS::CloudWatch::Alarm")}
    assert (alarms["Violations"]["Threshold"], alarms["Violations"]["Period"]) == (3, 3600)
    assert all(alarm["AlarmActions"] == [alarm_topic.topic_arn] for alarm in alarms.values())
    assert {f["MemorySize"] for f in of_type(resources, "AWS::Lambda::Function")} == {256, 3008}


def test_key_encrypts_table_and_queues(stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
    key = kms.Key(stack, "Key")
    auditor = PreemptionAuditor(stack, "Auditor", queue=queue, encryption_key=key)
    auditor.grant_read_findings(iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal()))
    resources = render(stack)
    (table,) = of_type(resources, "AWS::DynamoDB::GlobalTable")
    assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert all(flat(made["KmsMasterKeyId"]) == "<Key.Arn>" for made in of_type(resources, "AWS::SQS::Queue"))
    for role in ("AuditorIngestRole", "AuditorJudgeRole"):
        assert "kms:Decrypt" in allowed(resources, role)["<Key.Arn>"]
    (policy,) = of_type(resources, "AWS::KMS::Key")
    assert "events.amazonaws.com" in json.dumps(policy["KeyPolicy"])  # or rules couldn't send


class TestSeveralQueues:
    def test_one_auditor(self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue, queues=[imported(stack, "second")])
        auditor.add_queue(imported(stack, "third"))
        resources = render(stack)
        arns = ["<Training.JobQueueArn>", f"{QUEUE_ARN}/second", f"{QUEUE_ARN}/third"]
        (rule,) = (r for r in of_type(resources, "AWS::Events::Rule") if "jobQueue" in str(r["EventPattern"]))
        assert flat(rule["EventPattern"]["detail"]["jobQueue"]) == arns
        (archive,) = of_type(resources, "AWS::Events::Archive")
        assert flat(archive["EventPattern"]["$or"][0]["detail"]["jobQueue"]) == arns
        may = allowed(resources, "AuditorJudgeRole")
        assert all(may[arn] == ["batch:ListQuotaShares"] for arn in arns)
        given = environment(resources, "judge")
        assert json.loads(given["AUDITOR_QUEUES"]) == ["<name of Training>", "second", "third"]
        assert list(json.loads(given["AUDITOR_POLICIES"])) == ["<name of Training>"]
        alarms = of_type(resources, "AWS::CloudWatch::Alarm")
        watched = [flat(a["Dimensions"])[0]["Value"] for a in alarms if a["MetricName"] == "Violations"]
        assert watched == ["<name of Training>", "second", "third"]

    def test_unknown_policies_are_said_openly(self, stack: cdk.Stack, render: Render) -> None:
        hidden = QuotaManagedQueue(stack, "Hidden", capacity={G5: cdk.Token.as_number({"Ref": "Count"})})
        hidden.add_quota_share("a", capacity={G5: 1}, sharing=ResourceSharing.lend())
        PreemptionAuditor(stack, "Auditor", queues=[imported(stack, "second"), hidden])
        app = cdk.Stage.of(stack)
        assert app is not None
        messages = app.synth().get_stack_artifact(stack.artifact_id).messages
        said = [str(message.entry.data) for message in messages if message.id == "/Stack/Auditor"]
        assert len(said) == 2
        assert all("QM-A15" in text and "QM015" in text for text in said)
        assert any("Stack/second" in text for text in said)
        assert json.loads(environment(render(stack), "judge")["AUDITOR_POLICIES"]) == {}

    def test_shares_added_after_the_auditor_are_declared(
        self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render
    ) -> None:
        PreemptionAuditor(stack, "Auditor", queue=queue)
        queue.add_quota_share("late", capacity={G5: 1}, sharing=ResourceSharing.lend())
        (declared,) = json.loads(environment(render(stack), "judge")["AUDITOR_POLICIES"]).values()
        assert [share["name"] for share in declared["shares"]] == ["vision", "late"]

    def test_several_auditors_in_a_stack(self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
        first = PreemptionAuditor(stack, "First", queue=queue)
        PreemptionAuditor(stack, "Second", queue=imported(stack, "other"), findings_bus=first.findings_bus)
        resources = render(stack)
        assert len(of_type(resources, "AWS::DynamoDB::GlobalTable")) == 2
        assert len(of_type(resources, "AWS::Events::EventBus")) == 1
        assert "<FirstTable.Arn>" not in allowed(resources, "SecondJudgeRole")
        assert allowed(resources, "SecondJudgeRole")["<FirstFindings.Arn>"] == ["events:PutEvents"]
        assert len({function["Code"]["S3Key"] for function in of_type(resources, "AWS::Lambda::Function")}) == 1

    def test_queue_of_another_stack(self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
        other = cdk.Stack(stack.node.root, "Other", env=cdk.Environment(account=ACCOUNT, region=REGION))  # type: ignore[arg-type]
        PreemptionAuditor(other, "Auditor", queue=queue)
        given = environment(render(other), "judge")
        assert "Fn::ImportValue" in given["AUDITOR_QUEUES"]


class TestFails:
    @pytest.mark.parametrize(
        ("props", "said"),
        [
            ({"rate": cdk.Duration.seconds(90)}, r"Stack/Auditor\.rate: 1.5 minutes .* whole minutes from 1"),
            ({"rate": cdk.Duration.seconds(30)}, "0.5 minutes is not allowed"),
            ({"rate": 5}, "5 is a int: give an aws_cdk.Duration"),
            ({"settings": {"tolerance": 3}}, "give an AuditSettings"),
            ({"declared_policies": "yes"}, "give True or False"),
            ({"removal_policy": "RETAIN"}, r"give an aws_cdk\.RemovalPolicy"),
            ({"violations": 5}, r"Stack/Auditor\.violations: 5 is no AlarmSetting"),
            ({"dead_letters": True}, "dead_letters: True is no AlarmSetting"),
            ({"archive": cdk.Duration.hours(5)}, r"Stack/Auditor\.archive: .* whole days from 1"),
            ({"archive": 30}, "30 is a int: give an aws_cdk.Duration"),
        ],
    )
    def test_for_a_prop(self, stack: cdk.Stack, queue: QuotaManagedQueue, props: dict[str, Any], said: str) -> None:
        with pytest.raises(PropError, match=said):
            PreemptionAuditor(stack, "Auditor", queue=queue, **props)
        assert stack.node.try_find_child("Auditor") is None

    def test_for_both_ways_to_powertools(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        layer = lambda_.LayerVersion.from_layer_version_arn(
            stack, "Layer", f"arn:aws:lambda:{REGION}:{ACCOUNT}:layer:own:1"
        )
        with pytest.raises(PropError, match="both powertools_layer and bundle_powertools given: give one"):
            PreemptionAuditor(stack, "Auditor", queue=queue, powertools_layer=layer, bundle_powertools=True)

    def test_for_an_unknown_delivery(self) -> None:
        with pytest.raises(AuditorError, match="'sometimes' is unknown: use complete, lossy"):
            AuditSettings("sometimes")  # type: ignore[arg-type]

    def test_for_what_is_no_queue(self, stack: cdk.Stack) -> None:
        with pytest.raises(PropError, match=r"Stack/Auditor\.queue: 'training' is not a job queue: give one"):
            PreemptionAuditor(stack, "Auditor", queue="training")  # type: ignore[arg-type]

    def test_for_a_queue_twice(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue)
        with pytest.raises(PropError, match="Stack/Training is given twice"):
            auditor.add_queue(queue)

    @pytest.mark.parametrize(
        ("place", "said"),
        [
            (f"us-east-1:{ACCOUNT}", "Region us-east-1, whose events don't come to eu-west-1"),
            (f"{REGION}:999999999999", "account 999999999999, whose events don't come to"),
        ],
    )
    def test_for_a_queue_from_elsewhere(self, stack: cdk.Stack, place: str, said: str) -> None:
        queue = TrainingJobQueue.from_training_job_queue_arn(stack, "Far", f"arn:aws:batch:{place}:job-queue/far")
        with pytest.raises(PropError, match=said):
            PreemptionAuditor(stack, "Auditor", queue=queue)

    def test_for_a_bus_of_another_region(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        arn = f"arn:aws:events:us-east-1:{ACCOUNT}:event-bus/findings"
        bus = events.EventBus.from_event_bus_arn(stack, "Bus", arn)
        with pytest.raises(PropError, match="a bus of us-east-1 can't take events from eu-west-1"):
            PreemptionAuditor(stack, "Auditor", queue=queue, findings_bus=bus)

    def test_without_any_queue(self, stack: cdk.Stack, render: Render) -> None:
        PreemptionAuditor(stack, "Auditor")
        with pytest.raises(RuntimeError, match="no queue to audit: give queue, or call add_queue"):
            render(stack)

    def test_for_policies_too_long_for_the_environment(self, stack: cdk.Stack, render: Render) -> None:
        auditor = PreemptionAuditor(stack, "Auditor")
        for number in range(5):
            queue = QuotaManagedQueue(stack, f"Queue{number}", capacity={G5: 20})
            for share in range(10):
                queue.add_quota_share(f"share-{share}", capacity={G5: 2}, sharing=ResourceSharing.lend())
            auditor.add_queue(queue)
        with pytest.raises(RuntimeError, match=r"5 queues take \d+ bytes, more than the \d+ that fit"):
            render(stack)


class TestReaders:
    def test_grant_shows_findings_and_coverage_and_no_events(
        self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render
    ) -> None:
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue)
        auditor.grant_read_findings(iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal()))
        policies = of_type(render(stack), "AWS::IAM::Policy")
        (policy,) = (policy for policy in policies if flat(policy["Roles"]) == ["<Reader>"])
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert flat(statement) == {
            "Action": ["dynamodb:GetItem", "dynamodb:Query"],
            "Effect": "Allow",
            "Resource": "<AuditorTable.Arn>",
            "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["FINDINGS#*", "QUEUES", "STATE#*"]}},
        }

    def test_another_account_makes_rules_of_its_own(
        self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render
    ) -> None:
        PreemptionAuditor(stack, "Auditor", queue=queue).grant_subscribe("999999999999")
        (policy,) = of_type(render(stack), "AWS::Events::EventBusPolicy")
        statement = flat(policy["Statement"])
        assert statement["Principal"] == {"AWS": "arn:aws:iam::999999999999:root"}
        assert statement["Resource"] == f"arn:aws:events:{REGION}:{ACCOUNT}:rule/<AuditorFindings>/*"
        assert statement["Condition"] == {"StringEqualsIfExists": {"events:creatorAccount": "${aws:PrincipalAccount}"}}
        assert "events:PutEvents" not in statement["Action"]

    def test_fails_for_what_is_no_account_and_for_a_given_bus(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue)
        with pytest.raises(PropError, match="'12345' is no account: give its 12 digits"):
            auditor.grant_subscribe("12345")
        other = PreemptionAuditor(stack, "Other", queue=queue, findings_bus=auditor.findings_bus)
        with pytest.raises(PropError, match="only its owner can let accounts subscribe"):
            other.grant_subscribe("999999999999")

    def test_metrics(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue)
        for name, metric in {
            "Violations": auditor.metric_violations(queue),
            "Divergences": auditor.metric_divergences(queue),
            "Withdrawn": auditor.metric_withdrawn(queue),
            "EventsRead": auditor.metric_events_read(queue),
            "LateEvents": auditor.metric_late_events(queue),
            "Decisions": auditor.metric_decisions(queue),
            "UnknownDecisions": auditor.metric_unknown_decisions(queue, period=cdk.Duration.hours(1)),
        }.items():
            assert (metric.namespace, metric.metric_name, metric.statistic) == ("PreemptionAuditor", name, "Sum")
            assert list(metric.dimensions or {}) == ["JobQueueName"]

    def test_dashboard_shows_findings_by_share_and_rule(self, stack: cdk.Stack, render: Render) -> None:
        queue = imported(stack, "training")
        auditor = PreemptionAuditor(stack, "Auditor", queue=queue)
        QueueDashboard(stack, "Dashboard", queue=queue, auditor=auditor)
        (dashboard,) = of_type(render(stack), "AWS::CloudWatch::Dashboard")
        widgets = json.loads(flat(dashboard["DashboardBody"]))["widgets"]
        metrics = [metric for widget in widgets for metric in widget["properties"]["metrics"]]
        searched = [metric[0]["expression"] for metric in metrics if isinstance(metric[0], dict)]
        schema = "{PreemptionAuditor,JobQueueName,QuotaShareName,Rule}"
        assert f"""SEARCH('{schema} MetricName="Violations" JobQueueName="training"', 'Sum')""" in searched
        shown = {metric[1] for metric in metrics if len(metric) > 1}
        assert {"Decisions", "UnknownDecisions", "LateEvents"} < shown


class TestLayer:
    @pytest.mark.parametrize(
        ("region", "beginning"),
        [
            ("us-gov-west-1", "arn:aws-us-gov:lambda:us-gov-west-1:165093116878:layer:"),
            ("us-gov-east-1", "arn:aws-us-gov:lambda:us-gov-east-1:165087284144:layer:"),
            ("cn-north-1", "arn:aws-cn:lambda:cn-north-1:498634801083:layer:"),
            (None, "arn:<AWS::P>:lambda:<AWS>:017000801446:layer:"),
        ],
    )
    def test_is_that_of_the_partition(self, region: str | None, beginning: str, render: Render) -> None:
        context = {"@aws-cdk/core:enablePartitionLiterals": True}
        stack = cdk.Stack(cdk.App(context=context), "Stack", env=cdk.Environment(region=region))
        partition = {"cn-north-1": "aws-cn", None: "aws"}.get(region, "aws-us-gov")
        arn = f"arn:{partition}:batch:{region or 'us-east-1'}:{ACCOUNT}:job-queue/training"
        PreemptionAuditor(stack, "Auditor", queue=TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", arn))
        for function in of_type(render(stack), "AWS::Lambda::Function"):
            (layer,) = function["Layers"]
            assert flat(layer).startswith(beginning)

    def test_fails_where_nobody_publishes_it(self) -> None:
        stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region="cn-northwest-1"))
        arn = f"arn:aws-cn:batch:cn-northwest-1:{ACCOUNT}:job-queue/training"
        queue = TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", arn)
        with pytest.raises(PropError, match="isn't published in cn-northwest-1: give powertools_layer"):
            PreemptionAuditor(stack, "Auditor", queue=queue)

    def test_own(self, stack: cdk.Stack, queue: QuotaManagedQueue, render: Render) -> None:
        arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:layer:own:1"
        layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", arn)
        PreemptionAuditor(stack, "Auditor", queue=queue, powertools_layer=layer)
        assert [f["Layers"] for f in of_type(render(stack), "AWS::Lambda::Function")] == [[arn], [arn]]


class TestCode:
    def asset(self, stack: cdk.Stack) -> Path:
        app = cdk.Stage.of(stack)
        assert app is not None
        assembly = app.synth()
        template = assembly.get_stack_artifact(stack.artifact_id).template["Resources"]
        (key,) = {function["Code"]["S3Key"] for function in of_type(template, "AWS::Lambda::Function")}
        return Path(assembly.directory) / f"asset.{key.removesuffix('.zip')}"

    def test_is_the_two_packages_without_bytecode(self, stack: cdk.Stack, queue: QuotaManagedQueue) -> None:
        PreemptionAuditor(stack, "Auditor", queue=queue)
        folder = self.asset(stack)
        assert {path.name for path in folder.iterdir()} == {"preemption_auditor", "quota_scheduler"}
        assert (folder / "preemption_auditor" / "handlers" / "judge.py").exists()
        assert not [path for path in folder.rglob("*") if path.name == "__pycache__" or path.suffix == ".pyc"]

    def test_is_the_same_wherever_it_is_installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def made(name: str) -> str:
            lambda_asset._staged.cache_clear()
            stack = cdk.Stack(cdk.App(outdir=str(tmp_path / name)), "Stack")
            queue = TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", f"{QUEUE_ARN}/training")
            PreemptionAuditor(stack, "Auditor", queue=queue)
            return self.asset(stack).name

        here = made("here")
        source = Path(__file__).parents[2] / "lambda"
        for package in lambda_asset.PACKAGES:
            shutil.copytree(source / package, tmp_path / "site" / package)
            (tmp_path / "site" / package / "__pycache__").mkdir(exist_ok=True)
            (tmp_path / "site" / package / "__pycache__" / "x.pyc").write_text("bytecode")
            (tmp_path / "site" / package / "job.cpython-311-x86_64-linux-gnu.so").write_text("an extension")
            (tmp_path / "site" / package / "job.cp311-win_amd64.pyd").write_text("an extension")
            (tmp_path / "site" / package / "__init__.py").touch()
        found = {package: tmp_path / "site" / package for package in lambda_asset.PACKAGES}
        monkeypatch.setattr(lambda_asset, "_folder_of", found.__getitem__)
        assert made("there") == here
        lambda_asset._staged.cache_clear()

    @pytest.fixture
    def index(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder that pip takes for the package index."""
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        return tmp_path

    def test_brings_powertools_where_pip_bundles_it(
        self, stack: cdk.Stack, queue: QuotaManagedQueue, index: Path, render: Render
    ) -> None:
        about = "aws_lambda_powertools-3.99.0.dist-info"
        with zipfile.ZipFile(index / "aws_lambda_powertools-3.99.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("aws_lambda_powertools/__init__.py", "")
            metadata = "Metadata-Version: 2.1\nName: aws-lambda-powertools\nVersion: 3.99.0\nProvides-Extra: tracer\n"
            wheel.writestr(f"{about}/METADATA", metadata)
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
        PreemptionAuditor(stack, "Auditor", queue=queue, bundle_powertools=True)
        assert {path.name for path in self.asset(stack).iterdir()} == {
            "aws_lambda_powertools",
            about,
            "preemption_auditor",
            "quota_scheduler",
        }
        assert all("Layers" not in function for function in of_type(render(stack), "AWS::Lambda::Function"))

    def test_fails_where_pip_does(self, stack: cdk.Stack, queue: QuotaManagedQueue, index: Path) -> None:
        lambda_asset._staged.cache_clear()
        with pytest.raises(PropError, match=r"pip can't install aws-lambda-powertools.*No matching distribution"):
            PreemptionAuditor(stack, "Auditor", queue=queue, bundle_powertools=True)
