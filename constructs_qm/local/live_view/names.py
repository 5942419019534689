"""Names of jobs in the place of their ids, in sentences that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.local.service_jobs import JOB_ID

if TYPE_CHECKING:
    from constructs_qm.local.state import BatchState

__all__ = ["name_jobs"]

_SENTENCES = ("reason", "why", "seen", "expected", "gap")
"""Keys of texts in the documents of the live view."""


def name_jobs(document: Any, state: BatchState) -> Any:
    """Return `document` with the names of jobs in its sentences."""
    if isinstance(document, list):
        return [name_jobs(entry, state) for entry in document]
    if not isinstance(document, dict):
        return document
    return {
        key: _name_all(value, state) if key in _SENTENCES else name_jobs(value, state)
        for key, value in document.items()
    }


def _name_all(text: Any, state: BatchState) -> Any:
    if isinstance(text, list):
        return [_name_all(sentence, state) for sentence in text]
    if not isinstance(text, str):
        return text
    return JOB_ID.sub(lambda found: state.jobs[found[0]].name if found[0] in state.jobs else found[0], text)
