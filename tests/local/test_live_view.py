"""What answers for the live view: its files, the state it shows, the operations it offers, and whom it refuses."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import pytest
from local.world import G5, P4, RESERVE, World, borrow, limits, payload

from constructs_qm.local import Rogue, Settings, SteppedClock
from constructs_qm.local.live_view import routes
from constructs_qm.local.live_view.queue_audits import QueueAudits
from constructs_qm.local.server import start
from preemption_auditor import AuditSettings, Delivery, audit
from quota_scheduler import QuotaPolicy

JSON_TYPE = "application/json"
QUEUE = "arn:aws:batch:us-east-1:123456789012:job-queue/queue"


def send(world: World, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
    assert world.url is not None
    connection = http.client.HTTPConnection(world.url.removeprefix("http://"), timeout=10)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), answer


def state(world: World, queue: str = "") -> dict[str, Any]:
    status, _, body = send(world, "GET", f"/_quota/state?queue={queue}")
    assert status == 200, body
    document: dict[str, Any] = json.loads(body, parse_constant=pytest.fail)  # a browser doesn't read Infinity
    return document


def shown(world: World, queue: str = "") -> dict[str, Any]:
    queue_shown: dict[str, Any] = state(world, queue)["queue"]
    return queue_shown


def operate(world: World, operation: str, request: Any, **more: Any) -> tuple[int, dict[str, Any]]:
    document = {"queue": QUEUE, "operation": operation, "request": request, **more}
    status, _, body = send(world, "POST", "/_quota/operations", json.dumps(document).encode(), Content_Type=JSON_TYPE)
    return status, json.loads(body)


def submission(name: str = "job", share: str = "QS1", **more: Any) -> dict[str, Any]:
    return {
        "jobName": name,
        "jobQueue": "queue",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": payload(1),
        "quotaShareName": share,
        **more,
    }


@pytest.fixture
def article(served: World) -> World:
    """The launch article's queue after its second step: q2 waits for med to stop."""
    served.endpoint.change_settings(running_seconds=None)
    served.make_article_queue()
    for name, priority in (("high", 3), ("med", 2), ("low", 1)):
        served.submit(name, "QS1", priority)
    served.advance(60)
    served.submit("q2", "QS2")
    served.advance(10)
    return served


# -- the page -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/_quota", "text/html"),
        ("/_quota/", "text/html"),
        ("/_quota/live-view.js", "text/javascript"),
        ("/_quota/live-view.css", "text/css"),
    ],
)
def test_files_are_served_and_need_nothing_from_elsewhere(served: World, path: str, kind: str) -> None:
    status, headers, body = send(served, "GET", path)
    assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert not re.search(rb"https?://|@import|innerHTML|insertAdjacentHTML|document\.write", body)
    assert send(served, "HEAD", path)[::2] == (200, b"")


def test_every_file_the_page_names_is_there(served: World) -> None:
    page = send(served, "GET", "/_quota")[2].decode()
    named = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert len(named) == 2
    assert [send(served, "GET", path)[0] for path in named] == [200, 200]


# -- the state ----------------------------------------------------------------------------


def test_a_queue_without_shares(served: World) -> None:
    served.make_queue(limits(g5=3))
    assert shown(served)["units"] == [{"unit": G5, "capacity": 3, "use": 0, "borrowed": 0, "lendable": 0}]
    snapshot = served.batch.get_job_queue_snapshot(jobQueue="queue")["queueUtilization"]
    assert snapshot["totalCapacityUsage"] == [{"capacityUnit": G5, "quantity": 0.0}]


def test_without_a_queue(served: World) -> None:
    document = state(served)
    assert (document["queues"], document["queue"]) == ([], None)
    assert document["clock"] == {"now": served.endpoint.clock.now(), "stepped": True, "speed": 0.0}


def test_how_shares_stand(article: World) -> None:
    standings = {
        share["name"]: [
            tuple(line[key] for key in ("use", "limit", "ceiling", "borrowed", "idle", "lends", "lent"))
            for line in share["standings"]
        ]
        for share in shown(article)["shares"]
    }
    assert standings == {
        "QS1": [(2, 1, 3, 1, 0, True, 0)],
        "QS2": [(0, 1, 1, 0, 1, True, 1)],
        "QS3": [(0, 1, 1, 0, 1, False, 0)],
    }
    assert shown(article)["units"] == [{"unit": G5, "capacity": 3, "use": 2, "borrowed": 1, "lendable": 1}]


