"""``maxResults`` and ``nextToken``."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, TypeVar

from constructs_qm.local.errors import ClientException

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["page"]

MOST = 100
"""Results of one page, where the request doesn't ask for fewer (API pages of the list operations)."""

Item = TypeVar("Item")


def page(what: str, items: Iterable[tuple[int, Item]], request: Mapping[str, Any]) -> tuple[list[Item], dict[str, str]]:
    """Cut one page out of `items`.

    Parameters
    ----------
    what : str
        Kind of list: a token of one kind isn't accepted for another.
    items : iterable of (int, object)
        In ascending order of the number, which stays with an item, so that items that
        come or go between two pages neither repeat nor hide others.
    request : mapping
        May have ``maxResults`` and ``nextToken``.

    Returns
    -------
    (list, dict)
        The page, and ``nextToken`` where there is more.

    Raises
    ------
    ClientException
        ``maxResults`` is outside 1 to 100, or the token isn't one of ours.
    """
    most = request.get("maxResults", MOST)
    if not 1 <= most <= MOST:
        raise ClientException(f"maxResults {most} is not allowed: use 1 to {MOST}")
    after = _read_token(what, request["nextToken"]) if "nextToken" in request else None
    taken: list[Item] = []
    last = 0
    for key, item in items:
        if after is not None and key <= after:
            continue
        if len(taken) == most:
            return taken, {"nextToken": _make_token(what, last)}
        taken.append(item)
        last = key
    return taken, {}


def _make_token(what: str, key: int) -> str:
    return base64.urlsafe_b64encode(f"{what}:{key}".encode()).decode()


def _read_token(what: str, token: str) -> int:
    try:
        kind, _, key = base64.b64decode(token, altchars=b"-_", validate=True).decode().partition(":")
        if kind == what:
            return int(key)
    except (ValueError, binascii.Error):
        pass
    raise ClientException("nextToken is not valid: use the one the last answer gave")
