"""Audit what AWS Batch quota management really did against the policy."""

from preemption_auditor.audit import Auditor, audit
from preemption_auditor.coverage import Coverage
from preemption_auditor.exceptions import AuditorError
from preemption_auditor.findings import Finding
from preemption_auditor.policy_timeline import PolicyTimeline, load_policy_timeline
from preemption_auditor.reading import only_events
from preemption_auditor.report import Report
from preemption_auditor.settings import AuditSettings, Delivery
from preemption_auditor.verdicts import Answer, Kind

__all__ = [
    "Answer",
    "AuditSettings",
    "Auditor",
    "AuditorError",
    "Coverage",
    "Delivery",
    "Finding",
    "Kind",
    "PolicyTimeline",
    "Report",
    "audit",
    "load_policy_timeline",
    "only_events",
]
