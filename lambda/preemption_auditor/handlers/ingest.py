"""Ingest: SQS messages, each an EventBridge event, into the store. Poison messages fail alone."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from preemption_auditor.handlers.environment import Environment
from preemption_auditor.ingest import PoisonError, ingest
from preemption_auditor.stores.dynamodb import DynamoDBStore

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

__all__ = ["handler"]

logger = Logger(service="preemption-auditor-ingest")
tracer = Tracer(service="preemption-auditor-ingest")
metrics = Metrics(namespace="PreemptionAuditor", service="ingest")


@lru_cache
def _store() -> DynamoDBStore:
    return DynamoDBStore(boto3.client("dynamodb"), Environment.read().table)


def _take(record: SQSRecord) -> None:
    """Store one message; raising leaves it to be delivered again, and in the end to the dead-letter queue."""
    try:
        queues = ingest(json.loads(record.body), _store(), int(time.time() * 1000))
    except (PoisonError, ValueError) as error:
        metrics.add_metric(name="PoisonMessages", unit=MetricUnit.Count, value=1)
        logger.warning("message can't be read", extra={"message_id": record.message_id, "reason": str(error)})
        raise
    metrics.add_metric(name="EventsStored", unit=MetricUnit.Count, value=len(queues))


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Take in a batch, and name the messages that failed (``ReportBatchItemFailures``)."""
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    answer: Any = process_partial_response(event=event, record_handler=_take, processor=processor, context=context)
    return dict(answer)
