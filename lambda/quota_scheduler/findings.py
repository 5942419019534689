"""What a policy rule reports: rule id, level, where and what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

__all__ = ["Finding", "Level", "errors_in"]


class Level(str, Enum):
    """How serious a finding is: only an error stops a deployment."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One broken policy rule.

    Attributes
    ----------
    rule : str
        Id of contract.md section 6, e.g. ``QM002``.
    level : Level
        ``error``, ``warning`` or ``note``.
    message : str
        What was given, what is allowed and how to mend it.
    path : str
        Where in the policy, e.g. ``shares.QS1.limits``; empty for the value itself.
    """

    rule: str
    level: Level
    message: str
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.message} [{self.rule}]"

    def under(self, prefix: str) -> Finding:
        """Return the same finding with its path below `prefix`."""
        return replace(self, path=f"{prefix}.{self.path}" if self.path else prefix)


def errors_in(findings: list[Finding]) -> list[Finding]:
    """Return only the findings of level ``error``, in their order."""
    return [finding for finding in findings if finding.level is Level.ERROR]
