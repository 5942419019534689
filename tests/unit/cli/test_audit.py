"""``batch-quota audit``: recordings as files, and what a deployed auditor found."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from support.recording import G5, QUEUE, Recording, job
from support.stored import Stream, make_table, quiet

from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing, dump_policy

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

POLICY = QuotaPolicy({G5: 1}, (QuotaShare("A", {G5: 1}, ResourceSharing.lend()),))
TABLE = "auditor"
WRONG = "0 a RUNNABLE\n 0 a SCHEDULED\n 3 b SCHEDULED\n 9 b STOPPING cross-share\n 90 a SUCCEEDED"
RIGHT = "0 a RUNNABLE\n 0 a SCHEDULED\n 90 a SUCCEEDED"
DELIVERY = ("--delivery", "complete", "--decision-lag", "0")


def events(script: str) -> list[dict[str, Any]]:
    return Recording(a=job("A"), b=job("A")).script(script)


@pytest.fixture(autouse=True)
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AUDITOR_TABLE", raising=False)
    with moto.mock_aws():
        yield boto3.client("dynamodb")


@pytest.fixture
def deployed(client: Any) -> Callable[[str], None]:
    """Return what lets a deployed auditor judge the events of a script."""

    def judge(script: str) -> None:
        backend = make_table(client, TABLE)
        stream = Stream(events(script), POLICY)
        stream.play(backend, quiet)

    return judge


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(dump_policy(POLICY)))
    return path


def test_reads_a_log_export_packed_with_gzip(run: Run, tmp_path: Path, policy: Path) -> None:
    path = tmp_path / "000000.gz"
    path.write_bytes(gzip.compress("\n".join("2026-03-16T19:57:27Z " + json.dumps(e) for e in events(WRONG)).encode()))
    status, out, _ = run("audit", path, "--policy", policy, *DELIVERY, "--json")
    assert status == 1
    assert {"QM-A03", "QM-A07"} <= {finding["rule"] for finding in json.loads(out)["findings"]}


def test_a_finding_names_the_command_that_shows_it_again(run: Run, tmp_path: Path, policy: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(map(json.dumps, events(WRONG))))
    _, out, _ = run("audit", path, "--policy", policy, *DELIVERY, "--json")
    (finding,) = [finding for finding in json.loads(out)["findings"] if finding["rule"] == "QM-A03"]
    command = finding["replay"].replace("EVENTS", str(path)).replace("POLICY", str(policy))
    status, out, _ = run(*command.split()[1:], "--json")
    assert status == 1
    assert "QM-A03" in {found["rule"] for found in json.loads(out)["findings"]}
    assert json.loads(out)["coverage"]["read"] == len(finding["events"]) < 5


def test_fails_where_no_event_has_the_id(run: Run, tmp_path: Path, policy: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(map(json.dumps, events(WRONG))))
    status, out, err = run("audit", path, "--policy", policy, "--event", "nonsense")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "has none of the events nonsense" in err


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (gzip.compress(b"{}" * 99)[:-5], "gzip data is broken or cut off"),
        (b"\x00\xff" * 99, "none of 1 lines is an EventBridge event"),
    ],
)
def test_fails_on_a_broken_recording(run: Run, tmp_path: Path, policy: Path, data: bytes, says: str) -> None:
    path = tmp_path / "events"
    path.write_bytes(data)
    status, out, err = run("audit", path, "--policy", policy)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert str(path) in err
    assert says in err


def test_tells_what_a_deployed_auditor_found_as_an_audit_of_the_recording_does(
    run: Run, deployed: Callable[[str], None], tmp_path: Path, policy: Path
) -> None:
    deployed(WRONG)
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(map(json.dumps, events(WRONG))))
    status, out, _ = run("audit", "--queue", QUEUE, "--table", TABLE, "--json")
    offline_status, offline_out, _ = run("audit", path, "--policy", policy, *DELIVERY, "--tolerance", "1e6", "--json")
    assert status == offline_status == 1
    live, offline = json.loads(out), json.loads(offline_out)
    assert live["findings"] == offline["findings"]
    assert live["coverage"] == offline["coverage"]
    assert live["rules"] == offline["rules"]
    assert live.keys() == offline.keys()


def test_prints_the_tables_of_an_audit(run: Run, deployed: Callable[[str], None], monkeypatch: Any) -> None:
    deployed(WRONG)
    monkeypatch.setenv("AUDITOR_TABLE", TABLE)
    arn = f"arn:aws:batch:eu-west-1:123456789012:job-queue/{QUEUE}"
    status, out, _ = run("audit", "--queue", arn)
    assert status == 1
    assert "QM-A03 violation: A uses 2 ml.g5.xlarge once b ran" in out
    assert "5 of 5 events used" in out
    assert "decisions judged" in out


def test_a_queue_without_fault_is_fine(run: Run, deployed: Callable[[str], None]) -> None:
    deployed(RIGHT)
    status, out, _ = run("audit", "--queue", QUEUE, "--table", TABLE, "--region", "eu-west-1", "--json")
    assert status == 0
    assert {finding["kind"] for finding in json.loads(out)["findings"]} <= {"note"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--queue", QUEUE, "--table", "nowhere"], "auditor's table 'nowhere'"),
        (["--queue", QUEUE, "--table", TABLE, "--region", "us-east-1"], "auditor's table 'auditor'"),
        (["--queue", "other", "--table", TABLE], f"table 'auditor' has nothing on queue 'other': use {QUEUE}"),
        (["--queue", "new", "--table", "unjudged"], "no judge run ended yet"),
        (["--queue", QUEUE, "--table", "strange"], "auditor's table 'strange'"),
        (["--queue", QUEUE, "--table", TABLE, "--endpoint-url", "nonsense"], "nonsense"),
        (["--queue", QUEUE], "--queue needs --table"),
        (["--queue", QUEUE, "--policy", "p.json"], "leave --policy out"),
        (["events.jsonl", "--queue", QUEUE], "leave EVENTS out"),
        (["--queue", QUEUE, "--lateness", "60", "--event", "x"], "leave --lateness, --event out"),
        (["events.jsonl"], "--policy"),
        ([], "give EVENTS and --policy FILE, or --queue NAME"),
        (["e", "--policy", "p", "--region", "eu-west-1"], "go with --queue"),
    ],
)
def test_fails_with_one_line(
    run: Run, deployed: Callable[[str], None], client: Any, arguments: list[str], says: str
) -> None:
    if "other" in arguments:
        deployed(RIGHT)
    make_table(client, "unjudged").open(quiet).add_event("new", "x", "{}", 0)
    client.create_table(
        TableName="strange",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    status, out, err = run("audit", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
