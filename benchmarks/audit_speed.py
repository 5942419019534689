"""How fast the auditor judges, and how much memory it needs.

``python benchmarks/audit_speed.py [EVENTS]`` audits a recording of so many events (default 200,000)
from a queue with 20 shares, once with 1,000 and once with 100,000 jobs waiting beside them, and
prints the rates and their ratio. The recording is made while it is read, so that the memory is the
auditor's. Seconds are those of the processor.
"""

from __future__ import annotations

import heapq
import json
import random
import re
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support import recording
from support.histories import Writer
from support.recording import G5, stamp

from preemption_auditor import Auditor, AuditSettings, Delivery
from preemption_auditor.instants import parse_time
from quota_scheduler import Job, QuotaPolicy, QuotaShare, ResourceSharing, Scheduler, make_demand

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARES, EACH = 20, 10
BACKLOGS = (1_000, 100_000)
BASE_JOBS = 4_000
MOMENT = re.compile(r'At": (\d+)')


def policy() -> QuotaPolicy:
    sharing = (ResourceSharing.lend_and_borrow(limit_percent=100), ResourceSharing.lend(), ResourceSharing.reserve())
    shares = (QuotaShare(f"S{i}", {G5: EACH}, sharing[i % 3], i % 2 == 0) for i in range(SHARES))
    return QuotaPolicy({G5: SHARES * EACH}, tuple(shares))


def history(jobs: int) -> list[dict[str, Any]]:
    """Return the events of jobs that come about as fast as they can be served, until all have ended."""
    rng = random.Random(1)
    writer = Writer(policy(), Scheduler(policy(), preemption_seconds=20))
    ends: list[tuple[float, int, Job]] = []
    known: set[int] = set()
    for index in range(jobs):
        writer.wait(rng.expovariate(1.0))
        demand = make_demand({G5: rng.choice([1, 1, 1, 2, 4])})
        writer.submit(Job(f"JOB_{index}", f"S{rng.randrange(SHARES)}", demand, rng.randrange(10)))
        end_due(writer, ends, known, rng)
    while writer.scheduler.jobs:
        writer.wait(5.0)
        end_due(writer, ends, known, rng)
    return writer.recording.events


def end_due(writer: Writer, ends: list[tuple[float, int, Job]], known: set[int], rng: random.Random) -> None:
    """End every job whose time has come; give those that are new theirs."""
    for job in writer.holding():
        if job.dispatch_order not in known:
            known.add(job.dispatch_order)
            heapq.heappush(ends, (writer.now + rng.uniform(20, 180), job.dispatch_order, job))
    while ends and ends[0][0] <= writer.now:
        _, order, job = heapq.heappop(ends)
        if job.dispatch_order == order and job.state.holds:
            writer.progress(job)
            writer.finish(job)


def repeated(base: list[dict[str, Any]], count: int) -> Iterator[str]:
    """Yield a history again and again as lines of JSON, each time later and with other jobs."""
    times = [(parse_time(event["time"]) or 0) // 1000 for event in base]
    lines = [json.dumps(event) for event in base]
    span = max(times) + 100
    for index in range(count):
        round_, place = divmod(index, len(base))
        shift = round_ * span
        line = lines[place].replace("JOB_", f"R{round_}_").replace(base[place]["time"], stamp(times[place] + shift))
        yield MOMENT.sub(lambda found, by=shift * 1000: f'At": {int(found[1]) + by}', line)


def backlog(count: int) -> Iterator[dict[str, Any]]:
    """Yield the events of jobs that ask for too much, and wait for ever."""
    record = recording.Recording()
    for index in range(count):
        job = recording.Job(f"S{index % SHARES}", make_demand({G5: 4 * EACH}), 0, created=0.0)
        record.jobs[f"w{index}"] = job
        record.state(0.0, f"w{index}", "RUNNABLE")
        yield record.events.pop()


def audited(base: list[dict[str, Any]], count: int, waiting: int) -> float:
    """Audit a recording and return the events judged a second, once it is under way."""
    auditor = Auditor(policy(), AuditSettings(Delivery.COMPLETE))
    for event in backlog(waiting):
        auditor.feed(event)
    warm = count // 3
    spent = 0.0
    for index, line in enumerate(repeated(base, count + warm)):
        start = time.process_time()
        auditor.feed(line)
        spent += time.process_time() - start if index >= warm else 0
    rate = count / spent
    report = auditor.report()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    coverage = report.coverage
    print(
        f"{waiting:>7} waiting: {coverage.used} events, {coverage.decisions} decisions, {coverage.unknown} unknown, "
        f"{len(report.findings)} findings: {rate:.0f} events/s; peak memory so far {memory:.0f} MiB"
    )
    return rate


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    base = history(BASE_JOBS)
    print(f"{SHARES} shares; a history of {len(base)} events, repeated")
    rates = [audited(base, count, waiting) for waiting in BACKLOGS]
    print(f"rate at {BACKLOGS[0]} waiting jobs / rate at {BACKLOGS[1]}: {rates[0] / rates[1]:.2f}")


if __name__ == "__main__":
    main()
