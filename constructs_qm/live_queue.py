"""Looking up a queue as it stands, with boto3."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from constructs_qm.aws_errors import describe_failure
from quota_scheduler import DocumentError, QuotaSchedulerError
from quota_scheduler.queue_reader import read_job, read_queue

__all__ = ["read_live_queue"]

_AT_ONCE = 8
"""Jobs looked up at the same time."""


def read_live_queue(queue: str, *, endpoint_url: str | None = None, job: str | None = None) -> dict[str, Any]:
    """Return the recorded state of a queue (see :mod:`quota_scheduler.recorded_state`).

    Parameters
    ----------
    queue : str
        Name or ARN; an ARN's Region counts.
    endpoint_url : str, optional
        Of an endpoint other than AWS's.
    job : str, optional
        Id or name of a job to be included even if it has left the queue.

    Raises
    ------
    DocumentError
        The queue, or the job, can't be looked up.
    """
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    region = queue.split(":")[3] if queue.startswith("arn:") and queue.count(":") > 4 else None
    config = Config(max_pool_connections=_AT_ONCE, retries={"mode": "adaptive", "max_attempts": 10})
    try:
        batch = boto3.client("batch", endpoint_url=endpoint_url, region_name=region, config=config)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            state = read_queue(batch, queue, run=pool.map)
        if job is not None and all(job not in (entry["job"], entry["name"]) for entry in state["jobs"]):
            state["jobs"].append(read_job(batch, job))
    except QuotaSchedulerError:
        raise
    except (BotoCoreError, ClientError, ValueError) as error:  # ValueError: a URL that is none
        raise DocumentError(f"queue {queue!r}: {describe_failure(error)}") from None
    return state
