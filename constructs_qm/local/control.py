"""The endpoint's own HTTP interface, under ``/_quota/``: events, the clock, and controls for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import API_CALL
from constructs_qm.local.wire import Reply, answer

if TYPE_CHECKING:
    from constructs_qm.local.endpoint import Endpoint

__all__ = ["PREFIX", "control"]

PREFIX = "/_quota/"

Query = Mapping[str, list[str]]


def control(endpoint: Endpoint, method: str, path: str, query: str, body: bytes) -> Reply:
    """Answer one request to a path under :data:`PREFIX`.

    Parameters
    ----------
    endpoint : Endpoint
    method : str
        HTTP method.
    path : str
    query : str
        Query string, without the question mark.
    body : bytes
        JSON, where the call takes any.
    """
    if (method, path) == ("GET", PREFIX + "events"):
        return _events(endpoint, parse_qs(query))
    call = _CALLS.get((method, path.removeprefix(PREFIX)))

    def act() -> dict[str, Any]:
        if call is None:
            known = ", ".join(f"{method} {PREFIX}{name}" for method, name in _CALLS)
            raise ClientException(f"there is no {method} {path}: use GET {PREFIX}events, {known}")
        return call(endpoint, _read(body))

    return answer(act)


def _events(endpoint: Endpoint, query: Query) -> Reply:
    """Answer with JSON lines, from event number ``after`` on; ``api-calls=false`` leaves CloudTrail's out."""
    try:
        after = int(query.get("after", ["0"])[-1])
    except ValueError:
        after = 0
    api_calls = query.get("api-calls", ["true"])[-1] != "false"
    events = endpoint.events[max(0, after) :]
    lines = [json.dumps(event) for event in events if api_calls or event["detail-type"] != API_CALL]
    body = "".join(f"{line}\n" for line in lines).encode()
    return Reply(200, {"Content-Type": "application/jsonl"}, body)


def _read(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ClientException(f"the request body is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ClientException("the request body is not an object")
    return document


def _show_clock(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    return {"now": endpoint.clock.now()}


def _advance_clock(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    try:
        endpoint.clock.advance(request.get("advance", 0))
    except ValueError as error:
        raise ClientException(str(error)) from None
    return _show_clock(endpoint, request)


_CALLS: dict[tuple[str, str], Callable[[Endpoint, dict[str, Any]], dict[str, Any]]] = {
    ("GET", "clock"): _show_clock,
    ("POST", "clock"): _advance_clock,
}
