"""What answers for the live view: the page, the state it shows, and the operations it offers."""

from __future__ import annotations

import json
import threading
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from constructs_qm.local.errors import ClientException
from constructs_qm.local.live_view.actions import act
from constructs_qm.local.live_view.names import name_jobs
from constructs_qm.local.live_view.queue_audits import QueueAudits
from constructs_qm.local.live_view.queue_view import show_queue
from constructs_qm.local.live_view.recent_preemptions import RecentPreemptions
from constructs_qm.local.wire import Reply, answer

if TYPE_CHECKING:
    from constructs_qm.local.endpoint import Endpoint
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState

__all__ = ["PAGE", "LiveView"]

PAGE = "/_quota"

_FILES = {
    PAGE: ("index.html", "text/html; charset=utf-8"),
    f"{PAGE}/": ("index.html", "text/html; charset=utf-8"),
    f"{PAGE}/live-view.js": ("live-view.js", "text/javascript; charset=utf-8"),
    f"{PAGE}/live-view.css": ("live-view.css", "text/css; charset=utf-8"),
}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_AT_A_TIME = 1000
"""Events judged for one request, which takes a quarter of a second: a long history is caught up with in steps."""


class LiveView:
    """The live view of one endpoint.

    Parameters
    ----------
    endpoint : Endpoint
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._following = threading.Lock()
        self._audits = QueueAudits()
        self._preemptions = RecentPreemptions()

    def answer(self, method: str, path: str, query: str, content_type: str, body: bytes) -> Reply | None:
        """Answer a request; None where it isn't for the live view.

        Parameters
        ----------
        method, path, query, content_type : str
        body : bytes
        """
        if method in ("GET", "HEAD") and path in _FILES:
            name, kind = _FILES[path]
            return Reply(200, {**_HEADERS, "Content-Type": kind}, files(__package__).joinpath(name).read_bytes())
        if (method, path) == ("GET", f"{PAGE}/state"):
            reply = answer(lambda: self._state(parse_qs(query).get("queue", [""])[-1]))
        elif (method, path) == ("POST", f"{PAGE}/operations"):
            reply = answer(lambda: self._act(content_type, body))
        else:
            return None
        return reply._replace(headers={**reply.headers, **_HEADERS})

    def _act(self, content_type: str, body: bytes) -> dict[str, Any]:
        if content_type.partition(";")[0].strip().lower() != "application/json":
            raise ClientException(f"content type {content_type!r} is not allowed: use application/json")
        try:
            request = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ClientException(f"the request body is not JSON: {error}") from None
        return act(self._endpoint, request)

    def _state(self, wanted: str) -> dict[str, Any]:
        """Return what the page shows; of the queues the one with the ARN `wanted`, or else the first."""
        with self._following:  # one page at a time, and outside the endpoint's lock: judging takes its time
            self._preemptions.follow(self._endpoint.log)
            now = self._endpoint.clock.now()
            behind = self._audits.follow(self._endpoint.events, now, _AT_A_TIME)
            if not self._endpoint.settings.cloudtrail:
                self._audits.give_up()
            return self._endpoint.look(lambda states: self._show(states, wanted, behind))

    def _show(self, states: list[BatchState], wanted: str, behind: int) -> dict[str, Any]:
        clock = self._endpoint.clock
        found = [(state, queue) for state in states for queue in state.queues.values()]
        found.sort(key=lambda entry: entry[1].arn)
        chosen = next((entry for entry in found if entry[1].arn == wanted), found[0] if found else None)
        return {
            "clock": {"now": clock.now(), "stepped": clock.stepped, "speed": clock.speed},
            "queues": [
                {"arn": queue.arn, "name": queue.name, "account": state.arns.account, "region": state.arns.region}
                for state, queue in found
            ],
            "queue": None if chosen is None else self._show_queue(*chosen, behind),
        }

    def _show_queue(self, state: BatchState, queue: JobQueue, behind: int) -> dict[str, Any]:
        return name_jobs(
            state,
            {
                **show_queue(state, queue),
                "preemptions": self._preemptions.show(queue.arn),
                "audit": {**self._audits.show(queue.arn), "behind": behind},
            },
        )