def test_jobs_that_run_and_wait_and_why(article: World) -> None:
    article.submit("new", "QS3", 7)
    queue = shown(article)
    running = {job["name"]: (job["status"], job["stopping"], job["priority"]) for job in queue["running"]}
    assert running == {"high": ("RUNNING", None, 3), "med": ("RUNNING", "cross-share", 2)}
    assert [(job["name"], job["status"]) for job in queue["submitted"]] == [("new", "SUBMITTED")]
    fronts = {share["name"]: [job["name"] for job in share["front"]] for share in queue["shares"]}
    assert fronts == {"QS1": ["low"], "QS2": ["q2"], "QS3": []}
    why = {share["name"]: share["why"] for share in queue["shares"]}
    assert why["QS2"] == ["It waits for med to stop, preempted for its share."]
    assert "Share QS1 uses 2 of its limit of 1 ml.g5.xlarge" in why["QS1"][0]
    assert "of med (1), high (1)" in why["QS1"][0], "names stand for ids"


def test_a_borrow_limit_that_is_unlimited(served: World) -> None:
    served.make_queue()
    served.make_share("s", sharing=borrow())
    assert shown(served)["shares"][0]["standings"][0]["ceiling"] is None


def test_a_share_that_is_being_created_and_an_environment_that_is_disabled(served: World) -> None:
    served.make_queue()
    assert shown(served)["paused"] is False
    served.endpoint.change_settings(transition_seconds=10)
    served.make_share("s")
    served.batch.update_service_environment(serviceEnvironment="queue-environment", state="DISABLED")
    queue = shown(served)
    assert (queue["paused"], [(share["name"], share["status"]) for share in queue["shares"]]) == (
        True,
        [("s", "CREATING")],
    )
    served.advance(10)
    served.submit("waits", "s")
    served.advance(10)
    assert shown(served)["shares"][0]["why"] == ["The service environment is DISABLED, so nothing is dispatched."]


def test_lists_are_bounded_and_counts_are_not(served: World) -> None:
    served.make_queue(limits(g5=60))
    served.make_share("s", limits(g5=60))
    for number in range(120):
        served.submit(f"job-{number}", "s", number)
    assert (len(shown(served)["submitted"]), shown(served)["submittedCount"]) == (5, 120)
    served.advance(60)
    queue = shown(served)
    assert (len(queue["running"]), queue["runningCount"]) == (50, 60)
    [share] = queue["shares"]
    assert share["waitingCount"] == 60
    assert [job["name"] for job in share["front"]] == [f"job-{number}" for number in range(59, 54, -1)]


def test_queues_of_several_regions(served: World) -> None:
    served.make_article_queue()
    other = World(served.endpoint, served.url)
    other.batch = other.client("batch", region="eu-west-1")
    other.make_queue(limits(p4=2))
    other.make_share("far", limits(p4=2))
    other.submit("there", "far", demand={P4: 1})
    served.advance(60)
    queues = state(served)["queues"]
    assert [(queue["name"], queue["region"]) for queue in queues] == [("queue", "eu-west-1"), ("queue", "us-east-1")]
    far, near = (shown(served, queue["arn"]) for queue in queues)
    assert [job["name"] for job in far["running"]] == ["there"]
    assert [share["name"] for share in near["shares"]] == ["QS1", "QS2", "QS3"]
    assert (far["audit"]["decisions"], near["audit"]["decisions"]) == (1, 0)
    assert shown(served, "arn:of-nothing")["arn"] == queues[0]["arn"]


# -- preemptions --------------------------------------------------------------------------


def test_a_preemption_with_its_reason(article: World) -> None:
    [entry] = shown(article)["preemptions"]
    assert (entry["name"], entry["share"], entry["kind"], entry["then"]) == ("med", "QS1", "cross-share", None)
    assert entry["reason"] == (
        "q2 takes back lent capacity: share QS2 uses ml.g5.xlarge 0 of 1; stops med (cross-share)"
    )
    article.advance(60)
    [entry] = shown(article)["preemptions"]
    assert (entry["then"], entry["stopped"]) == ("RUNNABLE", "2026-01-01T00:01:21Z")


def test_a_preemption_the_scheduler_did_not_decide_has_no_reason(article: World) -> None:
    article.advance(60)
    article.endpoint.rogue = Rogue("QM-A06")
    latest = shown(article)["preemptions"][0]
    assert (latest["name"], latest["reason"], latest["for"]) == ("q2", "", None)


