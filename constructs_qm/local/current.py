"""The endpoint that is installed in moto, for those whom moto calls: there is one moto, hence one, in a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constructs_qm.local.endpoint import Endpoint

__all__ = ["current", "set_current"]

_endpoint: Endpoint | None = None


def set_current(endpoint: Endpoint | None) -> None:
    """Install `endpoint`, or none.

    Raises
    ------
    RuntimeError
        There is one already.
    """
    global _endpoint  # noqa: PLW0603 - it is as global as moto's backends are
    if endpoint is not None and _endpoint is not None:
        raise RuntimeError("quota management is installed already: there can be one endpoint in a process")
    _endpoint = endpoint


def current() -> Endpoint:
    """Return the installed endpoint.

    Raises
    ------
    RuntimeError
        There is none.
    """
    if _endpoint is None:
        raise RuntimeError("quota management isn't installed: use mock_quota_management or server.start")
    return _endpoint
