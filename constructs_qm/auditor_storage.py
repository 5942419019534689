"""Where an auditor keeps what it was sent and what it found: a table, and a queue with its dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_sqs as sqs

from constructs_qm.acknowledgments import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from constructs import Construct

__all__ = ["make_dead_letter_queue", "make_events_queue", "make_table"]

RECEIVES = 5
"""How often a message is tried before it is taken for poison."""


def make_table(scope: Construct, key: kms.IKey | None, removal_policy: cdk.RemovalPolicy) -> dynamodb.TableV2:
    """Make the table of :mod:`preemption_auditor.stores.dynamodb`."""
    text = dynamodb.AttributeType.STRING
    encryption = dynamodb.TableEncryptionV2
    return dynamodb.TableV2(
        scope,
        "Table",
        partition_key=dynamodb.Attribute(name="pk", type=text),
        sort_key=dynamodb.Attribute(name="sk", type=text),
        billing=dynamodb.Billing.on_demand(),
        time_to_live_attribute="ttl",
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        encryption=encryption.dynamo_owned_key() if key is None else encryption.customer_managed_key(key),
        removal_policy=removal_policy,
    )


def make_dead_letter_queue(scope: Construct, key: kms.IKey | None) -> sqs.Queue:
    """Make the queue that keeps poison for two weeks, as long as SQS can."""
    queue = _queue(scope, "DeadLetters", key, retention_period=cdk.Duration.days(14))
    acknowledge(queue, "Serverless-SQSRedrivePolicy", "it is the dead-letter queue")
    return queue


def make_events_queue(scope: Construct, key: kms.IKey | None, dead: sqs.Queue, timeout: cdk.Duration) -> sqs.Queue:
    """Make the queue of events.

    They are hidden for six times as long as the function may take (AWS Lambda Developer Guide, SQS).
    """
    return _queue(
        scope,
        "Events",
        key,
        visibility_timeout=cdk.Duration.seconds(6 * timeout.to_seconds()),
        dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=RECEIVES, queue=dead),
    )


def _queue(scope: Construct, id: str, key: kms.IKey | None, **props: Any) -> sqs.Queue:
    encryption = sqs.QueueEncryption.SQS_MANAGED if key is None else sqs.QueueEncryption.KMS
    return sqs.Queue(scope, id, encryption=encryption, encryption_master_key=key, enforce_ssl=True, **props)
