"""Every known-answer case gives its known answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quota_scheduler import DocumentError, PolicyError
from quota_scheduler.case import load_case, replay

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_has_its_known_answers(path: Path) -> None:
    run = replay(load_case(json.loads(path.read_text())))
    assert run.differs == []
    assert run.observed, "a case without expectations proves nothing"


def article() -> dict:
    return json.loads((CASES[0].parent / "article-qs1-qs2-qs3.json").read_text())


def test_a_wrong_expectation_is_reported_with_both_answers() -> None:
    case = article()
    case["steps"][3]["expect"]["holding"] = ["qs1_job_low"]
    run = replay(load_case(case))
    assert run.differs == ["steps[3]: holding should be ['qs1_job_low'], is ['qs1_job_high', 'qs1_job_med']"]
    assert run.to_document()["ok"] is False


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda c: c.pop("steps"), DocumentError, "case has no list of steps"),
        (lambda c: c.pop("environment"), DocumentError, "policy has no 'environment'"),
        (
            lambda c: c["steps"].insert(0, {"do": "sumbit"}),
            DocumentError,
            r"steps\[0\].do is 'sumbit': use one of submit",
        ),
        (lambda c: c["steps"][0].pop("share"), DocumentError, r"steps\[0\] has no 'share'"),
        (
            lambda c: c["steps"][0].update(share="QS9"),
            DocumentError,
            "quota share 'QS9' is unknown: use one of QS1, QS2",
        ),
        (
            lambda c: c["steps"][0].update(demand={"ml.g5.xlarge": 0}),
            DocumentError,
            "demand 0 of ml.g5.xlarge",
        ),
        (lambda c: c["steps"][0].update(demand={}), DocumentError, "demand {} is not allowed"),
        (lambda c: c["steps"][0].update(priority=10000), DocumentError, "priority 10000 is not allowed"),
        (lambda c: c["steps"][0].update(preemptionRetries=-1), DocumentError, "preemptionRetries -1"),
        (
            lambda c: c["steps"].append({"do": "finish", "job": "qs1_job_med"}),
            DocumentError,
            "qs1_job_med is RUNNABLE",
        ),
        (lambda c: c["steps"].append({"do": "fail", "job": "nobody"}), DocumentError, "'nobody' is unknown"),
        (
            lambda c: c["steps"].append({"do": "advance", "seconds": "soon"}),
            DocumentError,
            "seconds is 'soon'",
        ),
        (lambda c: c["steps"][3]["expect"].update(running=[]), DocumentError, "unknown key 'running'"),
        (
            lambda c: c["shares"][0]["limits"].update({"ml.g5.xlarge": 0}),
            PolicyError,
            r"capacity 0 .*\[QM002\]",
        ),
        (
            lambda c: c["shares"][0].update(strategy="LEND"),
            PolicyError,
            r"shares\[0\]: borrow limit 200 .*\[QM006\]",
        ),
        (lambda c: c["shares"][1]["limits"].update({"ml.g5.xlarge": 9}), PolicyError, r"limit 9 .*\[QM005\]"),
    ],
)
def test_fails_with_one_line_that_names_the_place(change, error, says) -> None:
    case = article()
    change(case)
    with pytest.raises(error, match=says) as caught:
        replay(load_case(case))
    assert "\n" not in str(caught.value)


def test_a_case_may_put_another_policy_in_force() -> None:
    case = article()
    wider = {
        "environment": {"ml.g5.xlarge": 3},
        "shares": [{"name": "QS1", "limits": {"ml.g5.xlarge": 3}, "strategy": "RESERVE"}],
    }
    case["steps"] += [
        {"do": "submit", "job": "theirs", "share": "QS2", "demand": {"ml.g5.xlarge": 1}},
        {"do": "advance", "seconds": 5},
        {"do": "set-policy", "policy": wider},
        {"expect": {"holding": ["qs1_job_high", "qs1_job_low", "qs1_job_med"], "failed": ["theirs"]}},
    ]
    run = replay(load_case(case))
    assert (run.differs, run.now) == ([], 5)
    case["steps"][-2]["policy"] = {"environment": {}, "shares": []}
    with pytest.raises(DocumentError, match="0 capacity limits given"):
        replay(load_case(case))
