"""``batch-quota simulate``: its JSON form, comparisons, policies over time, and bad input."""

from __future__ import annotations

import gzip
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from support.pages import Page

command = import_module("constructs_qm.cli.simulate")  # the package's attribute is the function
WORKLOADS = Path(__file__).parents[3] / "examples" / "workloads"
TEAMS = WORKLOADS / "three-teams.yaml"
RESERVE = WORKLOADS / "reserve.yaml"
SHARE = WORKLOADS / "share.yaml"
OVER_TIME = WORKLOADS / "over-time.yaml"
MIXED = WORKLOADS / "mixed.csv"
G5 = "ml.g5.12xlarge"
P4 = "ml.p4d.24xlarge"
TRACE = "job_id,submit_s,duration_s,gpus,team,priority,status\na,0,10,2,red,,\nb,0,10,2,blue,,\nc,5,10,1,red,,\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Make a folder with a policy and the same trace as CSV, compressed CSV and SWF."""
    policy = {"environment": {G5: 2}, "shares": [{"name": "red", "limits": {G5: 2}, "strategy": "LEND"}]}
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "trace.csv.gz").write_bytes(gzip.compress(TRACE.encode()))
    rows = [
        "; a comment",
        "1 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 -1 7 -1 -1 -1",
        "2 5 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 7 -1 -1 -1",
    ]
    (tmp_path / "trace.swf").write_text("\n".join(rows))
    return tmp_path


