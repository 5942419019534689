"""What can be done from the live view: operations of the Batch API, checked as the API checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constructs_qm.local.errors import ClientException
from constructs_qm.local.scripts import Script
from constructs_qm.local.service_model import batch_model, read_request

if TYPE_CHECKING:
    from constructs_qm.local.endpoint import Endpoint
    from constructs_qm.local.state import BatchState

__all__ = ["OPERATIONS", "act"]

OPERATIONS = ("SubmitServiceJob", "UpdateServiceJob", "TerminateServiceJob")


def act(endpoint: Endpoint, document: object) -> dict[str, Any]:
    """Carry out an operation.

    Parameters
    ----------
    endpoint : Endpoint
    document : object
        ``queue``, an ARN; ``operation``; ``request``, as the API takes it; for a submission optionally
        ``runningSeconds``, how long jobs of that name run from now on.

    Returns
    -------
    dict
        The operation's answer.

    Raises
    ------
    ClientException
        It can't be done; nothing has changed.
    """
    if not isinstance(document, dict) or document.get("operation") not in OPERATIONS:
        raise ClientException(f"give a queue, a request, and operation: one of {', '.join(OPERATIONS)}")
    name, arn = document["operation"], document.get("queue")
    state = endpoint.look(lambda states: _owner(states, arn))
    request = read_request(batch_model().operation_model(name), document.get("request"))
    seconds = document.get("runningSeconds")
    if name == "SubmitServiceJob" and seconds is not None:
        return _submit(endpoint, state, request, seconds)
    return endpoint.perform(state, name, request)


def _owner(states: list[BatchState], arn: object) -> BatchState:
    for state in states:
        if any(queue.arn == arn for queue in state.queues.values()):
            return state
    raise ClientException(f"Job queue {arn} does not exist")


def _submit(endpoint: Endpoint, state: BatchState, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Submit a job that runs for so long, by a script of its name: it may start before the answer is there."""
    earlier = endpoint.scripts
    try:
        script = Script(request["jobName"], running_seconds=seconds)
    except ValueError as error:
        raise ClientException(str(error)) from None
    endpoint.script(script, *(other for other in earlier if other.jobs != script.jobs))
    try:
        return endpoint.perform(state, "SubmitServiceJob", request)
    except ClientException:
        endpoint.script(*earlier)
        raise
