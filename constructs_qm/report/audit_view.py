"""What a page shows of an audit, from the document ``batch-quota audit --json`` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from constructs_qm.report.chart import Chart, Table
from constructs_qm.report.findings_chart import findings_chart, seconds
from constructs_qm.report.inference_chart import inference_chart
from constructs_qm.report.time_axis import DateAxis
from preemption_auditor.rules import TITLES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AuditView"]

_FINDINGS_OF_RULE = 100
_MARKS = 1000
_UNKNOWN = 200
_ANSWERS = ("pass", "violation", "divergence", "unknown")


@dataclass(frozen=True)
class _Group:
    """The findings of one rule: all of them, or the first."""

    rule: str
    title: str
    kind: str
    findings: list[dict[str, Any]]
    left_out: int


@dataclass(frozen=True)
class AuditView:
    """An audit as a page shows it.

    Attributes
    ----------
    document : mapping
    names : mapping of str to str
        Names of jobs, by id, where they are known.
    """

    document: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """What was found, in one sentence."""
        kinds = [finding["kind"] for finding in self.document["findings"]]
        violations, divergences = kinds.count("violation"), kinds.count("divergence")
        coverage = self.document["coverage"]
        judged = f"{coverage['judged']:,} of {coverage['decisions']:,} decisions judged"
        if violations or divergences:
            return f"{_number(violations, 'violation')} and {_number(divergences, 'divergence')}; {judged}."
        return f"No violation and no divergence found; {judged}."

    @property
    def coverage(self) -> list[tuple[str, str]]:
        """How much was read and judged."""
        return [(name, f"{count:,}") for name, count in self.document["coverage"].items()]

    @property
    def rules(self) -> Table:
        """How often each rule gave each answer."""
        rows = [
            [rule, TITLES.get(rule, ""), *(f"{counts.get(answer, 0):,}" for answer in _ANSWERS)]
            for rule, counts in self.document["rules"].items()
        ]
        return Table("Answers of each rule", ["rule", "about", *_ANSWERS], rows, headings=2)

    @property
    def groups(self) -> list[_Group]:
        """The findings by rule, violations first."""
        by_rule: dict[tuple[int, str], list[dict[str, Any]]] = {}
        kinds = ("violation", "divergence", "note")
        for finding in self.document["findings"]:
            by_rule.setdefault((kinds.index(finding["kind"]), finding["rule"]), []).append(finding)
        return [
            _Group(rule, TITLES.get(rule, ""), kinds[kind], found[:_FINDINGS_OF_RULE], len(found[_FINDINGS_OF_RULE:]))
            for (kind, rule), found in sorted(by_rule.items())
        ]

    @property
    def charts(self) -> list[Chart]:
        """Findings and preemptions over time, as far as there are any."""
        findings, preemptions = self.document["findings"][:_MARKS], self.document["preemptions"]
        times = [seconds(entry[end]) for entry in (*findings, *preemptions) for end in ("from", "to")]
        if not times:
            return []
        axis = DateAxis(min(times), max(times))
        charts = []
        if findings:
            charts.append(findings_chart("findings-over-time", findings, axis))
        if preemptions:
            charts.append(inference_chart("preemptions", preemptions, axis, self.names))
        return charts

    @property
    def marks_left_out(self) -> int:
        """How many findings the chart leaves out: those after the first thousand."""
        return len(self.document["findings"][_MARKS:])

    @property
    def unknown(self) -> Table:
        """Decisions that a rule couldn't judge: the first of them."""
        entries = self.document["unknown"]
        rest = f"; {len(entries) - _UNKNOWN:,} more are left out" if len(entries) > _UNKNOWN else ""
        rows = [
            [entry["rule"], ", ".join(entry["jobs"]), entry["from"], entry["to"], entry["gap"]]
            for entry in entries[:_UNKNOWN]
        ]
        caption = f"{len(rows):,} decisions that a rule couldn't judge, and what is missing{rest}"
        return Table(caption, ["rule", "jobs", "from", "to", "what is missing"], rows, figures=False)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
