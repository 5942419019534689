"""Judge: on a schedule, judge what is new of every queue, and publish the findings.

Findings are stored with the state they follow from, and published after that: what a crash leaves
unpublished is published by the next run. Each event on the bus carries key and revision, so that a
second delivery can be told.
"""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from preemption_auditor.handlers.environment import Environment
from preemption_auditor.live import Run, judge_queue
from preemption_auditor.look_ups import look_up_jobs, look_up_policy
from preemption_auditor.policy_timeline import PolicyTimeline
from preemption_auditor.stores import LeaseLostError
from preemption_auditor.stores.dynamodb import DynamoDBStore
from quota_scheduler import load_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aws_lambda_powertools.utilities.typing import LambdaContext

__all__ = ["handler"]

NAMESPACE = "PreemptionAuditor"
SOURCE = "preemption-auditor"
logger = Logger(service="preemption-auditor-judge")
tracer = Tracer(service="preemption-auditor-judge")


@lru_cache
def _environment() -> Environment:
    return Environment.read()


@lru_cache
def _client(name: str) -> Any:
    return boto3.client(name)


@logger.inject_lambda_context
@tracer.capture_lambda_handler
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Judge every queue; one that fails doesn't stop the others, but makes the run fail in the end."""
    environment = _environment()
    store = DynamoDBStore(_client("dynamodb"), environment.table)
    judged, failed = {}, []
    for queue in environment.queues or store.queues():
        try:
            run = _judge(store, queue, f"{context.aws_request_id}", environment)
            judged[queue] = None if run is None else len(run.news)
            _publish(store, queue, environment)
        except LeaseLostError:
            logger.warning("somebody else took over", extra={"queue": queue})
        except Exception:
            logger.exception("queue can't be judged", extra={"queue": queue})
            failed.append(queue)
    if failed:
        raise RuntimeError(f"queues can't be judged: {', '.join(failed)}")
    return {"judged": judged}


def _judge(store: DynamoDBStore, queue: str, owner: str, environment: Environment) -> Run | None:
    now = int(time.time() * 1000)
    batch = _client("batch")
    found = look_up_policy(batch, queue, now)
    declared = environment.declared.get(queue)
    if declared is None and found is None:
        logger.warning("no policy: the queue doesn't exist, or has no quota shares", extra={"queue": queue})
        return None
    policy = declared or PolicyTimeline.constant(load_policy((found or {})["detail"], as_deployed=True))

    def look_up(jobs: list[str]) -> Iterator[dict[str, Any]]:
        yield from [found] if found is not None else []
        yield from look_up_jobs(batch, jobs, now)

    run = judge_queue(store, queue, owner, now, policy, environment.settings, look_up=look_up)
    if run is not None:
        _count(queue, run)
    return run


def _count(queue: str, run: Run) -> None:
    """Tell metrics how far the evidence goes."""
    counts = {
        "EventsRead": run.read,
        "Decisions": run.coverage.decisions,
        "UnknownDecisions": run.coverage.unknown,
        "LateEvents": run.coverage.late,
    }
    for name, value in counts.items():
        _metric(name, value, JobQueueName=queue)


def _metric(name: str, value: int, **dimensions: str) -> None:
    with single_metric(name=name, unit=MetricUnit.Count, value=value, namespace=NAMESPACE) as metric:
        for dimension, of in dimensions.items():
            metric.add_dimension(name=dimension, value=of)


def _publish(store: DynamoDBStore, queue: str, environment: Environment) -> None:
    """Publish every finding that wasn't, as it is now."""
    for key, document in store.unpublished(queue):
        name = {"violation": "Violations", "divergence": "Divergences"}.get(document["kind"], "Withdrawn")
        _metric(name, 1, JobQueueName=queue)  # what alarms watch: they can't search for shares and rules
        for share in document["shares"] or ["-"]:
            _metric(name, 1, JobQueueName=queue, QuotaShareName=share, Rule=document["rule"])
        if environment.bus is not None:
            _put_event(environment.bus, key, document)
        if environment.topic is not None and document["kind"] == "violation":
            subject = f"{document['rule']} in {queue}"[:100]
            _client("sns").publish(TopicArn=environment.topic, Subject=subject, Message=json.dumps(document))
        store.mark_published(queue, key, document["revision"])


def _put_event(bus: str, key: str, document: dict[str, Any]) -> None:
    entry = {
        "EventBusName": bus,
        "Source": SOURCE,
        "DetailType": "Preemption Auditor Finding",
        "Detail": json.dumps({"key": key, **document}),
    }
    answer = _client("events").put_events(Entries=[entry])
    if answer["FailedEntryCount"]:
        raise RuntimeError(f"finding {key} can't be put on bus {bus}: {answer['Entries'][0].get('ErrorMessage')}")
