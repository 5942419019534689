"""What the resources have in common: an ARN, tags, and a status that takes its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constructs_qm.local.errors import ClientException

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.state import BatchState

__all__ = ["Resource", "begin", "complete", "require_disabled", "require_settled"]


@dataclass(eq=False, kw_only=True)
class Resource:
    """Something with an ARN.

    Attributes
    ----------
    arn : str
    sequence : int
        Order of creation in the account and Region.
    tags : dict of str to str
    status : str
        CREATING, VALID, UPDATING or DELETING; a scheduling policy is always VALID.
    """

    arn: str
    sequence: int
    tags: dict[str, str]
    status: str = "VALID"
    _pending: Callable[[], None] | None = field(default=None, repr=False)


def begin(state: BatchState, resource: Resource, status: str, then: Callable[[], None] | None = None) -> None:
    """Show `status` for the transition time, then VALID; `then` is called at that moment."""

    def done() -> None:
        resource.status = "VALID"
        if then is not None:
            then()

    resource.status = status
    resource._pending = done

    def due() -> None:
        if resource._pending is done:
            complete(resource)

    if state.settings.transition_seconds == 0:
        complete(resource)
    else:
        state.timers.at(state.now + state.settings.transition_seconds, due)


def complete(resource: Resource) -> None:
    """End the transition `resource` is in, if any, at once."""
    done, resource._pending = resource._pending, None
    if done is not None:
        done()


def require_settled(resource: Resource, what: str) -> None:
    """Refuse to change a resource that is in a transition."""
    if resource.status != "VALID":
        raise ClientException(f"{what} is {resource.status}: wait until it is VALID")


def require_disabled(state: str, what: str) -> None:
    """Refuse to delete a resource whose `state` isn't DISABLED."""
    if state != "DISABLED":
        raise ClientException(f"{what} is {state}: set its state to DISABLED before deleting it")
