"""Clocks: stepped, real and sped up."""

from __future__ import annotations

import math
import threading

import pytest
from local.world import World

from constructs_qm.local import RealClock, Settings, SteppedClock, mock_quota_management


class _Timeline:
    """Something due at given times."""

    def __init__(self, due: list[float]) -> None:
        self.due = due
        self.ran: list[float] = []

    def next_due(self) -> float | None:
        return self.due[0] if self.due else None

    def run(self, now: float) -> None:
        self.ran.append(now)
        self.due = [time for time in self.due if time > now]


def test_stepped_clock_stops_at_every_due_moment() -> None:
    clock, timeline = SteppedClock(start=100), _Timeline([103, 107, 120])
    clock.drive(timeline)
    clock.advance(10)
    assert (timeline.ran, clock.now()) == ([103, 107, 110], 110)
    clock.stop()
    clock.advance(100)
    assert timeline.ran == [103, 107, 110]


@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan, "1", None, True])
@pytest.mark.parametrize("clock", [SteppedClock(), RealClock()])
def test_time_only_goes_on(clock: SteppedClock | RealClock, seconds: float) -> None:
    with pytest.raises(ValueError, match="can't advance"):
        clock.advance(seconds)


@pytest.mark.parametrize("speed", [0, -1, math.inf, math.nan])
def test_speed_is_above_zero(speed: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        RealClock(speed)


def test_jobs_end_by_themselves_on_a_fast_clock() -> None:
    """600 s of a job's run, and what is before, pass in less than a second of ours."""
    ended = threading.Event()
    with mock_quota_management(clock=RealClock(speed=10_000)) as endpoint:
        endpoint.log.sinks.append(lambda event: ended.set() if event["detail"].get("status") == "SUCCEEDED" else None)
        world = World(endpoint)
        world.make_queue()
        world.make_share("s")
        job = world.submit("job", "s")
        assert ended.wait(timeout=10)
        assert world.job(job)["status"] == "SUCCEEDED"
    assert all(thread.name != "clock" for thread in threading.enumerate())


def test_a_real_clock_can_be_moved_on() -> None:
    with mock_quota_management(clock=RealClock(), settings=Settings(running_seconds=86_400)) as endpoint:
        world = World(endpoint)
        world.make_queue()
        world.make_share("s")
        job = world.submit("job", "s")
        world.advance(100_000)
        assert world.job(job)["status"] == "SUCCEEDED"


@pytest.mark.parametrize("name", ["submitted_seconds", "running_seconds", "preemption_seconds"])
@pytest.mark.parametrize("value", [-1, math.inf, math.nan, "1"])
def test_durations_are_checked(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        Settings(**{name: value})  # type: ignore[arg-type]