def simulated(run, *arguments: object) -> dict[str, Any]:
    status, out, err = run("simulate", *arguments, "--json")
    assert (status, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """Return a policy's entry without what depends on the machine."""
    return {key: value for key, value in result.items() if key not in ("jobs_per_second", "wall_s", "peak_rss_mib")}


def test_the_json_form_is_the_public_one(run, files: Path) -> None:
    document = simulated(run, "--policy", files / "policy.json", "--trace", files / "trace.csv")
    assert set(document) == {"policies", "rows"}
    (result,) = document["policies"]
    assert set(result) >= {
        *("jobs", "finished", "jobs_per_second", "wall_s", "peak_rss_mib"),
        *("utilisation", "preemptions", "shares", "reclaim_s", "lost_instance_s", "blocked", "never_dispatched"),
    }
    assert set(result["preemptions"]) == {"cross-share", "in-share"}
    assert set(result["shares"]["red"]) >= {
        *("jobs", "wait_s", "borrowed_instance_s", "lent_instance_s", "preempted"),
        *("reclaim_s", "lost_instance_s", "blocked", "never_dispatched"),
    }
    assert result["shares"]["red"]["wait_s"] == {"mean": 2.5, "p50": 0, "p95": 5, "max": 5}
    assert (result["jobs"], result["finished"], result["utilisation"]) == (2, 2, 30 / 40)
    assert result["wall_s"] > 0
    assert result["jobs_per_second"] == pytest.approx(2 / result["wall_s"])
    assert 10 < result["peak_rss_mib"] < 10_000
    assert document["rows"] == {
        "read": 3,
        "used": 2,
        "fixed": 0,
        "fixed_reasons": {},
        "skipped": {"team without a share": 1},
    }


@pytest.mark.parametrize("trace", ["trace.csv.gz", "trace.swf"])
def test_other_formats_give_the_same(run, files: Path, trace: str) -> None:
    usual = simulated(run, "--policy", files / "policy.json", "--trace", files / "trace.csv")
    mapped = ["--map", "7=red"] if trace.endswith("swf") else []
    other = simulated(run, "--policy", files / "policy.json", "--trace", files / trace, *mapped)
    assert figures(other["policies"][0]) == figures(usual["policies"][0])


def test_teams_can_be_mapped_to_shares(run, files: Path) -> None:
    arguments = ("--policy", files / "policy.json", "--trace", files / "trace.csv", "--map", "blue=red")
    document = simulated(run, *arguments)
    assert document["rows"]["used"] == document["policies"][0]["finished"] == 3


def test_policies_are_compared_on_the_same_workload(run) -> None:
    document = simulated(run, "--policy", RESERVE, "--policy", SHARE, "--trace", TEAMS)
    reserve, share = document["policies"]
    assert [Path(result["policy"]).stem for result in (reserve, share)] == ["reserve", "share"]
    assert reserve["jobs"] == reserve["finished"] == share["finished"] == document["rows"]["used"] == 300
    assert sum(reserve["preemptions"].values()) == 0
    assert min(share["preemptions"].values()) > 10
    assert share["utilisation"] > reserve["utilisation"] + 0.2
    assert share["wait_s"]["mean"] < reserve["wait_s"]["mean"] / 2
    assert sum(entry["borrowed_instance_s"] for entry in share["shares"].values()) == pytest.approx(
        sum(entry["lent_instance_s"] for entry in share["shares"].values())
    )


def test_the_seed_decides_what_is_drawn(run) -> None:
    first, again, other = (
        figures(simulated(run, "--policy", SHARE, "--trace", TEAMS, "--seed", seed)["policies"][0])
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_options_reach_the_simulation(run) -> None:
    def lost(*options: object) -> float:
        return float(simulated(run, "--policy", SHARE, "--trace", TEAMS, *options)["policies"][0]["lost_instance_s"])

    assert lost("--checkpoint-seconds", 600) < lost()
    assert lost("--checkpoint-seconds", 600) < lost("--checkpoint-seconds", 600, "--preemption-seconds", 600)
    assert lost("--hash-priorities", 3) != lost("--hash-priorities", 3, "--seed", 1)


def test_policies_may_follow_the_first_as_a_shell_pattern_gives_them(run) -> None:
    document = simulated(run, "--policy", RESERVE, SHARE, "--trace", TEAMS)
    assert [Path(result["policy"]).stem for result in document["policies"]] == ["reserve", "share"]


def test_a_policy_over_time(run) -> None:
    document = simulated(run, "--policy", SHARE, "--policy", OVER_TIME, "--trace", TEAMS)
    before, over_time = (result["shares"] for result in document["policies"])
    assert over_time["research"]["wait_s"]["mean"] < before["research"]["wait_s"]["mean"]
    assert over_time["product"]["wait_s"]["mean"] > before["product"]["wait_s"]["mean"]


def test_times_of_a_policy_over_time_may_be_dates(run, files: Path, tmp_path: Path) -> None:
    policy = json.loads((files / "policy.json").read_text())
    wider = {"environment": {G5: 3}, "shares": [{"name": "red", "limits": {G5: 3}, "strategy": "LEND"}]}
    path = tmp_path / "over-time.json"
    path.write_text(json.dumps([{"at": "1970-01-01T00:00:08Z", **wider}, {"at": 0, **policy}]))
    result = simulated(run, "--policy", path, "--trace", files / "trace.csv")["policies"][0]
    assert result["wait_s"]["max"] == 3


def test_a_time_limit_ends_jobs_that_can_never_run(run, files: Path) -> None:
    (files / "trace.csv").write_text(TRACE.replace("a,0,10,2", "a,0,10,3"))
    arguments = ("--policy", files / "policy.json", "--trace", files / "trace.csv")
    blocked = simulated(run, *arguments)["policies"][0]
    ended = simulated(run, *arguments, "--time-limit", 600)["policies"][0]
    assert (blocked["blocked"], blocked["finished"], blocked["never_dispatched"]) == (1, 0, 2)
    assert (ended["terminated"], ended["finished"], ended["wait_s"]["max"]) == (1, 1, 595)


def test_the_richer_csv_of_the_documentation(run, tmp_path: Path) -> None:
    shares = [
        {"name": "research", "limits": {G5: 4}, "strategy": "LEND"},
        {"name": "product", "limits": {G5: 4, P4: 1}, "strategy": "LEND"},
    ]
    (tmp_path / "policy.json").write_text(json.dumps({"environment": {G5: 8, P4: 1}, "shares": shares}))
    arguments = ("--policy", tmp_path / "policy.json", "--trace", MIXED, "--unit", G5, "--map", "ops=research")
    document = simulated(run, *arguments)
    assert document["rows"] == {
        "read": 8,
        "used": 5,
        "fixed": 2,
        "fixed_reasons": {
            "fraction of a gpu: rounded up": 1,
            "not in order of submission: sorted": 1,
            "priority is no number: left out": 1,
        },
        "skipped": {"duration unknown (negative)": 1, "no gpus": 1, "team without a share": 1},
    }
    assert document["policies"][0]["finished"] == 5


def test_for_people_there_are_tables(run) -> None:
    status, out, err = run("simulate", "--policy", RESERVE, "--policy", SHARE, "--trace", TEAMS)
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["reserve", "share"] in lines
    assert ["finished", "300", "300"] in lines
    assert ["product", "share", "37"] in [line[:3] for line in lines]
    assert "300 of 300 rows used, 0 of them mended" in out


def test_mended_and_skipped_rows_are_told(run, files: Path) -> None:
    (files / "trace.csv").write_text(TRACE + "d,6,-1,1,red,,\ne,7,1,0.5,red,,\n")
    _, out, _ = run("simulate", "--policy", files / "policy.json", "--trace", files / "trace.csv")
    assert "3 of 5 rows used, 1 of them mended" in out
    assert "mended: fraction of a gpu: rounded up: 1" in out
    assert "skipped: duration unknown (negative): 1" in out


def test_a_report_is_written_beside_the_usual_output(run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    arguments = ("--policy", RESERVE, SHARE, "--trace", TEAMS)
    plain, document = simulated(run, *arguments), simulated(run, *arguments, "--report", path)
    assert [figures(result) for result in document["policies"]] == [figures(result) for result in plain["policies"]]
    page = Page(path.read_text(encoding="utf-8"))
    assert page.all("h1")[0].text == "Simulation of reserve, share"
    preemptions = document["policies"][1]["preemptions"]
    kinds = [row[2] for row in page.rows("activity-1")]
    assert {kind: kinds.count(kind) for kind in preemptions} == preemptions


@pytest.mark.parametrize("where", [".", "nowhere/report.html"])
def test_a_report_that_cannot_be_written_stops_the_command_before_it_begins(
    run, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_run", None)
    status, out, err = run("simulate", "--policy", SHARE, "--trace", TEAMS, "--report", tmp_path / where)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"--report {tmp_path / where}" in err


def test_a_report_needs_its_libraries(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    status, out, err = run("simulate", "--policy", SHARE, "--trace", TEAMS, "--report", tmp_path / "report.html")
    assert (status, out) == (2, "")
    missing = "--report needs the extra 'report' (plotly is not installed)"
    assert err == f"batch-quota: {missing}: pip install 'constructs-qm[report]'\n"
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--trace", TEAMS], "--policy"),
        (["--policy", SHARE], "--trace"),
        (["--policy", "nowhere.json", "--trace", TEAMS], "nowhere.json: No such file"),
        (["--policy", SHARE, "--trace", "nowhere.csv"], "nowhere.csv: No such file"),
        (["--policy", SHARE, "--trace", WORKLOADS], "Is a directory"),
        (["--policy", TEAMS, "--trace", TEAMS], "three-teams.yaml: policy has no 'environment'"),
        (["--policy", SHARE, "--trace", RESERVE], "reserve.yaml: workload.jobs is None"),
        (
            ["--policy", SHARE, "--trace", SHARE.parent / "mixed.csv", "--map", "x"],
            "--map x: give TEAM=SHARE with one of",
        ),
        (["--policy", SHARE, "--trace", TEAMS, "--map", "a=b"], "--map a=b: give TEAM=SHARE with one of nightly"),
        (["--policy", SHARE, "--trace", TEAMS, "--unit", "ml.g5.xlarge"], "is not in the policy: use ml.g5.12xlarge"),
        (["--policy", SHARE, "--trace", TEAMS, "--preemption-seconds", "-1"], "preemption of -1.0 s is not allowed"),
        (["--policy", SHARE, "--trace", TEAMS, "--checkpoint-seconds", "0"], "checkpoint interval of 0.0 s"),
        (["--policy", SHARE, "--trace", TEAMS, "--time-limit", "5"], "time limit of 5 s is not allowed"),
        (["--policy", SHARE, "--trace", TEAMS, "--hash-priorities", "0"], "hash-priorities"),
        (["--policy", SHARE, "--trace", "broken.csv"], "broken.csv: trace has no column 'job_id'"),
        (["--policy", SHARE, "--trace", "broken.csv.gz"], "broken.csv.gz: Not a gzipped file"),
        (["--policy", SHARE, "--trace", "cut.csv.gz"], "cut.csv.gz: not gzip"),
        (["--policy", SHARE, "--trace", "latin.csv"], "latin.csv: not UTF-8 text"),
        (["--policy", SHARE, "--trace", "empty.csv"], "empty.csv: none of 0 rows can be used (the file has none)"),
        (["--policy", SHARE, "--trace", "others.csv"], "none of 1 rows can be used (team without a share: 1)"),
        (["--policy", SHARE, "--trace", "stranger.json"], "stranger.json: share 'X' is not in the policy: use nightly"),
        (["--policy", "empty.json", "--trace", TEAMS], "empty.json: policy over time has no version"),
        (["--policy", "timeless.json", "--trace", TEAMS], "policy version's at None is not a time"),
    ],
)
def test_fails_with_one_line_and_status_2(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    header = TRACE.splitlines()[0]
    for name, content in {
        "broken.csv": b"a,b\n",
        "broken.csv.gz": b"a,b\n",
        "cut.csv.gz": gzip.compress(TRACE.encode())[:-12],
        "latin.csv": (header + "\nj,1,2,1,M\xfcnchen,,\n").encode("latin-1"),
        "empty.csv": header.encode(),
        "others.csv": (header + "\nj,1,2,1,nobody,,\n").encode(),
        "stranger.json": b'{"jobs": 1, "shares": [{"share": "X", "interarrival_s": 1}]}',
        "empty.json": b"[]",
        "timeless.json": b'[{"environment": {"ml.g5.12xlarge": 1}, "shares": []}]',
    }.items():
        (tmp_path / name).write_bytes(content)
    status, out, err = run("simulate", *arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
