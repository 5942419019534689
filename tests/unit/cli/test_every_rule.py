"""Each rule of the catalogue fires through ``batch-quota validate``, and stays quiet where it nearly does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from support.rule_pairs import TEMPLATE_PAIRS, template_of

from quota_scheduler.rule_catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]

G5 = "ml.g5.xlarge"
OTHER_FILES = {"QM-A15": "tests/unit/cli/test_validate_deployed.py, where there is a deployed queue"}


class Input(NamedTuple):
    """What is given to the command: a file's name and content, and options, in which names of files are fine."""

    name: str
    content: Any
    options: tuple[str, ...] = ()


def policy(*shares: dict[str, Any], instances: int = 4, **more: Any) -> Input:
    return Input("policy.yaml", {"environment": {G5: instances}, "shares": list(shares), **more})


def share(name: str, count: int = 2, strategy: str = "LEND", **more: Any) -> dict[str, Any]:
    return {"name": name, "limits": {G5: count}, "strategy": strategy, **more}


def deployment(*shares: dict[str, Any], seconds: int = 600, **queue: Any) -> Input:
    reasons = ("SERVICE_ENVIRONMENT_MAX_RESOURCE", "QUOTA_MANAGEMENT_LIMIT_EXCEEDED")
    whole = {
        "name": "training",
        "environment": {G5: 4},
        "timeLimits": {f"MISCONFIGURATION:{reason}": seconds for reason in reasons},
        "shares": list(shares),
        **queue,
    }
    team = {"account": "111111111111", "regions": {"eu-west-1": {"queues": [whole]}}}
    return Input("quota.yaml", {"teams": {"research": team}})


def submitter(account: str) -> dict[str, Any]:
    return {"submitters": [{"role": f"arn:aws:iam::{account}:role/vision"}]}


def what_if(new: Input, *options: str) -> Input:
    return new._replace(options=("--baseline", "old.yaml", "--simulate", "trace.csv", *options))


def text(content: str) -> Input:
    return Input("policy.yaml", content)


def at_depth(levels: int) -> Input:
    return text("[" * levels + "]" * levels)


BORROW, BOTH = "LEND_AND_BORROW", (share("vision"), share("speech"))
BORROWER = share("vision", 2, BORROW, borrowLimit=100)
NARROWER, SMALLER = policy(*BOTH), policy(share("vision", 1), share("speech", 3))
TRACE = "job_id,submit_s,duration_s,team,gpus\n" + "".join(f"j{n},0,100,vision,2\n" for n in range(4))
PREEMPTING = "job_id,submit_s,duration_s,team,gpus\na,0,500,vision,2\nb,0,500,vision,2\nc,10,50,speech,2\n"
FILES = {
    "old.yaml": policy(BORROWER, share("speech")).content,
    "narrow.yaml": NARROWER.content,
    "trace.csv": TRACE,
    "preempting.csv": PREEMPTING,
}
MORE_PREEMPTIONS = ("--baseline", "narrow.yaml", "--simulate", "preempting.csv", "--max-preemption-growth", "0")

