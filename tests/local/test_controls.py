"""Controls for tests: scripts, settings and event faults, from Python and over HTTP; and the fixtures."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from local.world import World, borrow, limits

from constructs_qm.local import Faults, Rogue, Script

pytest_plugins = ["pytester"]


@pytest.fixture
def queue(world: World) -> World:
    world.make_queue(limits(g5=4))
    world.make_share("s", limits(g5=4))
    return world


TWICE = {"retryStrategy": {"attempts": 3}}


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        (Script(running_seconds=60), ("SUCCEEDED", 68, 1)),
        (Script(running_seconds=60, fails="AlgorithmError: x"), ("FAILED", 3 * 67 + 1, 3)),
        (Script(running_seconds=60, fails="AlgorithmError: x", failures=1), ("SUCCEEDED", 2 * 67 + 1, 2)),
        (Script(running_seconds=None), ("RUNNING", None, 0)),
        # two rounds of 2 s as SCHEDULED and 60 s of waiting come first
        (Script(running_seconds=60, lacks_capacity=2), ("SUCCEEDED", 68 + 2 * 62, 1)),
        (Script("other", running_seconds=1), ("SUCCEEDED", 608, 1)),
    ],
)
def test_scripts(queue: World, script: Script, seen: tuple[str, int | None, int]) -> None:
    queue.endpoint.script(script)
    job = queue.submit("job", "s", **TWICE)
    queue.advance(10_000)
    ended = queue.job(job)
    status, after, attempts = seen
    assert (ended["status"], len(ended["attempts"])) == (status, attempts)
    if after is not None:
        assert ended["stoppedAt"] - ended["createdAt"] == after * 1000


def test_the_first_script_that_matches_is_played(queue: World) -> None:
    queue.endpoint.script(Script("a-*", running_seconds=10), Script("*", running_seconds=20))
    jobs = [queue.submit(name, "s") for name in ("a-1", "b-1")]
    queue.advance(8 + 15)
    assert [queue.job(job)["status"] for job in jobs] == ["SUCCEEDED", "RUNNING"]


def test_settings_can_be_changed_meanwhile(world: World) -> None:
    world.make_queue(limits(g5=1))
    world.make_share("A", sharing=borrow())
    world.make_share("B")
    world.submit("stays", "A")
    world.endpoint.change_settings(preemption_seconds=5, submitted_seconds=0)
    assert world.statuses() == {"stays": "SUBMITTED"}
    world.submit("next", "B")
    assert world.statuses()["next"] == "SCHEDULED"
    with pytest.raises(ValueError, match="preemption_seconds"):
        world.endpoint.change_settings(preemption_seconds=-1)
    with pytest.raises(TypeError):
        world.endpoint.change_settings(nothing=1)
    assert world.endpoint.settings.preemption_seconds == 5


# -- faults ---------------------------------------------------------------------------


def _events(world: World) -> tuple[list[str], list[str]]:
    """Return ids of events as sent and as delivered."""
    sent, delivered = world.endpoint.events, world.endpoint.delivered
    return [event["id"] for event in sent], [event["id"] for event in delivered]


def _run(world: World) -> None:
    for number in range(5):
        world.submit(f"job-{number}", "s")
        world.advance(20)
    world.advance(1000)


def test_without_faults_all_arrives_in_order(queue: World) -> None:
    _run(queue)
    sent, delivered = _events(queue)
    assert sent == delivered


def test_lost_events(queue: World) -> None:
    queue.endpoint.faults = Faults(drop=0.5, seed=1)
    before = len(queue.endpoint.events)
    _run(queue)
    sent, delivered = _events(queue)
    assert 0.2 < (len(delivered) - before) / (len(sent) - before) < 0.8
    assert delivered == [event for event in sent if event in set(delivered)]


def test_events_that_come_twice(queue: World) -> None:
    queue.endpoint.faults = Faults(duplicate=1)
    before = len(queue.endpoint.events)
    _run(queue)
    sent, delivered = _events(queue)
    assert delivered[before:] == [event for event in sent[before:] for _ in range(2)]


def test_events_out_of_order(queue: World) -> None:
    queue.endpoint.faults = Faults(reorder=0.5, seed=1)
    _run(queue)
    queue.endpoint.faults = None
    queue.submit("last", "s")  # whatever was held back arrives behind its event
    sent, delivered = _events(queue)
    assert delivered != sent
    assert sorted(delivered) == sorted(sent)


def test_late_events(queue: World) -> None:
    queue.endpoint.faults = Faults(delay=1, delay_seconds=300, seed=1)
    before = len(queue.endpoint.delivered)
    queue.submit("job", "s")
    queue.advance(10)
    assert len(queue.endpoint.delivered) - before < 3
    queue.advance(1000)
    sent, delivered = _events(queue)
    assert sorted(delivered) == sorted(sent)
    assert delivered != sent


@pytest.mark.parametrize(
    "make",
    [
        lambda: Faults(drop=1.5),
        lambda: Faults(duplicate=-0.1),
        lambda: Faults(delay_seconds=-1),
        lambda: Faults(reorder=True),
        lambda: Script(running_seconds=-1),
        lambda: Script(failures=-1),
        lambda: Script(lacks_capacity=1.5),  # type: ignore[arg-type]
        lambda: Script(jobs=1),  # type: ignore[arg-type]
        lambda: Rogue("QM-A99"),
        lambda: Rogue("QM-A05", 0),
    ],
)
def test_bad_values_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="use"):
        make()


# -- over HTTP --------------------------------------------------------------------------


def _call(world: World, method: str, name: str, document: Any) -> tuple[int, Any]:
    body = json.dumps(document).encode()
    request = urllib.request.Request(f"{world.url}/_quota/{name}", body, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_controls_over_http(served: World) -> None:
    served.make_queue(limits(g5=4))
    served.make_share("s", limits(g5=4))
    scripts = {"scripts": [{"jobs": "quick-*", "running_seconds": 10}, {"running_seconds": None}]}
    assert _call(served, "PUT", "scripts", scripts) == (200, {})
    assert _call(served, "PATCH", "settings", {"starting_seconds": 0}) == (200, {})
    served.submit("quick-1", "s")
    served.submit("hangs", "s")
    assert _call(served, "POST", "clock", {"advance": 20})[0] == 200
    assert served.statuses() == {"quick-1": "SUCCEEDED", "hangs": "RUNNING"}
    assert _call(served, "POST", "jobs", {"job": "hangs", "do": "fail", "reason": "no"}) == (200, {})
    assert served.statuses()["hangs"] == "FAILED"
    assert _call(served, "PUT", "faults", {"drop": 1}) == (200, {})
    before = len(served.endpoint.delivered)
    served.submit("silent", "s")
    assert len(served.endpoint.delivered) == before
    with urllib.request.urlopen(f"{served.url}/_quota/events?delivered=true") as response:
        assert len(response.read().splitlines()) == before
    assert _call(served, "PUT", "faults", {}) == (200, {})
    assert served.endpoint.faults is None
    assert _call(served, "PUT", "rogue", {"rule": "QM-A05"})[1] == {
        "rule": "QM-A05",
        "times": 1,
        "offences": [],
    }
    assert _call(served, "PUT", "rogue", {}) == (200, {})


@pytest.mark.parametrize(
    ("method", "name", "document"),
    [
        ("POST", "jobs", {}),
        ("POST", "jobs", {"job": "unknown", "do": "finish"}),
        ("POST", "jobs", {"job": "unknown", "do": "explode"}),
        ("PUT", "scripts", {}),
        ("PUT", "scripts", {"scripts": [1]}),
        ("PUT", "scripts", {"scripts": [{"unheard": 1}]}),
        ("PUT", "scripts", {"scripts": [{"running_seconds": "long"}]}),
        ("PUT", "faults", {"drop": 2}),
        ("PUT", "faults", {"drop": "often"}),
        ("PUT", "faults", {"unheard": 1}),
        ("PUT", "rogue", {"rule": "QM-A99"}),
        ("PUT", "rogue", {"rule": "QM-A05", "offences": []}),
        ("PATCH", "settings", {"unheard": 1}),
        ("PATCH", "settings", {"running_seconds": -1}),
        ("PATCH", "settings", {"assumptions": {}}),
    ],
)
def test_bad_controls_are_refused(served: World, method: str, name: str, document: Any) -> None:
    status, answer = _call(served, method, name, document)
    assert status == 400
    assert answer["message"]


# -- fixtures ---------------------------------------------------------------------------


def test_fixtures(pytester: pytest.Pytester) -> None:
    """As a project of one's own uses them."""
    pytester.makeconftest('pytest_plugins = ["constructs_qm.local.pytest_plugin"]')
    pytester.makepyfile(
        """
        import boto3
        import pytest
        from constructs_qm.local import Settings

        LIMIT = [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 1}]

        @pytest.fixture
        def quota_settings():
            return Settings(transition_seconds=10)

        def make(batch):
            batch.create_service_environment(
                serviceEnvironmentName="e", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=LIMIT
            )
            return lambda: batch.describe_service_environments()["serviceEnvironments"][0]["status"]

        def test_in_process(quota_endpoint, quota_clock):
            status = make(boto3.client("batch", region_name="us-east-1"))
            assert status() == "CREATING"
            quota_clock.advance(10)
            assert status() == "VALID"

        def test_over_http(quota_server, quota_clock):
            status = make(boto3.client("batch", region_name="us-east-1", endpoint_url=quota_server.url))
            assert status() == "CREATING"
            quota_clock.advance(10)
            assert status() == "VALID"
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
