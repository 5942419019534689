"""Work that is done outside the endpoint's lock: deliveries, function calls, polls.

In order, one at a time. With a stepped clock by whoever caused it, before it goes on, so that a
test sees all that follows from what it did; otherwise by a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Work"]

_log = logging.getLogger(__name__)


class Work:
    """A queue of callables.

    Parameters
    ----------
    inline : bool
        Whether :meth:`do` does the work itself.
    """

    def __init__(self, *, inline: bool) -> None:
        self._inline = inline
        self._queue: deque[Callable[[], None]] = deque()
        self._busy = threading.Lock()
        self._more = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def add(self, task: Callable[[], None]) -> None:
        """Put `task` at the end of the queue; :meth:`do` lets it be done."""
        self._queue.append(task)

    def do(self) -> None:
        """Do what is queued, or wake the thread that does."""
        if self._inline:
            self._drain()
        else:
            self._more.set()

    def start(self) -> None:
        """Start the thread, if this kind has one."""
        if not self._inline:
            self._thread = threading.Thread(target=self._loop, name="work", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Do nothing any more; wait for the task at hand."""
        self._stopped = True
        self._queue.clear()
        self._more.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _drain(self) -> None:
        """Do tasks until there are none.

        Whoever comes while somebody is at it leaves the work to him: a task may call the
        endpoint again, even from a thread that it waits for.
        """
        while self._queue and self._busy.acquire(blocking=False):
            try:
                while self._queue:
                    self._run(self._queue.popleft())
            finally:
                self._busy.release()

    def _loop(self) -> None:
        while not self._stopped:
            self._more.wait()
            self._more.clear()
            self._drain()

    def _run(self, task: Callable[[], None]) -> None:
        if self._stopped:
            return
        try:
            task()
        except Exception:  # one delivery that fails must not keep the others back
            _log.exception("background work failed")
