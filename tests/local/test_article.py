"""The launch article's walk-through, through a real client, in the process and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.world import World

WAY_TO_RUNNING = 10
PREEMPTION = 20 + WAY_TO_RUNNING


def test_article(either: World) -> None:
    world = either
    world.make_article_queue()
    high = world.submit("high", "QS1", 3)
    med = world.submit("med", "QS1", 2)
    low = world.submit("low", "QS1", 1)
    world.advance(WAY_TO_RUNNING)
    assert world.statuses() == {"high": "RUNNING", "med": "RUNNING", "low": "RUNNABLE"}

    world.submit("qs2", "QS2", 1)
    world.advance(PREEMPTION)
    assert world.statuses() == {"high": "RUNNING", "med": "RUNNABLE", "low": "RUNNABLE", "qs2": "RUNNING"}
    assert world.job(med)["preemptionSummary"]["preemptedAttemptCount"] == 1

    world.batch.update_service_job(jobId=low, schedulingPriority=4)
    world.advance(PREEMPTION)
    assert world.statuses() == {"high": "RUNNABLE", "med": "RUNNABLE", "low": "RUNNING", "qs2": "RUNNING"}

    world.endpoint.finish("qs2")
    world.advance(WAY_TO_RUNNING)
    assert world.statuses() == {"high": "RUNNING", "med": "RUNNABLE", "low": "RUNNING", "qs2": "SUCCEEDED"}

    kinds = [
        (event["detail"]["preemptedJobArn"].rpartition("/")[2], event["detail"]["statusReason"].split(" ")[1])
        for event in world.events("Batch Service Job Preemption Started")
    ]
    assert kinds == [(med, "Cross-share"), (high, "In-share")]
