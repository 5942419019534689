"""Recordings as people have them: archives, log exports and what the AWS CLI prints, whole and broken."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from support.recording import G5, Recording, job

from preemption_auditor import AuditorError, AuditSettings, Delivery, audit
from preemption_auditor.recordings import open_recording
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = QuotaPolicy({G5: 1}, (QuotaShare("A", {G5: 1}, ResourceSharing.lend()),))
COMPLETE = AuditSettings(Delivery.COMPLETE, decision_lag=0)
EVENTS = Recording(a=job("A"), b=job("A")).script("0 a SCHEDULED\n 3 b SCHEDULED\n 9 b STOPPING cross-share")
LINES = [json.dumps(event) for event in EVENTS]
STAMP = "2026-03-16T19:57:27.123Z "


def replayed() -> str:
    """An EventBridge archive's replay marks its events; the rule that records them writes lines as before."""
    return "\n".join(json.dumps({**event, "replay-name": "march", "resources": []}) for event in EVENTS)


def record(line: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": 1773691047123, "message": line, **more}


def subscription(lines: list[str]) -> str:
    """What a CloudWatch Logs subscription sends."""
    common = {"messageType": "DATA_MESSAGE", "owner": "123456789012", "logGroup": "/events", "logStream": "s"}
    return json.dumps({**common, "logEvents": [record(line, id=str(at)) for at, line in enumerate(lines)]})


FORMS: dict[str, str] = {
    "JSON lines": "\n".join(LINES),
    "JSON lines with blank ones": "\n\n  \n" + "\n\n".join(LINES) + "\n",
    "lines that end as on Windows, after a mark": "\ufeff" + "\r\n".join(LINES) + "\r\n",
    "a replayed archive": replayed(),
    "a log export": "\n".join(STAMP + line for line in LINES),
    "filter-log-events": json.dumps({"events": [record(line) for line in LINES], "searchedLogStreams": []}, indent=4),
    "get-log-events, one line": json.dumps({"events": [record(line) for line in LINES], "nextForwardToken": "f/1"}),
    "records, a line each": "\n".join(json.dumps(record(line)) for line in LINES),
    "records that hold objects": "\n".join(json.dumps({"message": event}) for event in EVENTS),
    "a subscription's messages": subscription(LINES[:1]) + "\n" + subscription(LINES[1:]),
    "a subscription's messages from Firehose": subscription(LINES[:1]) + subscription(LINES[1:]),
    "events with nothing between them": "".join(LINES),
    "a list": json.dumps(EVENTS),
    "a list over several lines": json.dumps(EVENTS, indent=2),
    "one event over several lines, and a list of it": json.dumps({"events": EVENTS}, indent=1),
}


def read(data: bytes) -> Any:
    return audit(open_recording(io.BytesIO(data)), POLICY, COMPLETE)


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])]
)
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_reads_a_recording(text: str, pack: Callable[[bytes], bytes]) -> None:
    report = read(pack(text.encode()))
    expected = audit(EVENTS, POLICY, COMPLETE)
    assert report.findings == expected.findings
    assert report.coverage == expected.coverage
    assert {"QM-A03", "QM-A07"} <= {finding.rule for finding in report.findings}


WHOLE = "\n".join(LINES)


@pytest.mark.parametrize(
    ("text", "used", "unreadable"),
    [
        ("", 0, 0),
        ("\n\n", 0, 0),
        (WHOLE[:-30], len(LINES) - 1, 1),
        (WHOLE + "\n" + STAMP, len(LINES), 1),
        (WHOLE + "\nCWL CONTROL MESSAGE: Checking health of destination", len(LINES), 1),
        ("".join(LINES) + '{"id": ', 0, 1),
        (json.dumps([*EVENTS, 3, "x", None, []]), len(LINES), 4),
        (json.dumps({"events": [*EVENTS, 3, None]}, indent=2), len(LINES), 2),
        (json.dumps(EVENTS, indent=2)[:-20], 0, None),
        ('{\n"events": 3\n}', 0, 1),
        ("[", 0, 1),
        ("{", 0, 1),
        ("[" * 100_000, 0, 1),
        ('{"message": ' * 50_000, 0, 1),
        ('{"message": ' * 900 + "1" + "}" * 900, 0, 1),
        ('{"events": [' * 900 + "1" + "]}" * 900, 0, 1),
        ("\x00\x01", 0, 1),
    ],
)
def test_counts_what_it_cannot_read(text: str, used: int, unreadable: int | None) -> None:
    coverage = read(text.encode()).coverage
    assert coverage.used == used
    assert coverage.unreadable == unreadable or (unreadable is None and coverage.unreadable > 0)
    assert coverage.read == coverage.used + coverage.unreadable


PACKED = gzip.compress(WHOLE.encode() * 50)


@pytest.mark.parametrize(
    "data",
    [
        PACKED[:-9],
        PACKED[: len(PACKED) // 2],
        PACKED[:3],
        PACKED[:40] + b"\xff" * 40 + PACKED[80:],
        PACKED + PACKED[:20],
    ],
)
def test_fails_on_gzip_data_that_is_broken(data: bytes) -> None:
    with pytest.raises(AuditorError, match="gzip data is broken or cut off"):
        read(data)
