"""The table of operations, and how one is carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from constructs_qm.local.errors import ClientException
from quota_scheduler import QuotaSchedulerError

if TYPE_CHECKING:
    from constructs_qm.local.state import BatchState

__all__ = ["OPERATIONS", "Answer", "Request", "at", "changes_something", "operation", "perform"]

Request: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]
Result = TypeVar("Result")
Handler: TypeAlias = Callable[["BatchState", Request], Answer]

OPERATIONS: dict[str, Handler] = {}
"""Operation name, as in botocore's model, to the function that carries it out."""


def operation(name: str) -> Callable[[Handler], Handler]:
    """Register a function as the operation `name`.

    It gets the state and a request that fits the model's input shape. It checks everything
    first and changes the state only then, so that an error leaves nothing half done.
    """

    def register(handler: Handler) -> Handler:
        OPERATIONS[name] = handler
        return handler

    return register


def changes_something(name: str) -> bool:
    """Whether the operation `name` is more than a look."""
    return not name.startswith(("Describe", "List", "Get"))


def perform(state: BatchState, name: str, request: Request, now: float) -> Answer:
    """Carry out one operation at `now`, in seconds.

    Raises
    ------
    ClientException
        The request can't be fulfilled; the state is as it was.
    """

    def act() -> Answer:
        answer = OPERATIONS[name](state, request)
        if changes_something(name):
            state.record_call(name, request, answer)
        return answer

    return at(state, now, act)


def at(state: BatchState, now: float, act: Callable[[], Result]) -> Result:
    """Call `act` at `now`, in seconds, and let happen what follows from it.

    Raises
    ------
    ClientException
        `act` raised it, or an error of the scheduler.
    """
    state.run(now)
    try:
        result = act()
    except QuotaSchedulerError as error:
        raise ClientException(str(error)) from None
    state.run(now)
    return result
