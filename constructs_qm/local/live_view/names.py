"""Names of jobs in the place of their ids, in sentences that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.local.service_jobs import JOB_ID

if TYPE_CHECKING:
    from constructs_qm.local.state import BatchState

__all__ = ["name_jobs"]

_SENTENCES = ("reason", "why", "seen", "expected", "gap")
"""Keys of texts in the documents of the live view."""


def name_jobs(state: BatchState, document: dict[str, Any]) -> dict[str, Any]:
    """Return `document` with the names of jobs in its sentences."""
    return {key: _name_jobs(state, value, key in _SENTENCES) for key, value in document.items()}


def _name_jobs(state: BatchState, value: Any, is_sentence: bool) -> Any:
    if isinstance(value, dict):
        return name_jobs(state, value)
    if isinstance(value, list):
        return [_name_jobs(state, entry, is_sentence) for entry in value]
    if isinstance(value, str) and is_sentence:
        return JOB_ID.sub(lambda found: state.jobs[found[0]].name if found[0] in state.jobs else found[0], value)
    return value
