"""Reports of findings: text for people, JSON, SARIF 2.1.0 for code scanning and JUnit for test reports."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from constructs_qm._version import __version__
from quota_scheduler import Level
from quota_scheduler.rule_catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructs_qm.validation.report_rows import Row

__all__ = ["as_json", "as_junit", "as_sarif", "as_text"]

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_CONTROL = {code: " " for code in range(32) if chr(code) not in "\t\n\r"}


def as_text(rows: Sequence[Row], acknowledged: int = 0) -> str:
    """Return two lines a finding, and a summary."""
    lines = []
    for row in rows:
        place = ":".join(str(part) for part in (row.file, row.line, row.column) if part is not None)
        where = ": ".join(filter(None, (place, f"{row.level.value} {row.rule}", row.path)))
        lines += [f"{where}: {row.message}", *([f"    {row.mend}"] if row.mend else [])]
    counts = {level: sum(row.level is level for row in rows) for level in Level}
    summary = ", ".join(f"{count} {level.value}{'' if count == 1 else 's'}" for level, count in counts.items())
    return "\n".join([*lines, summary + (f", {acknowledged} acknowledged" if acknowledged else "")])


def as_json(rows: Sequence[Row], acknowledged: int = 0, **more: Any) -> str:
    """Return one JSON document; fields may be added to it, never renamed."""
    findings = [row.to_document() for row in rows]
    return json.dumps({"findings": findings, "acknowledged": acknowledged, **more})


def as_sarif(rows: Sequence[Row]) -> str:
    """Return a SARIF 2.1.0 log with one run."""
    used = sorted({row.rule for row in rows} | RULES.keys())
    index = {rule: position for position, rule in enumerate(used)}
    driver = {
        "name": "constructs-qm",
        "semanticVersion": __version__,
        "rules": [_sarif_rule(rule) for rule in used],
    }
    results = [_sarif_result(row, index[row.rule]) for row in rows]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(rule: str) -> dict[str, Any]:
    text = RULES.get(rule)
    if text is None:
        return {"id": rule}
    return {
        "id": rule,
        "shortDescription": {"text": text.title},
        "fullDescription": {"text": f"{text.title}. {text.mend}"},
        "help": {"text": text.mend},
        "defaultConfiguration": {"level": text.level.value},
    }


def _sarif_result(row: Row, rule_index: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(row)}}
    if row.line is not None:
        region = {"startLine": row.line, "startColumn": row.column}
        physical["region"] = {key: value for key, value in region.items() if value is not None}
    identity = f"{row.rule}|{row.path}|{row.message}"
    return {
        "ruleId": row.rule,
        "ruleIndex": rule_index,
        "level": row.level.value,
        "message": {"text": f"{row.path}: {row.message}" if row.path else row.message},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": row.path or "policy"}],
            }
        ],
        "partialFingerprints": {"constructsQm/v1": hashlib.sha256(identity.encode()).hexdigest()},
    }


def _uri(row: Row) -> str:
    """Return the file as a URI reference; for what is deployed and has no file, its resource."""
    if row.file is None:
        return quote(f"aws-batch/{row.path.split('.')[0] or 'policy'}")
    path = Path(row.file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def as_junit(rows: Sequence[Row], *, strict: bool = False) -> str:
    """Return JUnit XML: a failure for what fails the run, a skipped test for a skipped check.

    Rules over a policy (QM001 to QM015) without a finding are tests that passed.
    """
    quiet = [rule for rule in RULES if rule.startswith("QM0") and rule not in {row.rule for row in rows}]
    failing = (Level.ERROR, Level.WARNING) if strict else (Level.ERROR,)
    failures = [row for row in rows if row.level in failing]
    skipped = [row for row in rows if row.level is Level.NOTE]
    counts = {"tests": len(rows) + len(quiet), "failures": len(failures), "errors": 0, "skipped": len(skipped)}
    attributes = {key: str(value) for key, value in counts.items()}
    root = Xml.Element("testsuites", attributes)
    suite = Xml.SubElement(root, "testsuite", {"name": "constructs-qm", **attributes})
    for rule in quiet:
        Xml.SubElement(suite, "testcase", {"classname": "constructs-qm", "name": f"{rule} {RULES[rule].title}"})
    for row in rows:
        place = {"file": row.file} if row.file is not None else {}
        name = {"classname": "constructs-qm", "name": _xml(f"{row.rule} {row.path}".rstrip()), **place}
        case = Xml.SubElement(suite, "testcase", name)
        detail = as_text([row]).rsplit("\n", 1)[0]
        if row in failures:
            failure = Xml.SubElement(case, "failure", {"type": row.rule, "message": _xml(row.message)})
            failure.text = _xml(detail)
        elif row.level is Level.NOTE:
            Xml.SubElement(case, "skipped", {"message": _xml(row.message)})
        else:
            Xml.SubElement(case, "system-out").text = _xml(detail)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def _xml(text: str) -> str:
    """Return text without the characters that XML can't hold."""
    return text.translate(_CONTROL)
