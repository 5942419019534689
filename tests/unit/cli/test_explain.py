"""``batch-quota explain`` of cases and recorded states; live queues are in tests/local."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[2] / "cases"
ARTICLE = CASES / "article-qs1-qs2-qs3.json"
G5 = "ml.g5.xlarge"
THIRD = "0d12a524-b824-4999-b5f5-f627071436b4"
STATE = {
    "environment": {G5: 2},
    "shares": [
        {"name": "A", "limits": {G5: 1}, "strategy": "LEND_AND_BORROW"},
        {"name": "B", "limits": {G5: 1}, "strategy": "LEND"},
    ],
    "jobs": [
        {"job": "1", "name": "first", "share": "A", "demand": {G5: 1}, "state": "RUNNING", "dispatchedAt": 1},
        {"job": "2", "name": "second", "share": "A", "demand": {G5: 1}, "state": "RUNNING", "dispatchedAt": 2},
        {"job": THIRD, "name": "third", "share": "A", "demand": {G5: 1}, "createdAt": 3},
    ],
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE))
    return path


def test_why_a_job_of_a_case_waits_and_who_preempted_it(run) -> None:
    status, out, err = run("explain", "--case", ARTICLE, "--job", "qs1_job_med", "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert set(document) == {"job", "state", "because", "would_preempt", "preempted_by", "text"}
    assert (document["job"], document["state"], document["would_preempt"]) == ("qs1_job_med", "RUNNABLE", [])
    assert document["because"][0] == {
        "rule": "own-quota",
        "unit": G5,
        "short": 2,
        "held_by": ["qs1_job_high", "qs1_job_low"],
    }
    (preemption,) = document["preempted_by"]
    assert (preemption["job"], preemption["kind"], preemption["owed"]) == ("qs2_job_1", "cross-share", True)


def test_for_people_it_is_one_paragraph(run) -> None:
    status, out, _ = run("explain", "--case", ARTICLE, "--job", "qs1_job_med")
    assert status == 0
    assert out.startswith("qs1_job_med is RUNNABLE. Share QS1 uses 2 of its limit of 1 ml.g5.xlarge, and it needs 1")
    assert out.count("\n") == 1


def test_a_recorded_state_is_asked_by_name_and_answers_with_names(run, state: Path) -> None:
    status, out, _ = run("explain", "--state", state, "--job", "third")
    assert status == 0
    assert out.startswith(f"third ({THIRD}) is RUNNABLE. Share A uses 2 of its limit of 1")
    assert "of 2 (1), 1 (1)" in out


def test_what_happens_if_a_job_is_submitted_now(run, state: Path) -> None:
    submission = f"share=B,demand={G5}=1,priority=5"
    status, out, _ = run("explain", "--state", state, "--submit", submission, "--json")
    document = json.loads(out)
    assert (status, document["state"]) == (0, "SCHEDULED")
    assert [(v["job"], v["share"], v["kind"]) for v in document["would_preempt"]] == [("2", "A", "cross-share")]
    assert set(document) > {"job", "state", "because", "would_preempt", "preempted_by", "text", "decisions"}


def test_a_submission_to_the_end_of_a_case(run) -> None:
    _, out, _ = run("explain", "--case", ARTICLE, "--submit", f"share=QS3,demand={G5}=2")
    assert out.startswith("Submitted to share QS3 now, new-job is RUNNABLE. It can't run: MISCONFIGURATION")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--case", ARTICLE], "give one of --job and --submit"),
        (["--job", "x", "--submit", "share=B", "--case", ARTICLE], "give one of --job and --submit"),
        (["--job", "x"], "give one of --case, --state and --queue"),
        (["--job", "x", "--case", ARTICLE, "--queue", "q"], "give one of --case, --state and --queue"),
        (["--job", "x", "--case", ARTICLE, "--endpoint-url", "u"], "--endpoint-url and --save go with --queue"),
        (["--job", "x", "--case", ARTICLE], "article-qs1-qs2-qs3.json: job 'x' is unknown"),
        (["--job", "x", "--case", "nowhere.json"], "nowhere.json: No such file"),
        (["--job", "x", "--state", ARTICLE], "article-qs1-qs2-qs3.json: job 'x' is not in the queue"),
        (["--submit", "share=B", "--case", ARTICLE], "share and demand are needed"),
        (["--submit", "share=Z,demand=ml.g5.xlarge=1", "--case", ARTICLE], "quota share 'Z' is unknown"),
    ],
)
def test_fails_with_one_line_and_status_2(run, arguments: list[object], says: str) -> None:
    status, out, err = run("explain", *arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
