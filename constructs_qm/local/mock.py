"""Quota management inside a test: :func:`mock_quota_management`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from moto import mock_aws

from constructs_qm.local import seams
from constructs_qm.local.clock import SteppedClock
from constructs_qm.local.endpoint import Endpoint
from constructs_qm.local.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.local.clock import Clock

__all__ = ["mock_quota_management"]


@contextmanager
def mock_quota_management(
    *, clock: Clock | None = None, settings: Settings | None = None, seed: int | None = None
) -> Iterator[Endpoint]:
    """Answer AWS Batch, quota management included, and the rest of moto's AWS in this process.

    Works alone, inside moto's ``mock_aws``, and as a decorator.

    Parameters
    ----------
    clock : Clock, optional
        A :class:`SteppedClock` by default, so that nothing happens until the test lets time pass.
    settings : Settings, optional
    seed : int, optional
        Makes the ids of jobs and events repeatable.

    Yields
    ------
    Endpoint

    Raises
    ------
    RuntimeError
        An endpoint is installed already.
    SeamError
        moto has changed.

    Examples
    --------
    >>> import boto3
    >>> with mock_quota_management() as endpoint:
    ...     batch = boto3.client("batch", region_name="us-east-1")
    ...     _ = batch.create_scheduling_policy(
    ...         name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
    ...     )
    ...     endpoint.clock.advance(60)
    ...     len(batch.list_scheduling_policies()["schedulingPolicies"])
    1
    """
    endpoint = Endpoint(clock or SteppedClock(), settings or Settings(), seed)
    with mock_aws():
        seams.install(endpoint)
        endpoint.start()
        try:
            yield endpoint
        finally:
            endpoint.stop()
            seams.uninstall()
