"""The command line: exit status, standard output for programs, one line on standard error for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constructs_qm._version import __version__

CASES = Path(__file__).parents[2] / "cases"
ARTICLE = CASES / "article-qs1-qs2-qs3.json"


def test_version(run) -> None:
    assert run("--version") == (0, f"{__version__}\n", "")


def test_replay_reports_every_case_of_a_folder(run) -> None:
    status, out, err = run("replay", "--json", CASES)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert {line["id"] for line in lines} == {json.loads(p.read_text())["id"] for p in CASES.glob("*.json")}
    assert all(line["ok"] and line["differs"] == [] for line in lines)


def test_replay_gives_one_observation_for_each_expectation(run) -> None:
    _, out, _ = run("replay", "--json", ARTICLE)
    document = json.loads(out)
    assert set(document) == {"id", "ok", "observed", "differs"}
    assert [entry["preempted"] for entry in document["observed"]] == [
        [],
        [{"job": "qs1_job_med", "kind": "cross-share"}],
        [{"job": "qs1_job_high", "kind": "in-share"}],
        [],
    ]
    assert set(document["observed"][0]) == {"holding", "waiting", "preempted", "failed", "blocked"}


def test_replay_exits_with_1_where_an_answer_differs(run, tmp_path: Path) -> None:
    case = json.loads(ARTICLE.read_text())
    case["steps"][3]["expect"]["waiting"] = []
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(case))
    status, out, _ = run("replay", path)
    assert status == 1
    assert "DIFFERS article-qs1-qs2-qs3" in out
    assert "waiting should be [], is ['qs1_job_low']" in out
    assert "0 of 1 cases ok" in out


def test_a_case_may_be_yaml(run, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "case.yaml"
    path.write_text(yaml.safe_dump(json.loads(ARTICLE.read_text())))
    assert run("replay", path)[0] == 0


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", "{", "a.json:1:2: not JSON"),
        ("a.json", '{"steps": [], "steps": []}', "a.json: key 'steps' is given twice"),
        ("a.json", "[]", "a.json: case is list: give an object"),
        ("a.json", "{}", "a.json: case has no list of steps"),
        ("a.json", '{"steps": []}', "a.json: policy has no 'environment'"),
        ("a.json", '{"steps": [{"do": "submit"}]}', "a.json: steps[0] has no 'demand'"),
        ("a.json", "[" * 100_000, "a.json"),
        ("a.yaml", "a: [", "a.yaml:1:5: not YAML"),
        ("a.yaml", "a: 1\na: 2\n", "a.yaml:2:1: not YAML: key 'a' is given twice"),
        ("a.yaml", "!!python/object/apply:os.system ['true']", "a.yaml:1:1: not YAML"),
        ("a.json", b"\xff\xfe", "a.json: not UTF-8 text"),
    ],
)
def test_fails_with_one_line_for_a_malformed_file(run, tmp_path: Path, name: str, text: str | bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, out, err = run("replay", path)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing command"),
        (["replya"], "No such command 'replya'"),
        (["replay"], "Missing"),
        (["replay", "--jsno", "x"], "No such option"),
        (["replay", "no-such-file"], "no-such-file: No such file or directory"),
        (["replay", CASES.parent / "browser"], "no case files"),
        (["audit", "no-such-file", "--policy", ARTICLE], "no-such-file: No such file or directory"),
        (["audit", ARTICLE, "--policy", "nowhere.json"], "nowhere.json: No such file"),
        (["audit", ARTICLE], "--policy"),
        (["audit", ARTICLE, "--policy", ARTICLE, "--delivery", "some"], "delivery"),
        (["audit", ARTICLE, "--policy", ARTICLE, "--tolerance", "-1"], "tolerance of -1.0 s is not allowed"),
        (["audit", CASES / "README.md", "--policy", ARTICLE], "none of"),
        (["local", "--port", "70000"], "65535"),
        (["local", "--speed", "0"], "speed"),
        (["local", "--port", "0", "--state", "nowhere/lab.state"], "there is no folder nowhere to save it in"),
        (["local", "--speed", "60", "--stepped"], "give --stepped or --speed, not both"),
    ],
)
def test_fails_with_one_line_and_status_2(run, arguments: list[object], says: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
