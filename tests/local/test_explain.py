"""Live queues: looked up through the API by a real client, explained by the command and the handler."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from local.world import G5, P4, REGION, World, borrow, limits

from constructs_qm.cli import main
from constructs_qm.live_queue import read_live_queue
from quota_scheduler import DocumentError
from quota_scheduler.handler import handler
from quota_scheduler.queue_reader import read_queue
from quota_scheduler.recorded_state import dump_state, load_state

if TYPE_CHECKING:
    from pathlib import Path

    from quota_scheduler import Scheduler

ACCOUNT = "123456789012"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["batch-quota", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run_command


def busy(world: World) -> dict[str, str]:
    """Have QS1 borrow all there is, and QS2's job wait for it to stop; return the ids by name."""
    world.make_article_queue()
    ids = {}
    for name, priority in (("low", 10), ("high", 100)):
        ids[name] = world.submit(name, "QS1", priority)
        world.advance(2)
    ids["waits"] = world.submit("waits", "QS1", 50, preemptionConfiguration={"preemptionRetriesBeforeTermination": 1})
    ids["owner"] = world.submit("owner", "QS2")
    world.advance(2)
    return ids


@pytest.mark.parametrize("seconds", [0, 5, 60])
def test_what_is_looked_up_is_what_the_scheduler_knows(world: World, seconds: float) -> None:
    busy(world)
    world.submit("never", "QS3", 3, 2)
    world.advance(seconds)
    (queue,) = world.endpoint.state(ACCOUNT, REGION).queues.values()
    scheduler, now = load_state(read_queue(world.batch, "queue"))
    assert _state(scheduler) == _state(queue.scheduler)
    scheduler.paused = True  # judge what can never run, and change nothing else
    scheduler.run(now - 1)
    assert _state(scheduler, blocked=True) == _state(queue.scheduler, blocked=True)


def _state(scheduler: Scheduler, *, blocked: bool = False) -> dict[str, Any]:
    """Return a scheduler's state, whatever the order of its jobs; with the reasons of blocked ones, if wanted."""
    document = {key: value for key, value in dump_state(scheduler).items() if key != "paused"}
    for job in document["jobs"] if not blocked else ():
        if job["state"] == "RUNNABLE":
            job.pop("statusReason", None)
    return {**document, "jobs": sorted(document["jobs"], key=lambda job: str(job["job"]))}


def test_the_document(world: World) -> None:
    world.make_queue(limits(g5=4, p4=1))
    world.make_share("QS1", limits(g5=2, p4=1), borrow(50), in_share=True)
    world.make_share("QS2", limits(g5=2))
    job_id = world.submit(
        "two", "QS1", 7, {G5: 2, P4: 1}, preemptionConfiguration={"preemptionRetriesBeforeTermination": 0}
    )
    world.advance(1)
    document = read_queue(world.batch, "queue")
    assert document["environment"] == {G5: 4, P4: 1}
    assert document["paused"] is False
    assert sorted(document["shares"], key=lambda share: share["name"]) == [
        {
            "name": "QS1",
            "limits": {G5: 2, P4: 1},
            "strategy": "LEND_AND_BORROW",
            "borrowLimit": 50,
            "inSharePreemption": True,
            "state": "ENABLED",
        },
        {"name": "QS2", "limits": {G5: 2}, "strategy": "LEND", "inSharePreemption": False, "state": "ENABLED"},
    ]
    (job,) = document["jobs"]
    described = world.job(job_id)
    assert job == {
        "job": job_id,
        "name": "two",
        "share": "QS1",
        "demand": {G5: 2, P4: 1},
        "state": "SCHEDULED",
        "priority": 7,
        "createdAt": described["createdAt"] / 1000,
        "dispatchedAt": described["scheduledAt"] / 1000,
        "preemptionRetries": 0,
    }


def test_every_page_and_every_state_is_read(world: World) -> None:
    world.make_queue(limits(g5=120))
    for index in range(3):
        world.make_share(f"s{index}", limits(g5=40))
    for index in range(230):
        world.submit(f"j{index}", f"s{index % 3}")
    world.advance(1)
    states = [job["state"] for job in read_live_queue("queue")["jobs"]]
    assert (states.count("SCHEDULED"), states.count("RUNNABLE")) == (120, 110)
    world.advance(3)
    states = [job["state"] for job in read_queue(world.batch, "queue")["jobs"]]
    assert (states.count("STARTING"), states.count("RUNNABLE")) == (120, 110)


