"""The result of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preemption_auditor.instants import iso

if TYPE_CHECKING:
    from preemption_auditor.beneficiaries import Inference
    from preemption_auditor.coverage import Coverage
    from preemption_auditor.findings import Finding
    from preemption_auditor.judge import Open
    from preemption_auditor.settings import AuditSettings
    from preemption_auditor.verdicts import Answer

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """The result of an audit.

    Attributes
    ----------
    findings : tuple of Finding
        Violations and divergences, in order of time.
    notes : tuple of Finding
        Notes about the events, and findings that late events withdrew.
    preemptions : tuple of Inference
        For whom each job was preempted, as far as that can be inferred, in order of time.
    unknown : tuple of Open
        Decisions a rule couldn't judge, each with what is missing, in order of time.
    coverage : Coverage
    answers : dict
        How often each rule gave each answer.
    settings : AuditSettings
        How it was run.
    """

    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    preemptions: tuple[Inference, ...]
    unknown: tuple[Open, ...]
    coverage: Coverage
    answers: dict[str, dict[Answer, int]]
    settings: AuditSettings

    def replay(self, finding: Finding) -> str:
        """Return a command that shows a finding again from its witness alone."""
        settings = self.settings
        options = (
            f"--delivery {settings.delivery.value} --decision-lag {settings.decision_lag:g} "
            f"--tolerance {settings.tolerance:g}"
        )
        events = " ".join(f"--event {event}" for event in dict.fromkeys(finding.events))
        return f"batch-quota audit EVENTS --policy POLICY {options} {events}"

    def document_of(self, finding: Finding) -> dict[str, Any]:
        """Return a finding as ``batch-quota audit --json`` prints it."""
        return {**finding.to_document(), "replay": self.replay(finding)}

    def to_document(self) -> dict[str, Any]:
        """Return the report as ``batch-quota audit --json`` prints it."""
        everything = self.findings + self.notes
        return {
            "findings": [self.document_of(finding) for finding in everything],
            "coverage": self.coverage.to_document(),
            "preemptions": [inference.to_document() for inference in self.preemptions],
            "unknown": [
                {
                    "rule": item.rule,
                    "jobs": list(item.jobs),
                    "from": iso(item.at.lo),
                    "to": iso(item.at.hi),
                    "gap": item.gap,
                }
                for item in self.unknown
            ],
            "rules": {rule: {answer.value: n for answer, n in counts.items()} for rule, counts in self.answers.items()},
        }
