"""What a deployed auditor has found, read from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.aws_errors import describe_failure
from quota_scheduler import DocumentError, QuotaSchedulerError

if TYPE_CHECKING:
    from preemption_auditor.stores import Store

__all__ = ["read_deployed_audit"]


def read_deployed_audit(
    queue: str, table: str, *, endpoint_url: str | None = None, region: str | None = None
) -> dict[str, Any]:
    """Return what :meth:`preemption_auditor.Report.to_document` would, as of the last run of a deployed judge.

    Parameters
    ----------
    queue : str
        Name or ARN; an ARN's Region counts.
    table : str
        Name of the auditor's DynamoDB table.
    endpoint_url : str, optional
        Of an endpoint other than AWS's.
    region : str, optional
        That of the configuration by default.

    Raises
    ------
    DocumentError
        The table can't be read, or the auditor hasn't judged the queue.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from preemption_auditor.stores.dynamodb import DynamoDBStore

    name = queue.rsplit("/", 1)[-1]
    if queue.startswith("arn:") and queue.count(":") > 4:
        region = queue.split(":")[3]
    try:
        client = boto3.client("dynamodb", endpoint_url=endpoint_url, region_name=region)
        return _read(DynamoDBStore(client, table), name, table)
    except QuotaSchedulerError:
        raise
    except (BotoCoreError, ClientError, ValueError) as error:  # ValueError: a URL that is none
        raise DocumentError(f"auditor's table {table!r}: {describe_failure(error)}") from None


def _read(store: Store, queue: str, table: str) -> dict[str, Any]:
    summary = store.summary(queue)
    if summary is None:
        known = store.queues()
        if queue in known:
            raise DocumentError(
                f"queue {queue!r} has events in table {table!r}, but no judge run ended yet: wait for one"
            )
        raise DocumentError(
            f"table {table!r} has nothing on queue {queue!r}: use {', '.join(known) or 'another table'}"
        )
    found = [*store.findings(queue), *summary["findings"]]
    found.sort(key=lambda finding: (finding["kind"] == "note", finding["from"], finding["to"], finding["rule"]))
    return {**summary, "findings": found}
