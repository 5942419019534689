"""Every rule is described, and the page of the docs is what the rules say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from preemption_auditor.catalogue import catalogue
from preemption_auditor.rules import RULES, TITLES
from preemption_auditor.verdicts import Kind

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "audit-rules.md"
FOLDER = ROOT / "lambda" / "preemption_auditor" / "rules"


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text() == catalogue(), "python -m preemption_auditor.catalogue > docs/audit-rules.md"


def test_every_rule_of_the_contract_is_there_once() -> None:
    ids = [rule.id for rule in RULES]
    assert ids[:15] == [f"QM-A{number:02}" for number in range(1, 16)]
    assert ids[15:19] == [f"QM-D{number:02}" for number in range(1, 5)]
    assert ids[19:] == [f"QM-Q{number:02}" for number in range(1, len(ids) - 18)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_a_file_of_its_own_and_says_all_about_itself(rule: object) -> None:
    name, kind = getattr(rule, "id"), getattr(rule, "kind")  # noqa: B009
    files = list(FOLDER.glob(f"{name.lower().replace('-', '_')}_*.py"))
    assert len(files) == 1
    assert re.match(rf'"""{name}: \w.*\.', files[0].read_text())
    assert TITLES[name].endswith(".")
    letter = {Kind.VIOLATION: "A", Kind.DIVERGENCE: "D", Kind.NOTE: "Q"}[kind]
    assert name.startswith(f"QM-{letter}")
    for text in ("proves", "evidence", "source"):
        assert getattr(rule, text)
        assert not getattr(rule, text).endswith(".")
