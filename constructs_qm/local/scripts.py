"""What becomes of jobs, decided beforehand by their name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Script", "script_for"]


@dataclass(frozen=True)
class Script:
    """A job's part of the play.

    Parameters
    ----------
    jobs : str
        Glob over job names.
    running_seconds : float or None
        How long an attempt runs before it ends; None: it hangs until it is told to end, stopped or times out.
    fails : str or None
        The reason with which the attempt fails, as SageMaker would give it; None: it succeeds.
    failures : int or None
        How many attempts fail before one succeeds; None: all of them.
    lacks_capacity : int
        How often SageMaker has no capacity for the job before it has.

    Raises
    ------
    ValueError
        A number isn't allowed.

    Examples
    --------
    >>> Script("flaky-*", running_seconds=60, fails="InternalServerError", failures=1).matches("flaky-3")
    True
    """

    jobs: str = "*"
    running_seconds: float | None = 600
    fails: str | None = None
    failures: int | None = None
    lacks_capacity: int = 0

    def __post_init__(self) -> None:
        seconds = self.running_seconds
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds < math.inf):
            raise ValueError(f"running_seconds {seconds!r} is not allowed: use a number of 0 or more, or None")
        for name in ("failures", "lacks_capacity"):
            number = getattr(self, name)
            if number is None and name == "failures":
                continue
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise ValueError(f"{name} {number!r} is not allowed: use a whole number of 0 or more")
        for name, value in (("jobs", self.jobs), ("fails", self.fails)):
            if not isinstance(value, str) and (name == "jobs" or value is not None):
                raise ValueError(f"{name} {value!r} is not allowed: use a string")

    def matches(self, name: str) -> bool:
        """Whether this script is for a job called `name`."""
        return fnmatchcase(name, self.jobs)

    def fails_after(self, failed: int) -> bool:
        """Whether the attempt after `failed` failed ones fails."""
        return self.fails is not None and (self.failures is None or failed < self.failures)


def script_for(scripts: Iterable[Script], name: str, running_seconds: float | None) -> Script:
    """Return the first script for a job, or the usual one: it runs that long and succeeds."""
    usual = Script(running_seconds=running_seconds)
    return next((script for script in scripts if script.matches(name)), usual)
