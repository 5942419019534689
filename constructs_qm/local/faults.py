"""Events as a network may deliver them: lost, twice, late and out of order."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, fields

__all__ = ["Faults"]


@dataclass(frozen=True)
class Faults:
    """Chances of what may happen to an event on its way; what was sent isn't changed by it.

    Parameters
    ----------
    drop : float
        Probability that an event is lost.
    duplicate : float
        Probability that it arrives twice, each time on its own way.
    delay : float
        Probability that it is late.
    reorder : float
        Probability that it arrives after the event that follows it.
    delay_seconds : float
        The longest delay.
    seed : int
        Makes the choices repeatable.

    Raises
    ------
    ValueError
        A probability is outside 0 to 1, or the delay is negative.
    """

    drop: float = 0
    duplicate: float = 0
    delay: float = 0
    reorder: float = 0
    delay_seconds: float = 60
    seed: int = 0
    _random: random.Random = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in (entry.name for entry in fields(self) if entry.name not in ("seed", "_random")):
            value, most = getattr(self, name), math.inf if name == "delay_seconds" else 1
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
                raise ValueError(f"{name} {value!r} is not allowed: use a number from 0 to {most}")
        object.__setattr__(self, "_random", random.Random(self.seed))

    def copies(self) -> list[float | None]:
        """Decide over one event.

        Returns
        -------
        list of float or None
            One entry for each copy that arrives: after how many seconds, or None: after the next event.
        """
        chance = self._random.random
        if chance() < self.drop:
            return []
        arrivals: list[float | None] = []
        for _ in range(2 if chance() < self.duplicate else 1):
            if chance() < self.reorder:
                arrivals.append(None)
            else:
                arrivals.append(chance() * self.delay_seconds if chance() < self.delay else 0)
        return arrivals
