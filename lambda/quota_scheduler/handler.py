"""AWS Lambda handler: what a queue does next and why, looked up live or for a state that is given.

The event names a queue (``{"queue": name or ARN}``) or gives a state (``{"state": {...}}``, see
``recorded_state.py``); ``job`` asks about one job, and ``submit`` (``{"share", "demand", "priority"}``)
about one that could be submitted. The function needs ``batch:DescribeJobQueues``,
``DescribeServiceEnvironments``, ``ListQuotaShares``, ``ListServiceJobs`` and ``DescribeServiceJob``.
"""

from __future__ import annotations

from typing import Any

from quota_scheduler.dry_run import decision_document, dry_run, next_decisions
from quota_scheduler.exceptions import DocumentError
from quota_scheduler.policy_document import require_mapping
from quota_scheduler.queue_reader import read_job, read_queue
from quota_scheduler.recorded_explanation import explain_recorded
from quota_scheduler.recorded_state import find_job, job_from_document, load_state

__all__ = ["answer", "handler"]


def handler(event: dict[str, Any], context: object = None) -> dict[str, Any]:
    """Answer an event; raises an error of one line for one that can't be answered."""
    if "state" in event or "queue" not in event:
        return answer(event)
    import boto3

    batch = boto3.client("batch")
    state = read_queue(batch, event["queue"])
    wanted = event.get("job")
    if wanted and all(wanted not in (job["job"], job["name"]) for job in state["jobs"]):
        state["jobs"].append(read_job(batch, wanted))
    return answer({**event, "state": state})


def answer(event: dict[str, Any]) -> dict[str, Any]:
    """Answer an event that gives a state.

    Returns
    -------
    dict
        ``decisions`` the scheduler takes next, each with its reason; ``explanations`` of the job asked
        for, or else of every share's front job; ``dry_run``, where the event has ``submit``.

    Raises
    ------
    DocumentError, PolicyError, JobError
    """
    if "state" not in event:
        raise DocumentError("the event names no queue and gives no state: give 'queue' or 'state'")
    state = event["state"]
    scheduler, now = load_state(state)
    asked = [event["job"]] if event.get("job") else [job.id for job, _ in scheduler.state.fronts()]
    result: dict[str, Any] = {
        "explanations": [explain_recorded(scheduler, find_job(state, job)).to_document() for job in asked]
    }
    if "submit" in event:
        job = job_from_document({"job": "new-job", **require_mapping(event["submit"], "submit")})
        run = dry_run(scheduler, job, now, in_place=True)
        decisions, result["dry_run"] = run.pending, run.to_document()
    else:
        decisions = next_decisions(scheduler, now, in_place=True)
    return {**result, "decisions": [decision_document(decision) for decision in decisions]}
