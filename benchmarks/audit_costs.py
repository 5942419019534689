"""What a deployed auditor asks of DynamoDB, counted in the units it is billed by.

``python benchmarks/audit_costs.py [JOBS]`` lets the events of so many jobs (default 400) come in as time passes, and
the judge run every 5 minutes, on the store and table that are deployed, and prints the units of ingest and judge.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.counting import Counting

from benchmarks.audit_speed import history, policy
from preemption_auditor import AuditSettings
from preemption_auditor.ingest import ingest
from preemption_auditor.instants import parse_time
from preemption_auditor.live import judge_queue
from preemption_auditor.stores.dynamodb import DynamoDBStore

MINUTE = 60_000
TABLE = "auditor"


@dataclass(frozen=True)
class Costs:
    """Read and write units, and what they were for."""

    jobs: int
    events: int
    runs: int
    ingest_reads: int
    ingest_writes: int
    judge_reads: int
    judge_writes: int
    state: int
    """Bytes of the judge's state in the end."""


def make_table(client: Any) -> None:
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )


def measure(client: Any, jobs: int, minutes: int = 5) -> Costs:
    """Let a history come in through one ingest instance, and judge it every so many minutes."""
    ingesting, judging = Counting(client), Counting(client)
    ingest_store, judge_store = DynamoDBStore(ingesting, TABLE), DynamoDBStore(judging, TABLE)
    judging._sizes = ingesting._sizes  # one table
    events = history(jobs)
    due, runs, queue = 0, 0, ""

    def judge(now: int) -> None:
        judge_queue(judge_store, queue, f"run-{runs}", now, policy(), AuditSettings())

    for event in events:
        now = parse_time(event["time"])
        assert now is not None
        due = due or now + minutes * MINUTE
        while now >= due:
            judge(due)
            due, runs = due + minutes * MINUTE, runs + 1
        stored = ingest(event, ingest_store, now)
        queue = stored[0] if stored else queue
    judge(due)
    head = judge_store.lease(queue, "reader", due + 1, 1)
    assert head is not None
    return Costs(
        jobs=jobs,
        events=len(events),
        runs=runs + 1,
        ingest_reads=ingesting.reads,
        ingest_writes=ingesting.writes,
        judge_reads=judging.reads,
        judge_writes=judging.writes,
        state=len(head.state or b""),
    )


def main(arguments: list[str]) -> None:
    import boto3
    import moto

    os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")
    with moto.mock_aws():
        client = boto3.client("dynamodb")
        make_table(client)
        costs = measure(client, int(arguments[0]) if arguments else 400)
    each = costs.events
    print(f"{costs.events} events of {costs.jobs} jobs, {costs.events / costs.jobs:.1f} each; {costs.runs} runs")
    print(f"ingest: {costs.ingest_writes / each:.2f} writes, {costs.ingest_reads / each:.2f} reads an event")
    print(f"judge:  {costs.judge_writes / costs.runs:.1f} writes, {costs.judge_reads / costs.runs:.1f} reads a run")
    print(f"state:  {costs.state / 1000:.1f} KB in the end")


if __name__ == "__main__":
    main(sys.argv[1:])
