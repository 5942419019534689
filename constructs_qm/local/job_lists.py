"""ListServiceJobs: statuses and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import milliseconds
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.paging import page

if TYPE_CHECKING:
    from constructs_qm.local.service_jobs import ServiceJob
    from constructs_qm.local.state import BatchState

__all__: list[str] = []

Test = Callable[["ServiceJob"], bool]
KEEPS_STATUS = ("SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
"""Filters that ``jobStatus`` can be combined with; beside the others it is ignored."""


@operation("ListServiceJobs")
def _list(state: BatchState, request: Request) -> Answer:
    queue = state.queue(request["jobQueue"]) if "jobQueue" in request else None
    tests = _tests(request)
    if queue is None and "filters" not in request:
        raise ClientException("jobQueue is required, unless a filter is given")
    # newest first; a page's key has to ascend
    items = (
        (-job.sequence, job.summary())
        for job in reversed(state.jobs.values())
        if (queue is None or job.queue is queue) and all(test(job) for test in tests)
    )
    jobs, token = page("service-jobs", items, request)
    return {"jobSummaryList": jobs, **token}


def _tests(request: Request) -> list[Test]:
    filters = request.get("filters", [])
    if len(filters) > 1:
        raise ClientException("Only one filter key-value pair can be specified.")
    status = request.get("jobStatus")
    if not filters:
        return [_has_status(status or "RUNNING")]
    name, values = filters[0].get("name"), filters[0].get("values", [])
    if name not in _FILTERS:
        raise ClientException(f"filter name {name!r} is not allowed: use one of {', '.join(_FILTERS)}")
    if len(values) != 1:
        raise ClientException(f"filter {name} has {len(values)} values: give one")
    test = _FILTERS[name](values[0])
    return [test, _has_status(status)] if status is not None and name in KEEPS_STATUS else [test]


def _has_status(status: str) -> Test:
    return lambda job: job.status == status


def _named(pattern: str) -> Test:
    text = pattern.lower()
    if text.endswith("*"):
        return lambda job: job.name.lower().startswith(text[:-1])
    return lambda job: job.name.lower() == text


def _created_before(value: str) -> Test:
    limit = _read_milliseconds(value)
    return lambda job: milliseconds(job.job.created) < limit


def _created_after(value: str) -> Test:
    limit = _read_milliseconds(value)
    return lambda job: milliseconds(job.job.created) > limit


def _share_identifier(value: str) -> Test:
    return lambda job: job.request.get("shareIdentifier") == value


def _quota_share(value: str) -> Test:
    return lambda job: job.job.share == value


def _read_milliseconds(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise ClientException(f"time {value!r} is not allowed: use milliseconds since 1970")
    return int(value)


_FILTERS: dict[str, Callable[[str], Test]] = {
    "JOB_NAME": _named,
    "BEFORE_CREATED_AT": _created_before,
    "AFTER_CREATED_AT": _created_after,
    "SHARE_IDENTIFIER": _share_identifier,
    "QUOTA_SHARE_NAME": _quota_share,
}
