"""What is DISABLED explains a wait, whether it is known or may be missing; and waits end by the clock, too."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from support.recording import ACCOUNT, G5, QUEUE, REGION, Recording, job

from preemption_auditor import Answer, Auditor, AuditSettings, Delivery, PolicyTimeline, audit
from preemption_auditor.look_ups import look_up_policy
from preemption_auditor.reading import PolicyFound, read_event
from quota_scheduler import QuotaPolicy, QuotaShare, ResourceSharing, dump_policy

BORROW, LEND = ResourceSharing.lend_and_borrow(), ResourceSharing.lend()
POLICY = QuotaPolicy({G5: 2}, (QuotaShare("A", {G5: 1}, BORROW), QuotaShare("B", {G5: 1}, LEND)))
COMPLETE = AuditSettings(Delivery.COMPLETE, decision_lag=0)
JOBS = {"a": job("A"), "b": job("A"), "c": job("B"), "big": job("B", 3)}

WAITS = {
    "QM-A11": "0 a SCHEDULED\n 0 b SCHEDULED\n 5 c RUNNABLE\n 1200 a RUNNING",
    "QM-A12": "0 a RUNNABLE\n 1200 a SCHEDULED",
    "QM-A14": "0 big RUNNABLE\n 1200 a SCHEDULED",
    "QM-D03": "0 a SCHEDULED\n 5 b RUNNABLE\n 1200 a RUNNING",
}
"""A wait of about 20 minutes for each rule that speaks of one."""


def share_arn(name: str) -> str:
    return f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{QUEUE}/quota-share/{name}"


Call = tuple[float, str, dict[str, Any]]


def environment(at: float, state: str, name: str = "own") -> Call:
    return at, "UpdateServiceEnvironment", {"serviceEnvironment": name, "state": state}


def queue(at: float, state: str, name: str = QUEUE) -> Call:
    return at, "UpdateJobQueue", {"jobQueue": name, "state": state}


def look_up(at: float, *, paused: bool, **more: Any) -> Call:
    return at, "", {"paused": paused, **more}


def recorded(script: str, calls: list[Call], policy: QuotaPolicy = POLICY) -> list[dict[str, Any]]:
    recording = Recording(**deepcopy(JOBS))
    for at, name, request in calls:
        if name:
            recording.call(at, name, request)
        else:
            recording.look_up(at, [], {**dump_policy(policy), **request})
    return recording.script(script)


SUBMITTED: Call = (0, "SubmitServiceJob", {"jobQueue": QUEUE})
CREATED: Call = (
    0,
    "CreateJobQueue",
    {"jobQueueName": QUEUE, "serviceEnvironmentOrder": [{"serviceEnvironment": "own"}]},
)
RUNS = Answer.VIOLATION


@pytest.mark.parametrize(
    ("name", "calls", "expected"),
    [
        ("calls are recorded, and none disables anything", [SUBMITTED], RUNS),
        ("nothing tells", [], Answer.UNKNOWN),
        ("the environment is disabled", [environment(1, "DISABLED")], None),
        ("by ARN", [environment(1, "DISABLED", "arn:aws:batch:r:1:service-environment/own"),
                    environment(3, "ENABLED", "other")], None),
        ("for half of the time", [environment(600, "DISABLED"), environment(700, "ENABLED")], None),
        ("for a moment at the beginning", [environment(1, "DISABLED"), environment(9, "ENABLED")], RUNS),
        ("enabled and disabled in one second",
         [environment(1, "ENABLED"), environment(1, "DISABLED")], None),
        ("disabled and enabled in one second",
         [environment(1, "DISABLED"), environment(1, "ENABLED")], None),
        ("disabled in the second of a look-up",
         [look_up(0, paused=False), environment(1, "DISABLED"), look_up(1.1, paused=False)], None),
        ("another is enabled", [environment(1, "DISABLED"), environment(5, "ENABLED", "other")], None),
        ("another is disabled, and may be the queue's", [environment(1, "DISABLED", "other")], None),
        ("another is disabled, and isn't the queue's", [CREATED, environment(1, "DISABLED", "other")], RUNS),
        ("the queue's own is disabled, as is known", [CREATED, environment(1, "DISABLED")], None),
        ("the environment was made disabled",
         [(0, "CreateServiceEnvironment", {"serviceEnvironmentName": "own", "state": "DISABLED"})], None),
        ("the queue is disabled", [queue(1, "DISABLED")], None),
        ("the queue was made disabled", [(0, "CreateJobQueue", {"jobQueueName": QUEUE, "state": "DISABLED"})], None),
        ("another queue is disabled", [SUBMITTED, queue(1, "DISABLED", "other")], RUNS),
        ("a change of something else", [environment(1, "")], RUNS),
        ("look-ups before and after", [look_up(0, paused=False), look_up(1300, paused=False)], RUNS),
        ("look-ups every 5 minutes", [look_up(at, paused=False) for at in range(0, 1500, 300)], RUNS),
        ("a look-up before only", [look_up(0, paused=False)], Answer.UNKNOWN),
        ("a look-up after only", [look_up(1300, paused=False)], Answer.UNKNOWN),
        ("look-ups that don't tell", [(0, "", {}), (1300, "", {})], Answer.UNKNOWN),
        ("a look-up finds it disabled",
         [look_up(0, paused=False), look_up(600, paused=True), look_up(1300, paused=False)], None),
        ("a look-up finds it enabled again",
         [environment(1, "DISABLED"), look_up(20, paused=False), look_up(1300, paused=False)], RUNS),
        ("a look-up tells the environment's name",
         [look_up(0, paused=False, serviceEnvironments=["own"]), environment(1, "DISABLED", "other")], RUNS),
    ],
)  # fmt: skip
@pytest.mark.parametrize("rule", WAITS)
def test_a_wait(rule: str, name: str, calls: list[Call], expected: Answer | None) -> None:
    """None is for no answer at all, or pass: nothing waited for what it could have."""
    if expected is RUNS and rule == "QM-D03":
        expected = Answer.DIVERGENCE
    answers = audit(recorded(WAITS[rule], calls), POLICY, COMPLETE).answers.get(rule, {})
    assert set(answers) - {Answer.PASS} == ({expected} if expected else set()), name


@pytest.mark.parametrize("rule", ["QM-A11", "QM-A12", "QM-D03"])
def test_a_job_of_a_disabled_share_may_wait(rule: str) -> None:
    name = "B" if rule == "QM-A11" else "A"
    calls: list[Call] = [(1, "UpdateQuotaShare", {"quotaShareArn": share_arn(name), "state": "DISABLED"})]
    assert not audit(recorded(WAITS[rule], calls), POLICY, COMPLETE).findings
    back: list[Call] = [*calls, (9, "UpdateQuotaShare", {"quotaShareArn": share_arn(name), "state": "ENABLED"})]
    assert {f.rule for f in audit(recorded(WAITS[rule], back), POLICY, COMPLETE).findings} == {rule}


def test_a_version_of_the_policy_that_no_event_falls_into_counts() -> None:
    disabled = replace(POLICY, shares=(replace(POLICY.shares[0], enabled=False), POLICY.shares[1]))
    events = recorded(WAITS["QM-A12"], [SUBMITTED])
    for versions, expected in (
        ([(0, POLICY)], {"QM-A12"}),
        ([(0, POLICY), (500, disabled), (600, POLICY)], set()),
        ([(0, POLICY), (100, disabled), (101, POLICY)], {"QM-A12"}),
    ):
        assert {finding.rule for finding in audit(events, PolicyTimeline(versions), COMPLETE).findings} == expected


def lowered(environment: str) -> Call:
    limits = [{"capacityUnit": G5, "maxCapacity": 1}]
    return 50, "UpdateServiceEnvironment", {"serviceEnvironment": environment, "capacityLimits": limits}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([CREATED, lowered("own")], {"QM-A02"}),
        ([CREATED, lowered("other")], set()),
        ([lowered("perhaps")], set()),
        ([look_up(0, paused=False, serviceEnvironments=["own"]), lowered("own")], {"QM-A02"}),
    ],
)
def test_the_capacity_of_another_environment_convicts_nobody(calls: list[Call], expected: set[str]) -> None:
    events = recorded("0 a SCHEDULED\n 100 c SCHEDULED\n 200 c RUNNING", calls)
    assert {finding.rule for finding in audit(events, POLICY, COMPLETE).findings} - {"QM-A15"} == expected


def test_a_wait_that_an_edit_of_the_policy_begins() -> None:
    """Nothing but the call happens: the job waits for a limit that is too small, and then isn't."""
    small = POLICY.with_share(QuotaShare("A", {G5: 1}, LEND))
    jobs = {"a": job("A", 2), "c": job("B")}
    for last in ("1200 a SCHEDULED", "1200 c RUNNABLE"):
        recording = Recording(**deepcopy(jobs))
        limits = [{"capacityUnit": G5, "maxCapacity": 2}]
        recording.call(100, "UpdateQuotaShare", {"quotaShareArn": share_arn("A"), "capacityLimits": limits})
        found = audit(recording.script(f"0 a RUNNABLE\n {last}"), small, COMPLETE).findings
        assert [(finding.rule, finding.jobs) for finding in found] == [("QM-A12", ("a",))]


