"""Policy files: one policy, or a policy over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs_qm.documents import read_document
from preemption_auditor.instants import SECOND, to_milliseconds
from quota_scheduler import DocumentError, QuotaSchedulerError, load_policy
from quota_scheduler.policy_document import require_mapping

if TYPE_CHECKING:
    from pathlib import Path

    from quota_scheduler import QuotaPolicy

__all__ = ["read_policy_versions"]


def read_policy_versions(path: Path) -> list[tuple[float, QuotaPolicy]]:
    """Read a policy file.

    Parameters
    ----------
    path : Path
        JSON or YAML: a policy, or a list of ``{"at": seconds or ISO 8601, ...policy}``.

    Returns
    -------
    list of (float, QuotaPolicy)
        Since when each version is in force, in seconds, earliest first. A policy that always was
        has a single one.

    Raises
    ------
    AuditorError, DocumentError
        The file has the wrong form.
    """
    document = read_document(path)
    try:
        if not isinstance(document, list):
            return [(0.0, load_policy(document))]
        if not document:
            raise DocumentError("policy over time has no version: give at least one")
        versions = [require_mapping(entry, f"policy version [{index}]") for index, entry in enumerate(document)]
        timed = [
            (to_milliseconds(version.get("at"), "policy version's at"), load_policy(version)) for version in versions
        ]
    except QuotaSchedulerError as error:
        raise DocumentError(f"{path}: {error}") from None
    timed.sort(key=lambda version: version[0])
    return [(at / SECOND, policy) for at, policy in timed]
