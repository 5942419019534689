"""Everything an endpoint and moto know, in a file and back.

A file holds pickled Python objects: like a program, it must come from somebody you trust. It is read by the
versions of Python and moto that wrote it, and refused by others.
"""

from __future__ import annotations

import io
import json
import pickle
import sys
import threading
import weakref
from collections import defaultdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped]
from moto.core.base_backend import AccountSpecificBackend, BackendDict

from constructs_qm._version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from constructs_qm.local.endpoint import Endpoint

__all__ = ["StateError", "load", "save"]

_LOCKS = (type(threading.Lock()), type(threading.RLock()))


class StateError(ValueError):
    """A state file that can't be read."""


def save(endpoint: Endpoint, path: Path) -> None:
    """Write everything to `path`, which is replaced only once all is written.

    Parameters
    ----------
    endpoint : Endpoint
        Let nothing happen to it meanwhile: the best moment is its stop.
    path : Path
    """
    everything = {"endpoint": endpoint.to_save(), "moto": list(_moto_backends())}
    body = io.BytesIO()
    _Pickler(body, endpoint).dump(everything)
    temporary = path.with_name(f"{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(json.dumps(_versions()).encode() + b"\n" + body.getvalue())
    temporary.replace(path)


def load(endpoint: Endpoint, path: Path) -> None:
    """Let `endpoint`, just installed, go on where the file's was.

    Parameters
    ----------
    endpoint : Endpoint
    path : Path

    Raises
    ------
    StateError
        The file isn't one of ours, or another version wrote it.
    OSError
        It can't be read.
    """
    header, _, body = path.read_bytes().partition(b"\n")
    try:
        found = json.loads(header)
    except ValueError:
        raise StateError(f"{path} is no state file: name one that was saved by batch-quota local") from None
    if found != _versions():
        raise StateError(f"{path} was written by {_say(found)}, this is {_say(_versions())}: start with a new file")
    try:
        everything = _Unpickler(io.BytesIO(body), endpoint).load()
    except Exception as error:  # a broken pickle can raise anything
        raise StateError(f"{path} can't be read: {error}") from error
    for service, account, region, backend in everything["moto"]:
        # moto makes the dictionary of an account, and we put what was in it back
        dict.__setitem__(_backend_dict(service)[account], region, backend)
    endpoint.restore(everything["endpoint"])


def _versions() -> dict[str, str]:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"constructs-qm": __version__, "moto": version("moto"), "python": python}


def _say(versions: object) -> str:
    if not isinstance(versions, dict):
        return "something else"
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _moto_backends() -> list[tuple[str, str, str, Any]]:
    return [
        (backends.service_name, account, region, backend)
        for backends in list(BackendDict._instances)  # type: ignore[misc]
        for account, region, backend in backends.iter_backends()
    ]


def _backend_dict(service: str) -> Any:
    from moto.backends import get_backend

    return get_backend(service)  # type: ignore[call-overload]


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves out what belongs to the process: moto's dictionaries, the endpoint, locks."""

    def __init__(self, file: io.BytesIO, endpoint: Endpoint) -> None:
        super().__init__(file, protocol=5)
        self._own = {id(part): name for name, part in endpoint.process_parts().items()}

    def persistent_id(self, value: Any) -> tuple[str, ...] | None:
        if isinstance(value, BackendDict):
            return "backends", value.service_name
        if isinstance(value, AccountSpecificBackend):
            return "account", value.service_name, value.account_id
        name = self._own.get(id(value))
        return None if name is None else ("endpoint", name)

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _LOCKS):
            return (threading.Lock if isinstance(value, _LOCKS[0]) else threading.RLock), ()
        if isinstance(value, weakref.WeakValueDictionary):
            return weakref.WeakValueDictionary, (dict(value),)
        if isinstance(value, defaultdict) and type(value) is not defaultdict:
            # one of moto's, whose constructor wants more than a factory
            parts = value.default_factory, value.__dict__
            return _new, (type(value),), parts, None, iter(value.items()), _set_parts
        return super().reducer_override(value)


def _new(kind: Any) -> Any:
    return kind.__new__(kind)


def _set_parts(value: Any, parts: tuple[Any, dict[str, Any]]) -> None:
    value.default_factory = parts[0]
    value.__dict__.update(parts[1])


class _Unpickler(pickle.Unpickler):
    """Puts this process's own parts where the other's were."""

    def __init__(self, file: io.BytesIO, endpoint: Endpoint) -> None:
        super().__init__(file)
        self._own = endpoint.process_parts()

    def persistent_load(self, name: tuple[str, ...]) -> Any:
        if name[0] == "backends":
            return _backend_dict(name[1])
        if name[0] == "account":
            return _backend_dict(name[1])[name[2]]
        return self._own[name[1]]
