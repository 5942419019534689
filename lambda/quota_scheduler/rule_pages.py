"""The rules as pages: ``python -m quota_scheduler.rule_pages PAGE`` prints what docs/PAGE.md holds."""

from __future__ import annotations

import sys

from quota_scheduler.rule_catalogue import RULES

__all__ = ["PAGES", "rule_page"]

PAGES: dict[str, tuple[str, str, str]] = {
    "policy-rules": (
        "Policy rules",
        "QM0",
        "Rules of a quota policy, checked before anything is deployed: by the constructs, by the plugin "
        "`QuotaPolicyChecks`, and by `batch-quota validate`. An **error** fails; a **warning** fails with `--strict`; "
        "a **note** says that a check was skipped. [Validation](validation.md) tells where each is asked and how a "
        "finding that is meant is acknowledged.",
    ),
    "form-rules": (
        "Form rules",
        "QM-F",
        "The form of files: `batch-quota validate` tells each fault with its line and column, and exits with 2, since "
        "a file of the wrong form can't be judged.",
    ),
    "what-if-rules": (
        "What-if rules",
        "QM-W",
        "Thresholds of `batch-quota validate NEW --baseline OLD --simulate TRACE`: the workload is simulated under "
        "both policies, and a change that does more harm than is allowed fails. Without a threshold the figures are "
        "only shown. [Capacity planning](how-to/capacity-planning.md) uses them.",
    ),
}
"""Title, beginning of the rules' ids, and introduction of each page."""


def rule_page(name: str) -> str:
    """Return a page as Markdown.

    Parameters
    ----------
    name : str
        One of :data:`PAGES`.

    Raises
    ------
    KeyError
        There is no such page.
    """
    title, prefix, introduction = PAGES[name]
    parts = [
        f"# {title}\n\nGenerated from the rules by `python -m quota_scheduler.rule_pages {name}`; edit "
        f"`lambda/quota_scheduler/rule_catalogue.py`.\n\n{introduction}\n"
    ]
    for rule, text in RULES.items():
        if rule.startswith(prefix):
            parts.append(
                f"## {rule}\n\n{text.title}.\n\n"
                f"- **Level:** {text.level.value}\n"
                f"- **To mend it:** {text.mend}\n"
                f"- **Source:** {text.source}.\n"
            )
    return "\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in PAGES:
        sys.exit(f"name one page of {', '.join(PAGES)}")
    sys.stdout.write(rule_page(sys.argv[1]))
