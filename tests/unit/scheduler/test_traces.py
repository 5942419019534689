"""Traces: every dirty row is mended or left out by a stated rule, and counted by reason."""

from __future__ import annotations

import pytest

from quota_scheduler import DocumentError
from quota_scheduler.traces import TraceReading, read_csv, read_swf
from quota_scheduler.workload import RowReport, Workload, WorkloadJob, hashed_priority

G5 = "ml.g5.xlarge"
P4 = "ml.p4d.24xlarge"
READING = TraceReading(G5, frozenset({"A", "B"}), {"7": "B", "x": "A"})
HEADER = "job_id,submit_s,duration_s,gpus,team,priority,status"


def read(*rows: str, header: str = HEADER) -> Workload:
    return read_csv([header, *rows], READING)


def test_rows_become_jobs() -> None:
    workload = read("j1,5,60.5,2,A,,Running", "j2,6,0,1,x,7,")
    assert workload.jobs == [
        WorkloadJob("j1", "A", 5, 60.5, ((G5, 2),)),
        WorkloadJob("j2", "A", 6, 0, ((G5, 1),), priority=7),
    ]
    assert workload.rows == RowReport(read=2, used=2)


def test_the_richer_form() -> None:
    header = "team, job_id ,submit_s,duration_s,demand,priority,preemption_retries,comment"
    row = f"B, j ,1,2, {P4} = 1;{G5}=3; ,9,0,anything"
    assert read(row, header=header).jobs == [WorkloadJob("j", "B", 1, 2, ((G5, 3), (P4, 1)), 9, 0)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",1,2,1,A,,", "no job id"),
        ("j,1,2,1,C,,", "team without a share"),
        ("j,1,2,1,,,", "team without a share"),
        ("j,,2,1,A,,", "submit time is no number"),
        ("j,nan,2,1,A,,", "submit time is no number"),
        ("j,1,-1,1,A,,", "duration unknown (negative)"),
        ("j,1,,1,A,,", "duration is no number"),
        ("j,1,inf,1,A,,", "duration is no number"),
        ("j,1,2,0,A,,", "no gpus"),
        ("j,1,2,-3,A,,", "no gpus"),
        ("j,1,2,,A,,", "gpus is no number"),
        ("j,1,2,many,A,,", "gpus is no number"),
        ("j,1", "team without a share"),
    ],
)
def test_a_row_that_cannot_be_used_is_counted_with_its_reason(row: str, reason: str) -> None:
    workload = read("good,1,2,1,A,,", row)
    assert [job.id for job in workload.jobs] == ["good"]
    assert workload.rows == RowReport(read=2, used=1, skipped={reason: 1})


@pytest.mark.parametrize(
    ("row", "job", "reason"),
    [
        ("j,1,2,0.46,A,,", WorkloadJob("j", "A", 1, 2, ((G5, 1),)), "fraction of a gpu: rounded up"),
        ("j,1,2,2.01,A,,", WorkloadJob("j", "A", 1, 2, ((G5, 3),)), "fraction of a gpu: rounded up"),
        ("j,1,2,1,A,LS,", WorkloadJob("j", "A", 1, 2, ((G5, 1),)), "priority is no number: left out"),
        ("j,1,2,1,A,-4,", WorkloadJob("j", "A", 1, 2, ((G5, 1),), 0), "priority outside 0 to 9999: nearest taken"),
        (
            "j,1,2,1,A,10000,",
            WorkloadJob("j", "A", 1, 2, ((G5, 1),), 9999),
            "priority outside 0 to 9999: nearest taken",
        ),
        ("good,1,2,1,A,,", WorkloadJob("good#2", "A", 1, 2, ((G5, 1),)), "job id given before: numbered"),
        ("j,0.5,2,1,A,,", WorkloadJob("j", "A", 0.5, 2, ((G5, 1),)), "not in order of submission: sorted"),
    ],
)
def test_a_row_that_is_mended_is_counted_with_its_reason(row: str, job: WorkloadJob, reason: str) -> None:
    workload = read("good,1,2,1,A,,", row)
    assert job in workload.jobs
    assert workload.rows == RowReport(read=2, used=2, fixed=1, fixed_reasons={reason: 1})


def test_a_row_counts_once_however_often_it_is_mended_and_not_if_it_is_left_out() -> None:
    header = HEADER + ",preemption_retries"
    rows = read("j,1,2,0.5,A,LS,,", "k,1,2,0.5,A,,,x", header=header).rows
    assert (rows.used, rows.fixed, rows.skipped) == (1, 1, {"preemption retries unreadable": 1})
    assert rows.fixed_reasons == {"fraction of a gpu: rounded up": 1, "priority is no number: left out": 1}


