"""JSON and YAML documents whose values know their line and column; untrusted, so size and depth are bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from constructs_qm.validation.form_error import FormError, PlacedFault, RefusedError
from constructs_qm.validation.yaml_values import YamlValues
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from constructs_qm.validation.declared import Keys
    from quota_scheduler.policy_form import FormFault

__all__ = ["MAX_BYTES", "Document", "read"]

MAX_BYTES = 10_000_000
"""Ten times the largest template CloudFormation takes."""

MAX_DEPTH = 100
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document:
    """A file's content and where each value stands in it.

    Attributes
    ----------
    path : Path
    data : object
        Maps, lists, text, numbers, booleans and None.
    """

    def __init__(self, path: Path, data: Any, text: str, root: yaml.Node | None = None) -> None:
        self.path = path
        self.data = data
        self._text = text
        self._root = root

    def place(self, keys: Keys) -> tuple[int, int] | None:
        """Return line and column, from 1, of the value at `keys`, or of the nearest one above that exists."""
        if self._root is None:
            try:
                # JSON is YAML, but for tabs; their width doesn't matter here
                self._root = yaml.compose(_without_tabs(self._text), Loader=_Loader)
            except yaml.YAMLError:
                return None
        return _place(self._root, keys) if self._root is not None else None

    def error(self, faults: Iterable[FormFault]) -> FormError:
        """Return the error of these faults, in order of their places."""
        placed = [PlacedFault(*fault[:3], *(self.place(fault.keys) or (1, 1))) for fault in faults]
        return FormError(self.path, sorted(placed, key=lambda fault: fault[-2:]))


def read(path: Path) -> Document:
    """Read a JSON or YAML file.

    Parameters
    ----------
    path : Path
        ``.json`` is read as JSON, everything else as YAML, of which JSON is a part.

    Returns
    -------
    Document

    Raises
    ------
    FormError
        QM-F01 to QM-F03: it is not UTF-8, not well-formed, larger than 10 MB, nested deeper than 100 levels, or names
        a key twice.
    DocumentError
        The file can't be read.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RefusedError("QM-F02", f"file is larger than {MAX_BYTES // 1_000_000} MB")
        content = path.read_bytes()
        return (_parse_json if path.suffix == ".json" else _parse_yaml)(path, content.decode("utf-8"))
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise FormError(path, [PlacedFault("QM-F01", f"not UTF-8 text: {error.reason}", "", line, column)]) from None
    except RefusedError as error:
        raise FormError(path, [error.fault]) from None


def _parse_json(path: Path, text: str) -> Document:
    try:
        data = json.loads(text, object_pairs_hook=_unique_keys)
        if not _is_deep(data):
            return Document(path, data, text)
    except json.JSONDecodeError as error:
        raise RefusedError("QM-F01", f"not JSON: {error.msg.lower()}", error.lineno, error.colno) from None
    except (RecursionError, KeyError):
        pass
    except ValueError as error:
        raise RefusedError("QM-F01", f"not JSON: {error}") from None
    return _parse_yaml(path, _without_tabs(text))  # which knows the place, and refuses it


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise KeyError
    return document


def _is_deep(data: Any) -> bool:
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [item for value in level for item in _items(value)]
    return bool(level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _without_tabs(text: str) -> str:
    """Return JSON as YAML takes it."""
    return text.replace("\t", " ")


def _parse_yaml(path: Path, text: str) -> Document:
    if text.lstrip().startswith("{"):
        text = _without_tabs(text)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise RefusedError.at(event.start_mark, "QM-F02", _TOO_DEEP)
        root = yaml.compose(text, Loader=_Loader)
        return Document(path, YamlValues(MAX_DEPTH).of(root) if root is not None else None, text, root)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text) from None
    except yaml.YAMLError as error:
        raise RefusedError("QM-F01", f"not YAML: {' '.join(str(error).split())}") from None


def _syntax_error(error: yaml.MarkedYAMLError, text: str) -> RefusedError:
    problem, mark = str(error.problem), error.problem_mark
    if mark is None:
        return RefusedError("QM-F01", f"not YAML: {problem}")
    if "nesting depth" in problem:  # the scanner looks ahead, and has a limit of its own
        return RefusedError.at(mark, "QM-F02", _TOO_DEEP)
    line = text.split("\n")[mark.line : mark.line + 1]
    if line and line[0].startswith("\t", mark.column):
        problem = "a tab: indent with spaces"
    return RefusedError.at(mark, "QM-F01", f"not YAML: {problem}")


def _place(node: yaml.Node, keys: Keys) -> tuple[int, int]:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if str(k.value) == str(key)), None)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            mark = node.start_mark
        else:
            break
        line, column = mark.line + 1, mark.column + 1
    return line, column
