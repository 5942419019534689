"""The function of the tests: writes what it gets into a table, and fails where it is asked to."""

import json
import os

import boto3


def handler(event, context):
    """Record SQS messages one by one; report those that say so as failed."""
    table = boto3.resource("dynamodb").Table(os.environ["TABLE"])
    if "Records" not in event:
        table.put_item(Item={"pk": f"call#{event.get('id', context.aws_request_id)}", "event": json.dumps(event)})
        return {"got": event}
    failed = []
    for record in event["Records"]:
        body = json.loads(record["body"])
        if body.get("fail"):
            failed.append({"itemIdentifier": record["messageId"]})
        else:
            table.put_item(Item={"pk": f"message#{body.get('id')}", "event": record["body"]})
    return {"batchItemFailures": failed}
