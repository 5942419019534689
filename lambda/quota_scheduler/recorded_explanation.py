"""Explaining a job of a recorded state, with the preemptions AWS Batch tells of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quota_scheduler.explain import Explanation, explain, moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quota_scheduler.scheduler import Scheduler

__all__ = ["explain_recorded", "name_jobs"]

_JOB_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def explain_recorded(scheduler: Scheduler, entry: Mapping[str, Any]) -> Explanation:
    """Explain a job of a recorded state.

    Parameters
    ----------
    scheduler : Scheduler
        As :func:`quota_scheduler.recorded_state.load_state` makes it.
    entry : mapping
        The job's, as :func:`quota_scheduler.recorded_state.find_job` returns it.
    """
    job_id = str(entry["job"])
    if job_id in scheduler.jobs:
        explanation = explain(scheduler, job_id)
    else:
        explanation = Explanation(job_id, str(entry.get("state")))
    return replace(explanation, preempted_by=[_preemption(told) for told in entry.get("preemptions", ())])


def _preemption(told: Mapping[str, Any]) -> dict[str, Any]:
    """Say what AWS Batch tells of a preemption: neither for whom it was nor whether that was owed."""
    reason = str(told.get("reason", ""))
    kind = next((kind for kind in ("cross-share", "in-share") if reason.lower().startswith(kind)), "unknown")
    at = told.get("at")
    when = moment(at) if isinstance(at, (int, float)) else "At some time"
    text = f"{when} it was preempted ({reason or 'no reason given'}), for whom isn't told"
    return {"job": "", "kind": kind, "at": at, "owed": None, "text": text}


def name_jobs(text: str, document: Mapping[str, Any]) -> str:
    """Return `text` with the names of a recorded state's jobs beside their ids, where these are AWS Batch's."""
    names = {entry["job"]: entry["name"] for entry in document.get("jobs", ()) if entry.get("name")}
    return _JOB_ID.sub(lambda found: f"{names[found[0]]} ({found[0]})" if found[0] in names else found[0], text)
