"""QM-A15: what is deployed is what was declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preemption_auditor.moments import Comparison
from preemption_auditor.verdicts import PASS, Answer, Kind, Rule, Verdict
from quota_scheduler import dump_policy

if TYPE_CHECKING:
    from quota_scheduler import QuotaPolicy

__all__ = ["RULE"]


def _judge(comparison: Comparison) -> Verdict:
    differences = [_differences(declared, comparison.deployed) for declared in comparison.declared]
    fewest = min(differences, key=len)
    if not fewest:
        return PASS
    return Verdict(
        Answer.VIOLATION,
        expected="the policy as declared",
        seen="; ".join(text for _, text in fewest),
        shares=tuple({share: None for share, _ in fewest if share}),
        events=(comparison.event,),
    )


def _differences(declared: QuotaPolicy, deployed: QuotaPolicy) -> list[tuple[str, str]]:
    """Return what differs, each with its share, or an empty text for the environment."""
    found = []
    if dict(declared.environment) != dict(deployed.environment):
        found.append(("", f"environment is {dict(deployed.environment)}, declared {dict(declared.environment)}"))
    ours = {share["name"]: share for share in dump_policy(declared)["shares"]}
    theirs = {share["name"]: share for share in dump_policy(deployed)["shares"]}
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in theirs:
            found.append((name, f"share {name} isn't deployed"))
        elif name not in ours:
            found.append((name, f"share {name} was never declared"))
        else:
            fields = sorted(ours[name].keys() | theirs[name].keys())
            found += [
                (name, f"{field} of {name} is {theirs[name].get(field)}, declared {ours[name].get(field)}")
                for field in fields
                if ours[name].get(field) != theirs[name].get(field)
            ]
    return found


RULE = Rule(
    id="QM-A15",
    kind=Kind.VIOLATION,
    judges=Comparison,
    proves="the deployed service environment or a deployed quota share differs from the declared policy",
    evidence="a look-up of the deployed policy, and the policy declared at that time",
    source="API DescribeServiceEnvironments, ListQuotaShares",
    judge=_judge,
)
