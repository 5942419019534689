"""Paging and filters."""

from __future__ import annotations

from typing import Any

import pytest
from local.world import World, limits


@pytest.fixture
def jobs(world: World) -> dict[str, str]:
    """Six jobs in several states, a second apart; name to id."""
    world.make_queue(limits(g5=3))
    world.make_queue(limits(g5=1), "other")
    world.make_share("A", limits(g5=1))
    world.make_share("B", limits(g5=1))
    world.make_share("A", limits(g5=1), queue="other")
    made = {}
    for name, share, queue in [
        ("Train-1", "A", "queue"),
        ("train-2", "A", "queue"),
        ("eval", "B", "queue"),
        ("train-1", "B", "queue"),
        ("train-3", "A", "other"),
    ]:
        made[f"{name}/{queue}"] = world.submit(name, share, jobQueue=queue)
        world.advance(1)
    world.advance(10)
    made["late"] = world.submit("late", "A")
    return made


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ({"jobQueue": "queue"}, ["eval", "Train-1"]),
        ({"jobQueue": "queue", "jobStatus": "RUNNABLE"}, ["train-1", "train-2"]),
        ({"jobQueue": "queue", "jobStatus": "SUBMITTED"}, ["late"]),
        ({"jobQueue": "queue", "jobStatus": "FAILED"}, []),
        ({"jobQueue": "other"}, ["train-3"]),
        ({"filters": [("JOB_NAME", "TRAIN-1")]}, ["train-1", "Train-1"]),
        ({"filters": [("JOB_NAME", "train*")]}, ["train-3", "train-1", "train-2", "Train-1"]),
        ({"jobQueue": "queue", "filters": [("JOB_NAME", "train*")]}, ["train-1", "train-2", "Train-1"]),
        # jobStatus is ignored beside this filter
        ({"jobQueue": "queue", "jobStatus": "FAILED", "filters": [("JOB_NAME", "eval")]}, ["eval"]),
        ({"jobQueue": "queue", "filters": [("QUOTA_SHARE_NAME", "A")]}, ["late", "train-2", "Train-1"]),
        (
            {"jobQueue": "queue", "jobStatus": "RUNNABLE", "filters": [("QUOTA_SHARE_NAME", "A")]},
            ["train-2"],
        ),
        ({"jobQueue": "queue", "filters": [("SHARE_IDENTIFIER", "A")]}, []),
        (
            {"jobQueue": "queue", "filters": [("AFTER_CREATED_AT", "1767225601000")]},
            ["late", "train-1", "eval"],
        ),
        ({"jobQueue": "queue", "filters": [("BEFORE_CREATED_AT", "1767225601000")]}, ["Train-1"]),
    ],
)
def test_filters(world: World, jobs: dict[str, str], request_: dict[str, Any], names: list[str]) -> None:
    filters = [{"name": name, "values": [value]} for name, value in request_.pop("filters", [])]
    if filters:
        request_["filters"] = filters
    listed = world.batch.list_service_jobs(**request_)["jobSummaryList"]
    assert [job["jobName"] for job in listed] == names


def test_summary_is_part_of_the_description(world: World, jobs: dict[str, str]) -> None:
    [summary] = world.batch.list_service_jobs(jobQueue="other")["jobSummaryList"]
    described = world.job(jobs["train-3/other"])
    assert summary["jobArn"].endswith(jobs["train-3/other"])
    assert summary == {key: described[key] for key in summary}


def test_pages(world: World, jobs: dict[str, str]) -> None:
    every = {"filters": [{"name": "JOB_NAME", "values": ["*"]}], "maxResults": 4}
    first = world.batch.list_service_jobs(**every)
    # a job that comes meanwhile is on neither page: lists are newest first
    world.submit("newest", "A")
    second = world.batch.list_service_jobs(**every, nextToken=first["nextToken"])
    names = [job["jobName"] for page in (first, second) for job in page["jobSummaryList"]]
    assert names == ["late", "train-3", "train-1", "eval", "train-2", "Train-1"]
    assert "nextToken" not in second


@pytest.mark.parametrize(
    ("paginator", "key", "request_"),
    [
        ("list_scheduling_policies", "schedulingPolicies", {}),
        ("describe_service_environments", "serviceEnvironments", {}),
        ("describe_job_queues", "jobQueues", {}),
        ("list_quota_shares", "quotaShares", {"jobQueue": "queue-0"}),
    ],
)
def test_every_list_pages(world: World, paginator: str, key: str, request_: dict[str, str]) -> None:
    for number in range(5):
        world.make_queue(name=f"queue-{number}")
        world.make_share(f"share-{number}", queue="queue-0")
    pages = list(world.batch.get_paginator(paginator).paginate(**request_, PaginationConfig={"PageSize": 2}))
    assert [len(page[key]) for page in pages] == [2, 2, 1]
    items = [str(item) for page in pages for item in page[key]]
    assert len(set(items)) == 5


def test_a_page_goes_on_where_a_deleted_item_was(world: World) -> None:
    world.make_queue()
    arns = [world.make_share(f"share-{number}", state="DISABLED") for number in range(4)]
    first = world.batch.list_quota_shares(jobQueue="queue", maxResults=2)
    world.batch.delete_quota_share(quotaShareArn=arns[1])
    second = world.batch.list_quota_shares(jobQueue="queue", maxResults=2, nextToken=first["nextToken"])
    assert [share["quotaShareArn"] for share in second["quotaShares"]] == arns[2:]


def test_a_full_last_page_has_no_token(world: World) -> None:
    world.make_queue()
    for number in range(2):
        world.make_share(f"share-{number}")
    assert "nextToken" not in world.batch.list_quota_shares(jobQueue="queue", maxResults=2)
