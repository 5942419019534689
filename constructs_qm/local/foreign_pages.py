"""Keeps other web pages out of ``/_quota``: a browser lets every page send requests to this machine.

Programs send no ``Origin``, and may do whatever they like.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

from constructs_qm.local.errors import ForeignPageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["refuse_foreign_pages"]

_HOST = re.compile(r"(\[[\da-f:]+\]|[\w.-]+)(?::\d+)?", re.IGNORECASE | re.ASCII)


def refuse_foreign_pages(environ: Mapping[str, str], own_host: str) -> None:
    """Raise ForeignPageError unless a request comes from a program, or from a page of the endpoint itself.

    The name of the host is checked, too: a page whose name was made to stand for 127.0.0.1 (DNS
    rebinding) passes for our own otherwise. Addresses can't be made to stand for others.

    Parameters
    ----------
    environ : mapping
        The request, as WSGI has it.
    own_host : str
        What the endpoint was told to listen on.
    """
    host = environ.get("HTTP_HOST", "")
    if not _is_own(host, own_host):
        raise ForeignPageError(f"host {host!r} is not allowed: use 127.0.0.1 or localhost")
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin != f"http://{host}":
        raise ForeignPageError(f"a page of {origin} may not do this: use http://{host}/_quota")


def _is_own(host: str, own_host: str) -> bool:
    parts = _HOST.fullmatch(host)
    name = parts[1].strip("[]") if parts else ""
    if name in ("localhost", own_host):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