def test_a_disabled_environment_is_a_paused_queue(world: World) -> None:
    world.make_article_queue()
    world.batch.update_service_environment(serviceEnvironment="queue-environment", state="DISABLED")
    job_id = world.submit("waits", "QS1")
    world.advance(2)
    (explanation,) = handler({"queue": "queue", "job": job_id})["explanations"]
    assert explanation["because"][0]["rule"] == "paused"


@pytest.mark.parametrize("as_arn", [False, True])
def test_the_handler_on_a_live_queue(world: World, as_arn: bool) -> None:
    ids = busy(world)
    queue = world.batch.describe_job_queues(jobQueues=["queue"])["jobQueues"][0]["jobQueueArn"] if as_arn else "queue"
    event = {"queue": queue, "job": "owner", "submit": {"share": "QS3", "demand": {G5: 1}}}
    answer = handler(event)
    (explanation,) = answer["explanations"]
    assert (explanation["job"], explanation["state"]) == (ids["owner"], "RUNNABLE")
    assert explanation["because"][0]["rule"] == "stopping"
    assert explanation["because"][0]["held_by"] == [ids["low"]]
    assert [(d["rule"], d["job"]) for d in answer["decisions"]] == [("own-quota", ids["owner"])]
    assert answer["dry_run"]["state"] == "SCHEDULED"
    assert json.loads(json.dumps(answer)) == answer


def test_a_preempted_job_and_one_that_has_left_the_queue(world: World) -> None:
    ids = busy(world)
    world.advance(25)
    (low,) = handler({"queue": "queue", "job": "low"})["explanations"]
    assert (low["state"], low["preempted_by"][0]["kind"], low["preempted_by"][0]["owed"]) == (
        "RUNNABLE",
        "cross-share",
        None,
    )
    world.endpoint.finish(ids["high"])
    (high,) = handler({"queue": "queue", "job": ids["high"]})["explanations"]
    assert (high["state"], high["because"]) == ("SUCCEEDED", [])


@pytest.mark.parametrize(
    ("queue", "says"),
    [("nowhere", "job queue 'nowhere' does not exist"), ("queue", "job queue 'queue' has no quota shares")],
)
def test_fails_for_a_queue_that_is_none(world: World, queue: str, says: str) -> None:
    world.make_queue()
    with pytest.raises(DocumentError, match=says):
        read_queue(world.batch, queue)


def test_the_command_asks_an_endpoint(served: World, run: Any, tmp_path: Path) -> None:
    ids = busy(served)
    saved = tmp_path / "state.json"
    live = ("--queue", "queue", "--endpoint-url", str(served.url))
    status, out, err = run("explain", "--job", "owner", *live, "--json", "--save", str(saved))
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert set(document) == {"job", "state", "because", "would_preempt", "preempted_by", "text"}
    assert (document["job"], document["because"][0]["held_by"]) == (ids["owner"], [ids["low"]])
    assert json.loads(run("explain", "--job", "owner", "--state", str(saved), "--json")[1]) == document
    assert run("explain", "--job", "owner", *live)[1].startswith(f"owner ({ids['owner']}) is RUNNABLE.")


def test_the_command_tries_a_submission_on_a_live_queue(served: World, run: Any) -> None:
    ids = busy(served)
    submission = f"share=QS1,demand={G5}=1,priority=200"
    _, out, _ = run("explain", "--submit", submission, "--queue", "queue", "--endpoint-url", str(served.url), "--json")
    document = json.loads(out)
    assert [(v["job"], v["share"], v["kind"]) for v in document["would_preempt"]] == [(ids["high"], "QS1", "in-share")]
    assert served.statuses()["high"] == "STARTING", "nothing happened"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--job", "x", "--queue", "nowhere"), "job queue 'nowhere' does not exist"),
        (("--job", "x", "--queue", "queue"), "queue 'queue': An error occurred (ClientException)"),
    ],
)
def test_the_command_fails_with_one_line(served: World, run: Any, arguments: tuple[str, ...], says: str) -> None:
    served.make_article_queue()
    status, out, err = run("explain", *arguments, "--endpoint-url", str(served.url))
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
