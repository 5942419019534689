"""Drawn workloads: the same for the same seed, and distributed as described."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import fmean, median

import pytest

from quota_scheduler import DocumentError
from quota_scheduler.workload_generator import ShareLoad, generate, load_share_loads

G5 = "ml.g5.xlarge"
LOADS = [ShareLoad("A", G5, 10), ShareLoad("B", G5, 20, "bursts"), ShareLoad("C", G5, 100, "regular")]


def test_the_same_seed_gives_the_same_jobs_and_another_one_others() -> None:
    assert generate(LOADS, 500, 7).jobs == generate(LOADS, 500, 7).jobs
    assert generate(LOADS, 500, 7).jobs != generate(LOADS, 500, 8).jobs


def test_a_share_draws_the_same_whatever_the_others_do() -> None:
    alone = generate(LOADS[:1], 50, 7).jobs
    together = [job for job in generate(LOADS, 500, 7).jobs if job.share == "A"]
    assert together[:50] == alone


def test_jobs_come_in_order_and_all_are_accounted_for() -> None:
    workload = generate(LOADS, 500, 7)
    times = [job.submit for job in workload.jobs]
    assert times == sorted(times)
    assert (workload.rows.read, workload.rows.used, workload.rows.fixed) == (500, 500, 0)
    assert len({job.id for job in workload.jobs}) == 500


def test_regular_arrivals_come_at_equal_distances() -> None:
    assert [job.submit for job in generate([ShareLoad("A", G5, 5, "regular")], 3, 0).jobs] == [5, 10, 15]


def test_unless_told_otherwise_jobs_are_alike_but_for_their_durations() -> None:
    jobs = generate([ShareLoad("A", G5, 5)], 3000, 0).jobs
    assert {(job.share, job.demand, job.priority) for job in jobs} == {("A", ((G5, 1),), 0)}
    assert median(job.duration for job in jobs) == pytest.approx(3600, rel=0.06)


def test_bursts_are_ten_at_once_and_keep_the_mean() -> None:
    jobs = generate([ShareLoad("A", G5, 5, "bursts")], 4000, 0).jobs
    assert set(Counter(job.submit for job in jobs).values()) == {10}
    assert jobs[-1].submit / 4000 == pytest.approx(5, rel=0.15)


def test_what_is_drawn_has_the_shape_described() -> None:
    load = ShareLoad("A", G5, 3, instances={1: 1, 8: 3}, median_s=100, spread=0.5, priorities={0: 9, 5: 1})
    jobs = generate([load], 5000, 1).jobs
    gaps = [after.submit - before.submit for before, after in pairwise(jobs)]
    assert fmean(gaps) == pytest.approx(3, rel=0.1)
    assert median(job.duration for job in jobs) == pytest.approx(100, rel=0.05)
    sizes = Counter(job.demand[0][1] for job in jobs)
    assert sizes[8] / 5000 == pytest.approx(0.75, abs=0.03)
    assert Counter(job.priority for job in jobs)[5] / 5000 == pytest.approx(0.1, abs=0.02)


def test_a_document_has_the_fields_of_a_load() -> None:
    document = {
        "jobs": 9,
        "shares": [
            {"share": "A", "interarrival_s": 5, "instances": {"2": 1, 4: 0.5}, "priorities": {"9": 1}},
            {"share": "B", "interarrival_s": 5, "unit": "ml.p4d.24xlarge", "arrivals": "regular", "spread": 0},
        ],
    }
    loads, jobs = load_share_loads(document, G5)
    assert jobs == 9
    assert loads[0] == ShareLoad("A", G5, 5, instances={2: 1.0, 4: 0.5}, priorities={9: 1.0})
    assert (loads[1].unit, loads[1].arrivals, loads[1].spread) == ("ml.p4d.24xlarge", "regular", 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"jobs": 0}, "workload.jobs is 0: use a whole number of at least 1"),
        ({"jobs": True}, "workload.jobs is True"),
        ({"shares": []}, "workload.shares: give a list"),
        ({"shares": ["A"]}, r"workload.shares\[0\] is str"),
        ({"shares": [{"share": "A"}]}, r"workload.shares\[0\] has no 'interarrival_s'"),
        ({"share": {"size": 1}}, "has unknown key 'size'"),
        ({"share": {"interarrival_s": 0}}, "interarrival_s is 0: use a number of at least 1e-09"),
        ({"share": {"median_s": "long"}}, "median_s is 'long'"),
        ({"share": {"spread": -1}}, "spread is -1"),
        ({"share": {"arrivals": "daily"}}, "arrivals is 'daily': use one of poisson, regular, bursts"),
        ({"share": {"instances": {0: 1}}}, "instances has key 0: use whole numbers from 1"),
        ({"share": {"instances": {}}}, "instances: give an object"),
        ({"share": {"priorities": {10_000: 1}}}, "priorities has key 10000"),
        ({"share": {"priorities": {1: 0}}}, "priorities: give at least one weight above 0"),
        ({"share": {"priorities": {1: -1}}}, "priorities.1 is -1"),
    ],
)
def test_fails_for_a_malformed_document(change: dict[str, object], says: str) -> None:
    share = {"share": "A", "interarrival_s": 5, **change.pop("share", {})}  # type: ignore[dict-item]
    with pytest.raises(DocumentError, match=says):
        load_share_loads({"jobs": 1, "shares": [share], **change}, G5)


def test_fails_where_there_are_several_units_and_none_is_named() -> None:
    document = {"jobs": 1, "shares": [{"share": "A", "interarrival_s": 5}]}
    with pytest.raises(DocumentError, match="has no 'unit'"):
        load_share_loads(document, None)
