"""Pages that say what the code says: rules, assumptions and the API are on them, whole and as they are."""

from __future__ import annotations

import re
from dataclasses import fields
from enum import Enum

import pytest
from support.documentation import DOCS, ROOT, anchors_of

from quota_scheduler import Assumptions
from quota_scheduler.rule_catalogue import RULES
from quota_scheduler.rule_pages import PAGES, rule_page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_rules_say(name: str) -> None:
    written = (DOCS / f"{name}.md").read_text()
    assert written == rule_page(name), f"python -m quota_scheduler.rule_pages {name} > docs/{name}.md"


def test_every_rule_is_on_one_page() -> None:
    headings = [rule for name in PAGES for rule in re.findall(r"^## (\S+)$", rule_page(name), re.MULTILINE)]
    audited = {"QM-A15"}  # docs/audit-rules.md has it
    assert sorted(headings) == sorted(RULES.keys() - audited)


def test_every_assumption_is_explained_with_its_option_and_default() -> None:
    page = (DOCS / "concepts" / "assumptions.md").read_text()
    sections = re.split(r"^### ", page, flags=re.MULTILINE)[1:]
    assert len(sections) == len(fields(Assumptions))
    for number, (option, section) in enumerate(zip(fields(Assumptions), sections, strict=True), start=1):
        default = option.default
        shown = f"{type(default).__name__}.{default.name}" if isinstance(default, Enum) else repr(default)
        assert section.startswith(f"A{number}\n")
        assert f"`{option.name}`, by default `{shown}`" in section


def test_anchors_that_messages_and_pages_rely_on() -> None:
    assert {"qm005", "qm009", "qm013"} <= anchors_of(DOCS / "policy-rules.md")
    assert {f"a{number}" for number in range(1, 13)} <= anchors_of(DOCS / "concepts" / "assumptions.md")


SOURCES = [path for folder in ("lambda", "constructs_qm") for path in (ROOT / folder).rglob("*.py")]


def cited(pattern: str) -> set[str]:
    return {found for path in SOURCES for found in re.findall(pattern, path.read_text(encoding="utf-8"))}


def test_what_docstrings_cite_is_in_the_documentation() -> None:
    contract, facts = (DOCS / "contract.md").read_text(), (DOCS / "facts.md").read_text()
    sections = re.findall(r"^## (\d+)\. ", contract, re.MULTILINE)
    assert cited(r"contract\.md section (\d+)") <= set(sections)
    rules = cited(r"\bQM-?[AD]?\d{2,3}\b")
    assert rules <= set(re.findall(r"QM-?[AD]?\d+", contract))
    for place in cited(r"facts\.md[,:] ([\w -]+)"):
        assert place.strip().lower() in facts.lower(), place
