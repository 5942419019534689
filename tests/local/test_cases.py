"""The known-answer cases, submitted through a real client instead of to the scheduler itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from local.world import World

from constructs_qm.local import Settings, mock_quota_management

CASES = Path(__file__).parent.parent / "cases"


def _documents() -> list[Any]:
    documents = [json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))]
    # a job can't be placed as running through the API
    usable = [case for case in documents if not any(step.get("do") == "running" for step in case["steps"])]
    return [pytest.param(case, id=case["id"]) for case in usable]


def test_there_are_cases() -> None:
    assert len(_documents()) >= 12


@pytest.mark.parametrize("case", _documents())
def test_case(case: dict[str, Any]) -> None:
    settings = Settings(
        submitted_seconds=0,
        scheduled_seconds=0,
        starting_seconds=0,
        running_seconds=None,
        preemption_seconds=case.get("preemptionSeconds", 0),
    )
    with mock_quota_management(settings=settings) as endpoint:
        _Run(World(endpoint), case).run()


class _Run:
    """One case, step by step."""

    def __init__(self, world: World, case: dict[str, Any]) -> None:
        self.world = world
        self.case = case
        self.ids: dict[str, str] = {}
        self.preempted: list[dict[str, str]] = []
        self.seen = 0

    def run(self) -> None:
        self.world.make_queue(_limits(self.case["environment"]))
        for share in self.case["shares"]:
            sharing = {"strategy": share["strategy"]}
            if "borrowLimit" in share:
                sharing["borrowLimit"] = share["borrowLimit"]
            in_share = share["inSharePreemption"]
            self.world.make_share(share["name"], _limits(share["limits"]), sharing, in_share=in_share)
        for step in self.case["steps"]:
            if "expect" in step:
                self._check(step["expect"])
            else:
                getattr(self, "_" + step["do"].replace("-", "_"))(step)

    def _submit(self, step: dict[str, Any]) -> None:
        more = {}
        if "preemptionRetries" in step:
            retries = step["preemptionRetries"]
            more["preemptionConfiguration"] = {"preemptionRetriesBeforeTermination": retries}
        self.ids[step["job"]] = self.world.submit(
            step["job"], step["share"], step.get("priority"), step["demand"], **more
        )

    def _submit_all(self, step: dict[str, Any]) -> None:
        for job in step["jobs"]:
            self._submit(job)

    def _advance(self, step: dict[str, Any]) -> None:
        self.world.advance(step["seconds"])

    def _finish(self, step: dict[str, Any]) -> None:
        self.world.endpoint.finish(self.ids[step["job"]])

    def _fail(self, step: dict[str, Any]) -> None:
        self.world.endpoint.fail(self.ids[step["job"]])

    def _terminate(self, step: dict[str, Any]) -> None:
        self.world.batch.terminate_service_job(jobId=self.ids[step["job"]], reason="the case says so")

    def _set_priority(self, step: dict[str, Any]) -> None:
        self.world.batch.update_service_job(jobId=self.ids[step["job"]], schedulingPriority=step["priority"])

    def _set_limits(self, step: dict[str, Any]) -> None:
        arn = self.world.batch.describe_job_queues(jobQueues=["queue"])["jobQueues"][0]["jobQueueArn"]
        self.world.batch.update_quota_share(
            quotaShareArn=f"{arn}/quota-share/{step['share']}", capacityLimits=_limits(step["limits"])
        )

    def _check(self, expect: dict[str, Any]) -> None:
        jobs = {name: self.world.job(job_id) for name, job_id in self.ids.items()}
        stopping = {name for name, job in jobs.items() if "PREEMPTION_IN_PROGRESS" in job.get("statusReason", "")}
        observed = {
            "holding": {
                name
                for name, job in jobs.items()
                if job["status"] in ("SCHEDULED", "STARTING", "RUNNING") and name not in stopping
            },
            "waiting": {name for name, job in jobs.items() if job["status"] == "RUNNABLE"},
            "blocked": {
                name: job["statusReason"]
                for name, job in jobs.items()
                if job["status"] == "RUNNABLE" and "statusReason" in job
            },
            "preempted": self._preempted_since(),
        }
        for key in observed.keys() & expect.keys():
            value = expect[key] if isinstance(expect[key], dict) else {_hashable(v) for v in expect[key]}
            assert observed[key] == value, key

    def _preempted_since(self) -> set[object]:
        names = {job_id: name for name, job_id in self.ids.items()}
        completed = self.world.events("Batch Service Job Preemption Completed")
        new, self.seen = completed[self.seen :], len(completed)
        return {
            (
                names[event["detail"]["preemptedJobArn"].rpartition("/")[2]],
                event["detail"]["preemptionSummary"]["recentPreemptedAttempts"][0]["statusReason"]
                .split(" ")[0]
                .lower(),
            )
            for event in new
        }


def _limits(units: dict[str, int]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "maxCapacity": most} for unit, most in units.items()]


def _hashable(value: Any) -> object:
    return (value["job"], value["kind"]) if isinstance(value, dict) else value