@pytest.mark.parametrize("every", [60, 400, 5000])
def test_in_a_stream_a_wait_ends_by_the_clock(every: int) -> None:
    """However often it is judged, and with nothing else happening, the finding is the same."""
    auditor = Auditor(POLICY, COMPLETE, batch=10**9, reach=3600)
    for event in recorded("0 a RUNNABLE", [SUBMITTED]):
        auditor.feed(event)
    found = [finding for now in range(every, 20_001, every) for finding in auditor.publish(now)]
    assert [(finding.rule, finding.jobs, finding.revision) for finding in found] == [("QM-A12", ("a",), 0)]
    assert "waited 900 s" in found[0].seen


def test_in_a_stream_a_wait_that_ends_in_time_is_no_finding() -> None:
    auditor = Auditor(POLICY, COMPLETE, batch=10**9, reach=3600)
    for event in recorded("0 a RUNNABLE\n 899 a SCHEDULED\n 990 a SUCCEEDED", [SUBMITTED]):
        auditor.feed(event)
    assert not [finding for now in range(60, 20_001, 60) for finding in auditor.publish(now)]


def test_the_end_of_a_recording_ends_no_wait() -> None:
    assert not audit(recorded("0 a RUNNABLE\n 899 c SCHEDULED", [SUBMITTED]), POLICY, COMPLETE).findings


@pytest.mark.parametrize("disabled", ["", "environment", "queue"])
def test_a_look_up_tells_what_is_disabled(disabled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    from local.world import LEND as LENDS
    from local.world import World, limits

    from constructs_qm.local import Settings, mock_quota_management

    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_quota_management(settings=Settings(running_seconds=None)) as endpoint:
        world = World(endpoint)
        world.make_queue(limits(g5=2))
        world.make_share("A", limits(g5=1), LENDS)
        world.advance(100)
        batch = boto3.client("batch")
        (name,) = [one["jobQueueName"] for one in batch.describe_job_queues()["jobQueues"]]
        (own,) = [one["serviceEnvironmentName"] for one in batch.describe_service_environments()["serviceEnvironments"]]
        if disabled == "environment":
            batch.update_service_environment(serviceEnvironment=own, state="DISABLED")
        elif disabled == "queue":
            batch.update_job_queue(jobQueue=name, state="DISABLED")
        event = look_up_policy(batch, name, 1_000)
    assert event is not None
    (found,) = read_event(event)
    assert isinstance(found, PolicyFound)
    assert (found.paused, found.environments) == (bool(disabled), (own,))