@pytest.mark.parametrize("demand", ["ml.g5.xlarge", "ml.g5.xlarge=0", "ml.g5.xlarge=1.5", "=", ";"])
def test_a_demand_that_cannot_be_read(demand: str) -> None:
    workload = read(f"j,1,2,A,{demand}", header="job_id,submit_s,duration_s,team,demand")
    assert workload.rows.skipped == {"demand unreadable": 1}


def test_unsorted_rows_are_sorted_and_equal_times_keep_their_order() -> None:
    workload = read("c,9,1,1,A,,", "a,1,1,1,A,,", "b,1,1,1,A,,", "d,9,1,1,A,,")
    assert [job.id for job in workload.jobs] == ["a", "b", "c", "d"]
    assert (workload.rows.fixed, dict(workload.rows.fixed_reasons)) == (2, {"not in order of submission: sorted": 2})


def test_the_account_of_rows_adds_up() -> None:
    document = read("a,9,1,1,A,,", "b,1,1,0.5,A,x,", "c,1,1,0,A,,", "d,1,-1,1,A,,", "e,1,-1,1,A,,").rows.to_document()
    assert document == {
        "read": 5,
        "used": 2,
        "fixed": 1,
        "fixed_reasons": {
            "fraction of a gpu: rounded up": 1,
            "not in order of submission: sorted": 1,
            "priority is no number: left out": 1,
        },
        "skipped": {"duration unknown (negative)": 2, "no gpus": 1},
    }
    assert document["read"] == document["used"] + sum(document["skipped"].values())


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "trace has no column 'job_id'"),
        (["job_id,submit_s,duration_s,gpus"], "trace has no column 'team'"),
        (["job_id,submit_s,duration_s,team"], "trace has no column 'gpus'"),
        ([HEADER, "j,1,2,1,A,," + "x" * 200_000], "after line 1: not CSV: field larger than field limit"),
    ],
)
def test_fails_for_a_trace_of_another_form(lines: list[str], says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        read_csv(lines, READING)


def test_fails_where_nobody_says_what_gpus_are() -> None:
    reading = TraceReading(None, frozenset({"A"}))
    with pytest.raises(DocumentError, match="several capacity units: name the one it counts"):
        read_csv([HEADER, "j,1,2,1,A,,"], reading)
    rich = read_csv(["job_id,submit_s,duration_s,team,demand", f"j,1,2,A,{G5}=1"], reading)
    assert rich.rows.used == 1


def swf(**given: object) -> str:
    """Return a line of 18 fields; those not given are unknown (-1)."""
    places = {"job": 0, "submit": 1, "run": 3, "allocated": 4, "requested": 7, "group": 12, "queue": 14}
    fields = ["-1"] * 18
    for name, value in given.items():
        fields[places[name]] = str(value)
    return "  ".join(fields)


def test_standard_workload_format() -> None:
    lines = [
        "; UnixStartTime: 0",
        "",
        swf(job=1, submit=0, run=10, allocated=3, requested=4, group=9, queue=7),
        swf(job=2, submit=1, run=10, allocated=3, group=7),
        swf(job=3, submit=2, run=-1, requested=4, queue=7),
        swf(job=4, submit=3, run=10, queue=7),
        swf(job=5, submit=3, run=10, requested=1, queue=8),
        "6 4 -1",
    ]
    workload = read_swf(lines, READING)
    assert workload.jobs == [
        WorkloadJob("1", "B", 0, 10, ((G5, 4),)),
        WorkloadJob("2", "B", 1, 10, ((G5, 3),)),
    ]
    assert workload.rows.read == 6
    assert workload.rows.skipped == {
        "duration unknown (negative)": 1,
        "no gpus": 1,
        "team without a share": 1,
        "fewer than 18 fields": 1,
    }


def test_hashed_priorities_depend_on_seed_and_job_only_and_spread_evenly() -> None:
    jobs = [WorkloadJob(f"j{index}", "A", index, 1, ((G5, 1),), 42) for index in range(3000)]
    first = Workload(jobs, RowReport()).with_hashed_priorities(3, seed=1).jobs
    again = Workload(jobs[::-1], RowReport()).with_hashed_priorities(3, seed=1).jobs
    other = Workload(jobs, RowReport()).with_hashed_priorities(3, seed=2).jobs
    assert first == again[::-1]
    assert first != other
    counts = [sum(job.priority == level for job in first) for level in range(3)]
    assert sum(counts) == 3000
    assert min(counts) > 900
    assert hashed_priority("j0", 10_000, 0) == 2082, "the same on every machine and in every version"


def test_one_level_is_one_priority() -> None:
    assert {hashed_priority(f"j{index}", 1, 0) for index in range(20)} == {0}


@pytest.mark.parametrize("levels", [0, 10_001])
def test_fails_for_too_few_or_many_priority_levels(levels: int) -> None:
    with pytest.raises(ValueError, match="priority levels are not allowed: use 1 to 10000"):
        hashed_priority("j", levels, 0)