def test_only_the_latest_preemptions_are_kept(served: World) -> None:
    served.endpoint.change_settings(running_seconds=None, preemption_seconds=1)
    served.make_queue(limits(g5=1))
    served.make_share("s", in_share=True)
    for number in range(25):
        served.submit(f"job-{number}", "s", number)
        served.advance(10)
    names = [entry["name"] for entry in shown(served)["preemptions"]]
    assert names == [f"job-{number}" for number in range(23, 3, -1)]


# -- the audit ----------------------------------------------------------------------------


def test_what_was_as_it_should_be_passes(article: World) -> None:
    article.advance(60)
    verdict = shown(article)["audit"]
    assert (verdict["verdict"], verdict["findings"], verdict["unknown"], verdict["behind"]) == ("pass", [], 0, 0)
    assert verdict["decisions"] == 5, "three dispatches, a preemption and what became of its victim"
    assert verdict["judgedUntil"] == article.endpoint.clock.now() - 1


@pytest.mark.parametrize("rule", ["QM-A03", "QM-A05", "QM-A06", "QM-A08"])
def test_it_finds_what_an_audit_of_the_whole_recording_finds(served: World, rule: str) -> None:
    """Asked every ten seconds, while a rogue scheduler is at work."""
    served.make_queue(limits(g5=4))
    served.make_share("A", limits(g5=1), borrow(100), in_share=rule != "QM-A08")
    served.make_share("B", limits(g5=1))
    served.make_share("C", limits(g5=2), RESERVE)
    for number in range(6):
        served.submit(f"a{number}", "A", number)
        served.submit(f"b{number}", "B", number)
    served.advance(60)
    shown(served)
    served.endpoint.rogue = Rogue(rule)
    served.submit("better", "A", 9)
    for _ in range(12):
        served.advance(10)
        verdict = shown(served)["audit"]
    whole = audit(served.endpoint.events, QuotaPolicy({G5: 4}), AuditSettings(Delivery.COMPLETE))
    expected = sorted((finding.rule, sorted(finding.events)) for finding in whole.findings)
    assert rule in {found for found, _ in expected}
    assert sorted((finding["rule"], sorted(finding["events"])) for finding in verdict["findings"]) == expected
    assert verdict["decisions"] == whole.coverage.decisions
    assert verdict["verdict"] == "violation"
    assert not re.search(r"[0-9a-f]{8}-", verdict["findings"][0]["seen"]), "names stand for ids"


def test_the_policy_follows_the_calls_that_change_it(served: World) -> None:
    """What is within limits that were raised meanwhile isn't a violation."""
    served.make_queue(limits(g5=1))
    share = served.make_share("s", limits(g5=1), RESERVE)
    served.make_environment(limits(g5=1), "somebody-elses")
    shown(served)
    served.batch.update_service_environment(serviceEnvironment="queue-environment", capacityLimits=limits(g5=3))
    served.batch.update_service_environment(serviceEnvironment="somebody-elses", capacityLimits=limits(g5=1))
    served.batch.update_quota_share(quotaShareArn=share, capacityLimits=limits(g5=3))
    for number in range(3):
        served.submit(f"job-{number}", "s")
    served.advance(60)
    verdict = shown(served)["audit"]
    assert (verdict["verdict"], verdict["decisions"]) == ("pass", 3)


def test_many_shares_made_in_one_second(served: World) -> None:
    """Every one of them counts, and their orders aren't tried out."""
    served.make_queue(limits(g5=15))
    for number in range(15):
        served.make_share(f"s{number}", limits(g5=1), RESERVE)
    for number in range(15):
        served.submit(f"job-{number}", f"s{number}")
    served.advance(60)
    verdict = shown(served)["audit"]
    assert (verdict["verdict"], verdict["decisions"]) == ("pass", 15)


def test_a_queue_of_the_same_name_is_another_queue(served: World) -> None:
    served.make_queue(limits(g5=1))
    shown(served)
    served.batch.update_job_queue(jobQueue="queue", state="DISABLED")
    served.batch.delete_job_queue(jobQueue="queue")
    policy = served.make_policy("again")
    served.batch.update_service_environment(serviceEnvironment="queue-environment", capacityLimits=limits(g5=2))
    served.batch.create_job_queue(
        jobQueueName="queue",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "queue-environment"}],
    )
    served.make_share("s", limits(g5=2))
    served.submit("large", "s", demand=2)
    served.advance(60)
    verdict = shown(served)["audit"]
    assert (verdict["verdict"], verdict["decisions"]) == ("pass", 1)


