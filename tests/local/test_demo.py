"""The demo shows the article's steps, and notices where a step differs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import boto3
import pytest
from support.terminal import COLUMNS, at_terminal

from constructs_qm import demo
from constructs_qm.cli import main
from constructs_qm.cli.demo import demo as demo_command
from constructs_qm.demo_resources import ApiResources
from constructs_qm.local import Settings, SteppedClock
from constructs_qm.local.server import start
from quota_scheduler import dump_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"


def test_every_step_is_as_in_the_article_and_the_audit_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo_command() == 0
    out = capsys.readouterr().out
    assert out.count("as in the article") == 3
    assert "0 findings" in out
    for rule in range(1, 11):
        assert f"QM-A{rule:02}" in out


def test_the_walk_through_fits_a_terminal() -> None:
    seen = at_terminal("demo")
    assert seen.status == 0
    assert [line for line in seen.lines if len(line) > COLUMNS] == []
    assert "…" not in seen.text


def test_transitions_carry_their_reasons_and_usage_follows_each_step() -> None:
    steps: list[demo.DemoStep] = []
    report = demo.run(steps.append)
    assert [step.differs for step in steps] == [[], [], []]
    usage = [{share: use for share, _, use, _, _ in step.usage} for step in steps]
    assert usage == [{"QS1": 2, "QS2": 0, "QS3": 0}, {"QS1": 1, "QS2": 1, "QS3": 0}, {"QS1": 1, "QS2": 1, "QS3": 0}]
    assert all(entry.reason for step in steps for entry in step.transitions)
    stopping = [(e.job, e.reason) for step in steps for e in step.transitions if "stopping" in e.status]
    assert [job for job, _ in stopping] == ["qs1_job_med", "qs1_job_high"]
    assert "qs2_job_1 takes back lent capacity" in stopping[0][1]
    assert "qs1_job_low has higher priority than qs1_job_high" in stopping[1][1]
    assert report.coverage.unknown == 0


def test_a_step_that_ends_otherwise_fails_the_demo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = demo._PLANS
    wrong = replace(first, expected={"qs1_job_low": frozenset({"RUNNING"})})
    monkeypatch.setattr(demo, "_PLANS", (wrong, *others))
    assert demo_command() == 1
    assert "qs1_job_low should be RUNNING, is RUNNABLE" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.skipif(not CDK.exists(), reason="needs the cdk CLI: npm ci")
def test_the_walk_through_runs_on_the_queue_that_the_real_cdk_cli_deployed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert demo_command(ROOT / "examples" / "article.py", str(CDK)) == 0
    assert capsys.readouterr().out.count("as in the article") == 3


def test_a_cdk_cli_that_is_missing_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    arguments = ["demo", "--app", str(ROOT / "examples" / "article.py"), "--cdk", "no-such-cdk"]
    monkeypatch.setattr(sys, "argv", ["batch-quota", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "cdk CLI 'no-such-cdk' can't be run (No such file or directory): install it, or name it" in error
    assert error.count("\n") == 1


@contextmanager
def local_server(folder: Path, *options: str) -> Iterator[list[str]]:
    """Run ``batch-quota local`` in a folder, give out its first lines, and interrupt it."""
    command = [sys.executable, "-c", "from constructs_qm.cli import main; main()", "local", "--port", "0", *options]
    environment = {**os.environ, "COLUMNS": "200"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline().strip() for _ in range(11 if "--env" in options else 3)]
        yield lines
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0


def batch_client(lines: list[str]):
    return boto3.client(
        "batch",
        endpoint_url=lines[0].split()[-1],
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def test_local_prints_its_address_and_keeps_its_state_when_interrupted(tmp_path: Path) -> None:
    policy = {"idleResourceAssignmentStrategy": "FIFO"}
    with local_server(tmp_path, "--state", "lab.state") as lines:
        assert "This is not AWS" in lines[2]
        batch_client(lines).create_scheduling_policy(name="kept", quotaSharePolicy=policy)
    with local_server(tmp_path, "--state", "lab.state") as lines:
        [kept] = batch_client(lines).list_scheduling_policies()["schedulingPolicies"]
        assert kept["arn"].endswith("scheduling-policy/kept")


def test_local_prints_where_its_live_view_is_and_lets_it_step_the_clock(tmp_path: Path) -> None:
    with local_server(tmp_path, "--stepped") as lines:
        page = lines[1].removeprefix("Live view at ")
        with urlopen(page) as answer:
            assert b"<title>Live view</title>" in answer.read()
        with urlopen(Request(f"{page}/clock", b'{"advance": 0}')) as answer:
            before = json.load(answer)["now"]
        assert before == int(before)
        with urlopen(Request(f"{page}/clock", b'{"advance": 5}')) as answer:
            assert json.load(answer)["now"] == before + 5


def test_local_prints_what_clients_need(tmp_path: Path) -> None:
    with local_server(tmp_path, "--env") as lines:
        exported = dict(line.removeprefix("export ").split("=", 1) for line in lines[3:])
        assert exported["AWS_ENDPOINT_URL"] == lines[0].split()[-1]
        assert Path(exported["SAGEMAKER_USER_CONFIG_OVERRIDE"]).exists()


def test_local_refuses_a_state_file_it_cannot_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    (tmp_path / "bad.state").write_bytes(b"nonsense")
    monkeypatch.setattr(sys, "argv", ["batch-quota", "local", "--port", "0", "--state", str(tmp_path / "bad.state")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def recorded_walk_through(folder: Path, deliveries: int) -> list[str]:
    """Record the walk-through's events, each delivered several times; return the arguments that audit them."""
    with start(clock=SteppedClock(), settings=Settings(running_seconds=None), seed=1) as server:
        list(demo.Demo(server, ApiResources(demo.ARTICLE_POLICY)).steps())
        lines = [json.dumps(event) for event in server.endpoint.events]
    (folder / "events.jsonl").write_text("\n".join(lines * deliveries))
    (folder / "policy.json").write_text(json.dumps(dump_policy(demo.ARTICLE_POLICY)))
    return ["audit", str(folder / "events.jsonl"), "--policy", str(folder / "policy.json"), "--json"]


@pytest.mark.parametrize("deliveries", [1, 2])
def test_a_faithful_recording_passes_however_often_events_were_delivered(
    deliveries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    arguments = recorded_walk_through(tmp_path, deliveries)
    monkeypatch.setattr(sys, "argv", ["batch-quota", *arguments, "--delivery", "complete"])
    with pytest.raises(SystemExit) as ended:
        main()
    document = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert {finding["kind"] for finding in document["findings"]} <= {"note"}
    assert document["coverage"]["duplicate"] == (deliveries - 1) * document["coverage"]["used"]
    assert document["coverage"]["unknown"] == 0
