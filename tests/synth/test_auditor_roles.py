"""The roles of a deployed auditor allow every call its functions make."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from constructs_qm import PreemptionAuditor, TrainingJobQueue
from constructs_qm.deployed_audit import read_deployed_audit
from quota_scheduler import DocumentError

boto3 = pytest.importorskip("boto3")
pytest.importorskip("moto")
pytest.importorskip("aws_lambda_powertools")

from unit.auditor import test_handlers as handlers  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local import Endpoint

endpoint = handlers.endpoint
OTHERWISE_NAMED = {"dynamodb:TransactWriteItems": "dynamodb:UpdateItem"}
"""Of a transaction the parts are allowed (Amazon DynamoDB Developer Guide)."""


class Calls:
    """The actions a function's clients ask for, while it runs."""

    def __init__(self) -> None:
        self.actions: set[str] = set()
        self._watching = False
        boto3.setup_default_session()
        boto3.DEFAULT_SESSION.events.register("before-call.*.*", self._note)

    def during(self, handler: Callable[..., Any], event: dict[str, Any]) -> set[str]:
        self.actions, self._watching = set(), True
        handler(event, handlers.CONTEXT)
        self._watching = False
        return self.actions

    def _note(self, model: Any, **_: Any) -> None:
        if self._watching:
            action = f"{model.service_model.service_name}:{model.name}"
            self.actions.add(OTHERWISE_NAMED.get(action, action))


def test_whoever_may_read_findings_may_run_the_audit_command(
    endpoint: Endpoint, render: Callable[[cdk.Stack], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers.overbooked(endpoint)
    handlers.findings_bus(endpoint)
    handlers.deliver(endpoint)
    handlers.judge.handler({}, handlers.CONTEXT)
    partitions: set[tuple[str, str]] = set()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        key = params.get("Key", {}).get("pk") or params["ExpressionAttributeValues"][":pk"]
        partitions.add((f"dynamodb:{model.name}", key["S"]))

    boto3.setup_default_session()
    boto3.DEFAULT_SESSION.events.register("provide-client-params.dynamodb.*", note)
    assert read_deployed_audit("queue", handlers.TABLE)["findings"]
    with pytest.raises(DocumentError, match="use queue"):
        read_deployed_audit("other", handlers.TABLE)

    stack = cdk.Stack(cdk.App(), "Stack")
    arn = "arn:aws:batch:us-east-1:123456789012:job-queue/queue"
    auditor = PreemptionAuditor(stack, "Auditor", queue=TrainingJobQueue.from_training_job_queue_arn(stack, "Q", arn))
    auditor.grant_read_findings(iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal()))
    resources = render(stack)
    (policy,) = (item for name, item in resources.items() if name.startswith("ReaderDefaultPolicy"))
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    patterns = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert {action for action, _ in partitions} == set(statement["Action"])
    assert all(any(fnmatchcase(key, pattern) for pattern in patterns) for _, key in partitions)
    assert not any(fnmatchcase("EVENTS#queue", pattern) for pattern in patterns)


@pytest.fixture(scope="module")
def allowed(render: Callable[[cdk.Stack], dict[str, Any]]) -> dict[str, set[str]]:
    """Actions by the function they are allowed to."""
    stack = cdk.Stack(cdk.App(), "Stack")
    arn = "arn:aws:batch:us-east-1:123456789012:job-queue/queue"
    queue = TrainingJobQueue.from_training_job_queue_arn(stack, "Queue", arn)
    PreemptionAuditor(stack, "Auditor", queue=queue, findings_topic=sns.Topic(stack, "Topic"))
    found: dict[str, set[str]] = {"Ingest": set(), "Judge": set()}
    for name, resource in render(stack).items():
        if resource["Type"] == "AWS::IAM::Policy":
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                function = "Ingest" if "Ingest" in name else "Judge"
                found[function].update([actions] if isinstance(actions, str) else actions)
    return found


def test_every_call_is_allowed(
    endpoint: Endpoint, allowed: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = boto3.client("sns").create_topic(Name="violations")["TopicArn"]
    monkeypatch.setenv("AUDITOR_TOPIC", topic)
    handlers.findings_bus(endpoint)
    calls = Calls()
    handlers.overbooked(endpoint)
    started = {"source": "aws.batch", "detail-type": "Batch Service Job Preemption Started", "time": 1, "id": "early"}
    job = next(event["detail"]["jobArn"] for event in endpoint.events if "jobArn" in event["detail"])
    early = {**started, "time": "2026-01-01T00:00:00Z", "detail": {"preemptedJobArn": job, "status": "RUNNING"}}
    bodies = [handlers.json.dumps(event) for event in (early, *endpoint.events)]  # one that has to wait for its queue
    ingested = calls.during(handlers.ingest.handler, handlers.messages(bodies))
    judged = calls.during(handlers.judge.handler, {"run": 1})
    endpoint.clock.advance(600)
    judged |= calls.during(handlers.judge.handler, {"run": 2})
    assert ingested == {f"dynamodb:{name}" for name in ("GetItem", "PutItem", "DeleteItem", "Query")}
    assert {"events:PutEvents", "sns:Publish", "batch:ListQuotaShares", "dynamodb:UpdateItem"} < judged
    assert ingested <= allowed["Ingest"]
    assert judged <= allowed["Judge"]
    never = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTelemetryRecords", "xray:PutTraceSegments"}
    assert allowed["Judge"] - judged == never  # which the runtime does, not the function