def test_a_decision_that_cannot_be_judged_is_unknown(served: World) -> None:
    """A job was stopped for another whose priority no call tells of, and which is seen no more."""
    served.endpoint.change_settings(running_seconds=None)
    served.make_queue(limits(g5=1))
    served.make_share("s", in_share=True)
    served.submit("first", "s", 1)
    served.advance(60)
    second = served.submit("second", "s", 0)
    served.advance(60)
    since = len(served.endpoint.events)
    served.batch.update_service_job(jobId=second, schedulingPriority=5)
    served.advance(60)
    events = [
        event
        for index, event in enumerate(served.endpoint.events)
        if "ServiceJob" not in event["detail"].get("eventName", "")
        and (index < since or event["detail"].get("jobId") != second)
    ]
    audits = QueueAudits()
    audits.follow(events, served.endpoint.clock.now(), most=len(events))
    assert audits.show(QUEUE)["verdict"] == "pass", "what comes later may still tell"
    for minute in range(1, 5):
        audits.follow(events, served.endpoint.clock.now() + minute * 60, most=0)
    verdict = audits.show(QUEUE)
    assert (verdict["verdict"], verdict["unknown"], verdict["violations"]) == ("unknown", 1, 0)


def test_without_a_trail_nothing_is_judged() -> None:
    none = {"verdict": "none", "findings": [], "gaps": [], "behind": 0}
    with start(clock=SteppedClock(), settings=Settings(cloudtrail=False)) as server:
        world = World(server.endpoint, server.url)
        world.make_article_queue()
        world.submit("job", "QS1")
        world.advance(60)
        assert shown(world)["audit"] == none


def test_once_the_trail_ends_nothing_is_judged_any_more(article: World) -> None:
    """Limits may have been changed since."""
    assert shown(article)["audit"]["verdict"] == "pass"
    article.endpoint.change_settings(cloudtrail=False)
    assert shown(article)["audit"]["verdict"] == "none"
    article.endpoint.change_settings(cloudtrail=True)
    article.advance(60)
    assert shown(article)["audit"]["verdict"] == "none"


