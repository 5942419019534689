"""The demo shows the article's steps, and notices where a step differs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import boto3

from constructs_qm import demo
from constructs_qm.cli.demo import demo as demo_command

if TYPE_CHECKING:
    import pytest


def test_every_step_is_as_in_the_article_and_the_audit_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo_command() == 0
    out = capsys.readouterr().out
    assert out.count("as in the article") == 3
    assert "0 findings" in out
    for rule in range(1, 11):
        assert f"QM-A{rule:02}" in out


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


def test_local_prints_its_address_answers_and_stops_when_interrupted() -> None:
    command = [sys.executable, "-c", "from constructs_qm.cli import main; main()", "local", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        batch = boto3.client(
            "batch",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        assert batch.describe_service_environments()["serviceEnvironments"] == []
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0
