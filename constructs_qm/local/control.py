"""The endpoint's own HTTP interface, under ``/_quota/``: events, the clock, and controls for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from constructs_qm.local.controls import CONTROLS
from constructs_qm.local.errors import ClientException
from constructs_qm.local.events import API_CALL
from constructs_qm.local.faults import Faults
from constructs_qm.local.rogue import Rogue
from constructs_qm.local.scripts import Script
from constructs_qm.local.wire import Reply, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from constructs_qm.local.endpoint import Endpoint

__all__ = ["PREFIX", "control"]

PREFIX = "/_quota/"

Value = TypeVar("Value")


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
        try:
            return call(endpoint, _read(body))
        except (TypeError, ValueError) as error:
            raise ClientException(str(error)) from None

    return answer(act)


def _events(endpoint: Endpoint, query: Mapping[str, list[str]]) -> Reply:
    """Answer with JSON lines, from number ``after`` on.

    ``api-calls=false`` leaves CloudTrail's out; ``delivered=true`` shows them as they arrived.
    """
    try:
        after = int(query.get("after", ["0"])[-1])
    except ValueError:
        after = 0
    api_calls = query.get("api-calls", ["true"])[-1] != "false"
    delivered = query.get("delivered", ["false"])[-1] == "true"
    events = endpoint.delivered if delivered else endpoint.events
    lines = [json.dumps(event) for event in events[max(0, after) :] if api_calls or event["detail-type"] != API_CALL]
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


def _make(kind: Callable[..., Value], document: object) -> Value:
    """Return a value object from JSON; its own checks tell what is wrong."""
    if not isinstance(document, dict):
        raise ClientException(f"{document!r} is not an object")
    try:
        return kind(**document)
    except TypeError as error:
        raise ClientException(str(error).partition("() ")[2] or str(error)) from None


def _show_clock(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    return {"now": endpoint.clock.now()}


def _advance_clock(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    endpoint.clock.advance(request.get("advance", 0))
    return _show_clock(endpoint, request)


def _steer_job(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    request = dict(request)
    job, what = request.pop("job", None), request.pop("do", None)
    if not isinstance(job, str) or what not in CONTROLS:
        raise ClientException(f"give a job, and do: one of {', '.join(CONTROLS)}")
    endpoint.control(what, job, **request)
    return {}


def _set_scripts(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    scripts = request.get("scripts")
    if not isinstance(scripts, list):
        raise ClientException("scripts is not a list")
    endpoint.script(*(_make(Script, script) for script in scripts))
    return {}


def _set_faults(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    endpoint.faults = _make(Faults, request) if request else None
    return {}


def _show_rogue(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    rogue = endpoint.rogue
    return {} if rogue is None else {"rule": rogue.rule, "times": rogue.times, "offences": rogue.offences}


def _set_rogue(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    unknown = request.keys() - {"rule", "times"}
    if unknown:
        raise ClientException(f"{min(unknown)!r} is unknown: use rule and times")
    endpoint.rogue = _make(Rogue, request) if request else None
    return _show_rogue(endpoint, request)


def _change_settings(endpoint: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    if "assumptions" in request:
        raise ClientException("assumptions can't be changed while the endpoint runs")
    _make(endpoint.change_settings, request)
    return {}


_CALLS: dict[tuple[str, str], Callable[[Endpoint, dict[str, Any]], dict[str, Any]]] = {
    ("GET", "clock"): _show_clock,
    ("POST", "clock"): _advance_clock,
    ("POST", "jobs"): _steer_job,
    ("PUT", "scripts"): _set_scripts,
    ("PUT", "faults"): _set_faults,
    ("GET", "rogue"): _show_rogue,
    ("PUT", "rogue"): _set_rogue,
    ("PATCH", "settings"): _change_settings,
}