def test_a_long_history_is_caught_up_with_in_steps(article: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_AT_A_TIME", 10)
    total = len(article.endpoint.events)
    behind = [shown(article)["audit"]["behind"] for _ in range(total // 10 + 1)]
    assert behind == [*range(total - 10, 0, -10), 0]
    assert shown(article)["audit"]["verdict"] == "pass"


# -- operations ---------------------------------------------------------------------------


def test_submit_reprioritise_and_terminate(served: World) -> None:
    served.make_article_queue()
    status, answer = operate(served, "SubmitServiceJob", submission(schedulingPriority=5), runningSeconds=30)
    assert status == 200
    job = answer["jobId"]
    assert operate(served, "UpdateServiceJob", {"jobId": job, "schedulingPriority": 8})[0] == 200
    assert served.job(job)["schedulingPriority"] == 8
    served.advance(60)
    assert served.job(job)["status"] == "SUCCEEDED", "after 30 s"
    other = operate(served, "SubmitServiceJob", submission("other"))[1]["jobId"]
    served.advance(60)
    assert served.job(other)["status"] == "RUNNING", "the usual 600 s"
    assert operate(served, "TerminateServiceJob", {"jobId": other, "reason": "enough"})[0] == 200
    assert (served.job(other)["status"], served.job(other)["statusReason"]) == ("FAILED", "enough")


def test_jobs_of_the_same_name_run_as_long_as_the_last_one_was_told(served: World) -> None:
    served.make_article_queue()
    for seconds in (10, 20):
        operate(served, "SubmitServiceJob", submission(), runningSeconds=seconds)
    assert [(script.jobs, script.running_seconds) for script in served.endpoint.scripts] == [("job", 20)]


SUBMIT, UPDATE, TERMINATE = "SubmitServiceJob", "UpdateServiceJob", "TerminateServiceJob"


@pytest.mark.parametrize(
    ("operation", "request_", "more", "says"),
    [
        (SUBMIT, submission("<img src=x>"), {}, "jobName '<img src=x>' is not allowed"),
        (SUBMIT, submission(share="QS9"), {}, "Quota share QS9 does not exist in job queue queue"),
        (SUBMIT, submission(schedulingPriority=10_000), {}, "10000"),
        (SUBMIT, submission(schedulingPriority=1.5), {}, "whole number"),
        (SUBMIT, submission(serviceRequestPayload=payload(0)), {}, "InstanceCount 0"),
        (SUBMIT, submission(share="QS9"), {"runningSeconds": 5}, "QS9"),
        (SUBMIT, submission(), {"runningSeconds": -1}, "running_seconds -1"),
        (SUBMIT, submission(), {"runningSeconds": "long"}, "running_seconds 'long'"),
        (SUBMIT, submission(jobQueue="nowhere"), {}, "Job queue nowhere does not exist"),
        (SUBMIT, {}, {}, "is required"),
        (SUBMIT, None, {}, "None is not allowed"),
        (SUBMIT, submission(), {"queue": "nowhere"}, "Job queue nowhere does not exist"),
        (SUBMIT, submission(), {"queue": None}, "Job queue None does not exist"),
        (UPDATE, {"jobId": "nobody", "schedulingPriority": 1}, {}, "Service job nobody does not exist"),
        (UPDATE, {"jobId": "nobody"}, {}, "schedulingPriority is required"),
        (TERMINATE, {"jobId": "nobody", "reason": "x"}, {}, "neither the id nor the ARN"),
        (TERMINATE, {"jobId": "nobody", "reason": ""}, {}, "reason is empty"),
        ("DeleteJobQueue", {"jobQueue": "queue"}, {}, "operation: one of SubmitServiceJob"),
        (None, {}, {}, "operation: one of"),
        ([], {}, {}, "operation: one of"),
    ],
)
def test_errors_are_the_apis_and_leave_nothing_behind(
    served: World, operation: Any, request_: Any, more: dict[str, Any], says: str
) -> None:
    served.make_article_queue()
    status, answer = operate(served, operation, request_, **more)
    assert status == 400
    assert says in answer["message"]
    assert (served.statuses(), served.endpoint.scripts) == ({}, ())


def test_nonsense_is_the_clients_fault(served: World) -> None:
    for body in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000):
        status, _, answer = send(served, "POST", "/_quota/operations", body, Content_Type=JSON_TYPE)
        assert (status, bool(json.loads(answer)["message"])) == (400, True)


# -- other pages --------------------------------------------------------------------------

OWN = "http://{host}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": OWN}, 200),
        ({"Origin": "http://localhost:{port}", "Host": "localhost:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://{host}"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost.evil.example:{port}"}, 403),
        ({"Host": "evil.example@127.0.0.1"}, 403),
        ({"Host": "["}, 403),
        ({"Host": ""}, 403),
    ],
)
def test_pages_from_elsewhere_are_refused(served: World, headers: dict[str, str], status: int) -> None:
    """Whatever they ask of the endpoint itself."""
    assert served.url is not None
    host = served.url.removeprefix("http://")
    given = {name: value.format(host=host, port=host.partition(":")[2]) for name, value in headers.items()}
    before = served.endpoint.clock.now()
    for method, path, body in [
        ("GET", "/_quota", b""),
        ("GET", "/_quota/state", b""),
        ("GET", "/_quota/events", b""),
        ("POST", "/_quota/clock", b'{"advance": 60}'),
    ]:
        found, _, answer = send(served, method, path, body, **given)
        assert found == status
        assert status == 200 or json.loads(answer)["message"]
    assert served.endpoint.clock.now() == before + (60 if status == 200 else 0)


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 400),
        ("text/plain; application/json", 400),
        ("application/x-www-form-urlencoded", 400),
        ("multipart/form-data; boundary=x", 400),
        ("", 400),
    ],
)
def test_operations_are_json(served: World, content_type: str, status: int) -> None:
    """What a form of another page can send without asking isn't taken."""
    served.make_article_queue()
    body = json.dumps({"queue": QUEUE, "operation": SUBMIT, "request": submission()}).encode()
    assert send(served, "POST", "/_quota/operations", body, Content_Type=content_type)[0] == status
    assert len(served.statuses()) == (status == 200)


def test_the_batch_api_takes_any_host(served: World) -> None:
    """Names such as those of a container network are for clients of AWS, which are no browsers."""
    authorization = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/batch/aws4_request, SignedHeaders=host"
    headers = {"Host": "endpoint.internal", "Authorization": authorization}
    assert send(served, "POST", "/v1/describejobqueues", b"{}", **headers)[0] == 200


def test_it_answers_at_the_name_it_was_told_to_listen_on() -> None:
    with start(clock=SteppedClock(), host="localhost") as server:
        world = World(server.endpoint, server.url)
        assert send(world, "GET", "/_quota")[0] == 200
