"""The report of ``batch-quota audit``: findings with their witness, and how much could be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.report.audit_view import AuditView
from constructs_qm.report.page import render

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["audit_page"]

_SECTIONS = [
    ("verdict", "Verdict"),
    ("time", "Over time"),
    ("findings", "Findings"),
    ("unknown", "What couldn't be judged"),
]


def audit_page(subject: str, document: Mapping[str, Any]) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    subject : str
        What was audited: a recording or a queue.
    document : mapping
        What ``batch-quota audit --json`` prints.
    """
    return render("audit.html", sections=_SECTIONS, subject=subject, audit=AuditView(document))
