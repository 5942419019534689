"""The rules as a page: ``python -m preemption_auditor.catalogue`` writes what docs/audit-rules.md holds."""

from __future__ import annotations

import sys

from preemption_auditor.rules import RULES, TITLES
from preemption_auditor.verdicts import Kind

__all__ = ["catalogue"]

_INTRODUCTION = """# Audit rules

Generated from the rules by `python -m preemption_auditor.catalogue`; edit `lambda/preemption_auditor/rules/`.

A **violation** breaks what AWS documents, and is reported only where no legal behaviour explains the events. A
**divergence** differs from an assumption of ours (A1 to A12) or from our choice of victims; it never alarms. A
**note** is about the events themselves. Where the evidence has a gap the answer is *unknown*, with what is missing.
"""
_HEADINGS = {Kind.VIOLATION: "Violations", Kind.DIVERGENCE: "Divergences", Kind.NOTE: "Notes"}


def catalogue() -> str:
    """Return the page as Markdown."""
    parts = [_INTRODUCTION]
    for kind, heading in _HEADINGS.items():
        parts.append(f"## {heading}\n")
        for rule in RULES:
            if rule.kind is kind:
                title = TITLES[rule.id]
                parts.append(
                    f"### {rule.id}\n\n{title[:1].upper()}{title[1:]}\n\n"
                    f"- **Kind:** {rule.kind.value}\n"
                    f"- **Proves:** {rule.proves}.\n"
                    f"- **Evidence needed:** {rule.evidence}.\n"
                    f"- **Source:** {rule.source}.\n"
                )
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(catalogue())