PAIRS: list[tuple[str, Input, Input]] = [
    *((rule, Input("t.json", template_of(firing)), Input("t.json", template_of(near)))
      for rule, firing, near in TEMPLATE_PAIRS),
    *((rule, Input("cdk.out", template_of(firing)), Input("cdk.out", template_of(near)))
      for rule, firing, near in TEMPLATE_PAIRS if rule in ("QM007", "QM014", "QM015")),
    ("QM001", policy(share("ä"), share("b")), policy(share("a"), share("b"))),
    ("QM002", policy(share("a", 0)), policy(share("a", 1))),
    ("QM003", policy({**share("a"), "limits": {"g5.xlarge": 2}}), policy(share("a"))),
    ("QM004", policy(*(share(f"s{n}", 1) for n in range(21)), instances=21),
     policy(*(share(f"s{n}", 1) for n in range(20)), instances=20)),
    ("QM005", policy(share("a", 5)), policy(share("a", 4))),
    ("QM006", policy(share("a", borrowLimit=0)), policy(share("a", 2, BORROW, borrowLimit=0))),
    ("QM009", policy(share("a"), share("b", 3)), policy(*BOTH)),
    ("QM010", policy(share("a", 3)), policy(share("a", 4))),
    ("QM011", policy(share("a", 2, BORROW), share("b", 2, "RESERVE")), policy(share("a", 2, BORROW), share("b"))),
    ("QM012", policy(share("a", 2, BORROW, borrowLimit=150), share("b")),
     policy(share("a", 2, BORROW, borrowLimit=149), share("b"))),
    ("QM013", policy(), policy(share("a"))),
    ("QM001", deployment(*BOTH, name="train ing"), deployment(*BOTH, name="train-ing")),
    ("QM002", deployment(*BOTH, environment={}), deployment(*BOTH)),
    ("QM003", deployment(*BOTH, environment={"NUM_INSTANCES": 4}), deployment(*BOTH)),
    ("QM005", deployment(share("a", 5)), deployment(share("a", 4))),
    ("QM006", deployment(share("a", 2, BORROW, borrowLimit="100")), deployment(share("a", 2, BORROW, borrowLimit=100))),
    ("QM008", deployment(*BOTH, seconds=599), deployment(*BOTH)),
    ("QM013", deployment(*BOTH, timeLimits={}), deployment(*BOTH)),
    ("QM-W01", what_if(NARROWER, "--max-wait-growth", "199"), what_if(NARROWER, "--max-wait-growth", "200")),
    ("QM-W02", what_if(SMALLER, "--max-wait-growth", "1000"), what_if(NARROWER, "--max-wait-growth", "1000")),
    ("QM-W03", policy(BORROWER, share("speech"))._replace(options=MORE_PREEMPTIONS),
     NARROWER._replace(options=MORE_PREEMPTIONS)),
    ("QM-W04", what_if(NARROWER, "--max-utilisation-loss", "49"), what_if(NARROWER, "--max-utilisation-loss", "50")),
    ("QM-F01", text("environment: {"), text("environment: {}")),
    ("QM-F02", at_depth(101), at_depth(100)),
    ("QM-F03", text("shares: []\nshares: []"), text("shares: []\nShares: []")),
    ("QM-F04", policy(share("a", States="ENABLED")), policy(share("a", state="ENABLED"))),
    ("QM-F04", deployment(*BOTH, colour="red"), deployment(*BOTH, priority=1)),
    ("QM-F05", text("environment: {ml.g5.xlarge: 1}"), text("environment: {ml.g5.xlarge: 1}\nshares: []")),
    ("QM-F06", policy(share("a", inSharePreemption="yes")), policy(share("a", inSharePreemption=True))),
    ("QM-F06", deployment(*BOTH, priority=1001), deployment(*BOTH, priority=1000)),
    ("QM-F07", deployment(share("a", **submitter("2" * 12))), deployment(share("a", **submitter("1" * 12)))),
    ("QM-F08", text("share: []"), text("shares: []")),
]  # fmt: skip


@pytest.fixture
def rules_for(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Input], set[str]]:
    """Return the rules that ``batch-quota validate --json`` tells of an input."""
    monkeypatch.chdir(tmp_path)

    def write(path: Path, content: Any) -> None:
        dump = json.dumps if path.suffix == ".json" else yaml.safe_dump
        path.write_text(content if isinstance(content, str) else dump(content), encoding="utf-8")

    def rules(given: Input) -> set[str]:
        for name, content in FILES.items():
            write(tmp_path / name, content)
        if given.name == "cdk.out":
            stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Team.template.json"}}
            (tmp_path / "cdk.out").mkdir(exist_ok=True)
            write(tmp_path / "cdk.out" / "manifest.json", {"version": "48.0.0", "artifacts": {"Team": stack}})
            write(tmp_path / "cdk.out" / "Team.template.json", given.content)
        else:
            write(tmp_path / given.name, given.content)
        _, out, _ = run("validate", "--json", given.name, *given.options)
        return {finding["rule"] for finding in json.loads(out)["findings"]}

    return rules


@pytest.mark.parametrize(
    ("rule", "firing", "near"), PAIRS, ids=[f"{rule}-{number}" for number, (rule, *_) in enumerate(PAIRS)]
)
def test_rule_fires_and_nearly_fires(
    rules_for: Callable[[Input], set[str]], rule: str, firing: Input, near: Input
) -> None:
    assert rule in rules_for(firing)
    told = rules_for(near)
    assert rule not in told
    assert rule.startswith("QM-F") or not any(found.startswith("QM-F") for found in told)  # it was taken, and checked


def test_no_rule_of_the_catalogue_is_left_out() -> None:
    assert {rule for rule, *_ in PAIRS} | OTHER_FILES.keys() == RULES.keys()


def test_every_rule_is_documented() -> None:
    table = (Path(__file__).parents[3] / "docs" / "validation.md").read_text().partition("## Rules")[2]
    documented = set(re.findall(r"QM(?:-[A-Z])?\d+", table))
    for first, last in re.findall(r"(QM\S+) to (QM\S+)", table):
        documented |= {rule for rule in RULES if first <= rule <= last}
    assert documented == RULES.keys()
