"""Clocks: the only places in the endpoint that know what time it is.

A clock drives a :class:`Timeline`. The timeline never asks for the time; it is told.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Protocol

__all__ = ["Clock", "RealClock", "SteppedClock", "Timeline"]

EPOCH = 1_767_225_600.0
"""2026-01-01T00:00:00Z, where a stepped clock starts unless told otherwise."""


_LOOK_SECONDS = 0.5
"""How often a real clock looks for what nobody woke it for, such as a schedule made in moto."""


class Timeline(Protocol):
    """Something that happens in time."""

    def next_due(self) -> float | None:
        """Return when something will happen by itself, in seconds since 1970, or None."""

    def run(self, now: float) -> None:
        """Let everything happen that is due by `now`."""


class Clock(Protocol):
    """Tells the time and drives one timeline.

    Attributes
    ----------
    stepped : bool
        Whether it moves only when it is told to.
    speed : float
        Seconds of this clock in one real second; 0 for a stepped one.
    """

    stepped: bool
    speed: float

    def now(self) -> float:
        """Return seconds since 1970; never less than before."""

    def drive(self, timeline: Timeline) -> None:
        """Run `timeline` whenever something is due, from now until :meth:`stop`."""

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once; raises ValueError where they are no finite number of 0 or more."""

    def wake(self) -> None:
        """Look again at what is due next, because the timeline changed."""

    def stop(self) -> None:
        """Drive nothing any more."""

    def start_from(self, now: float) -> None:
        """Go on from a saved time, in seconds since 1970; time doesn't go back."""


class SteppedClock:
    """A clock that moves only when told to, for tests.

    Parameters
    ----------
    start : float
        Seconds since 1970.

    Examples
    --------
    >>> clock = SteppedClock(start=0)
    >>> clock.advance(90)
    >>> clock.now()
    90.0
    """

    stepped = True
    speed = 0.0

    def __init__(self, start: float = EPOCH) -> None:
        self._now = float(start)
        self._timeline: Timeline | None = None
        self._moving = threading.RLock()

    def now(self) -> float:
        """Return seconds since 1970."""
        return self._now

    def drive(self, timeline: Timeline) -> None:
        """Run `timeline` as the clock is advanced."""
        self._timeline = timeline

    def wake(self) -> None:
        """Do nothing: nothing happens between two steps."""

    def stop(self) -> None:
        """Leave the timeline alone."""
        self._timeline = None

    def start_from(self, now: float) -> None:
        """Go on from a saved time."""
        self._now = now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass, stopping at every moment at which something is due.

        Raises
        ------
        ValueError
            `seconds` is negative or no finite number.
        """
        _require_duration(seconds)
        with self._moving:
            target = self._now + seconds
            timeline = self._timeline
            while timeline is not None and (due := timeline.next_due()) is not None and due <= target:
                self._now = max(self._now, due)
                timeline.run(self._now)
            self._now = target
            if timeline is not None:
                timeline.run(target)


class RealClock:
    """The time of day, or one that passes faster from the moment the clock is made.

    Parameters
    ----------
    speed : float
        Seconds of this clock in one real second.

    Raises
    ------
    ValueError
        `speed` isn't above 0.
    """

    stepped = False

    def __init__(self, speed: float = 1) -> None:
        if not 0 < speed < math.inf:
            raise ValueError(f"speed {speed!r} is not allowed: use a number above 0")
        self.speed = speed
        self._start = time.time()
        self._monotonic_start = time.monotonic()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._timeline: Timeline | None = None

    def now(self) -> float:
        """Return seconds since 1970, sped up since the clock was made."""
        return self._start + (time.monotonic() - self._monotonic_start) * self.speed

    def drive(self, timeline: Timeline) -> None:
        """Run `timeline` from a thread of its own."""
        self._timeline = timeline
        self._thread = threading.Thread(target=self._loop, args=(timeline,), name="clock", daemon=True)
        self._thread.start()

    def advance(self, seconds: float) -> None:
        """Jump ahead by `seconds`."""
        _require_duration(seconds)
        self._start += seconds
        if self._timeline is not None:
            self._timeline.run(self.now())
        self.wake()

    def wake(self) -> None:
        """Let the thread look again at what is due next."""
        self._changed.set()

    def stop(self) -> None:
        """End the thread."""
        self._stopped = True
        self._changed.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def start_from(self, now: float) -> None:
        """Go on from a saved time, or from this one where it is later: a fast clock may have run ahead."""
        self._start += max(0, now - self.now())

    def _loop(self, timeline: Timeline) -> None:
        while not self._stopped:
            self._changed.clear()  # before looking, so that no change after the look is missed
            due = timeline.next_due()
            wait = _LOOK_SECONDS if due is None else (due - self.now()) / self.speed
            if wait > 0:
                self._changed.wait(min(wait, _LOOK_SECONDS))
            else:
                timeline.run(self.now())


def _require_duration(seconds: float) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < math.inf:
        raise ValueError(f"can't advance by {seconds!r} s: use a number of 0 or more")
