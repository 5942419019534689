"""JSON and YAML documents whose values know their line and column; untrusted, so size and depth are bounded.

YAML is loaded safely: only plain values, and CloudFormation's short intrinsic tags (``!Ref``, ``!GetAtt`` …),
which become the maps of their long forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from constructs_qm.documents import read_document
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from constructs_qm.validation.declared import Keys

__all__ = ["MAX_BYTES", "Document", "read"]

MAX_BYTES = 10_000_000
"""Ten times the largest template CloudFormation takes."""

MAX_DEPTH, MAX_VALUES = 100, 500_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_UNTAGGED = ("Ref", "Condition")


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
                self._root = yaml.compose(self._text.replace("\t", " "), Loader=_Loader)
            except yaml.YAMLError:
                return None
        return _place(self._root, keys) if self._root is not None else None


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
    DocumentError
        The file can't be read, is larger than 10 MB, nested deeper than 100 levels, not UTF-8 or not well-formed,
        or names a key twice.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path}: larger than {MAX_BYTES // 1_000_000} MB")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    if path.suffix == ".json":
        data = read_document(path)
        _bound(path, data)
        return Document(path, data, text)
    return _parse_yaml(path, text.replace("\t", " ") if text.lstrip().startswith("{") else text)


def _bound(path: Path, data: Any) -> None:
    """Raise DocumentError for a document nested too deep."""
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [item for value in level for item in _items(value)]
        if not level:
            return
    raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH} levels")


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _parse_yaml(path: Path, text: str) -> Document:
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise DocumentError(f"{path}: nested deeper than {MAX_DEPTH} levels")
        root = yaml.compose(text, Loader=_Loader)
        data = _Values().of(root, 0) if root is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise DocumentError(f"{path}{place}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    return Document(path, data, text, root)


class _Values:
    """Makes plain values of YAML nodes; aliases count each time they are used, so that few can't become many."""

    def __init__(self) -> None:
        self._scalars = yaml.constructor.SafeConstructor()
        self._count = 0
        self._merged: set[int] = set()

    def of(self, node: yaml.Node, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_VALUES or depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="too many values, aliases included", problem_mark=node.start_mark)
        short = node.tag[1:] if node.tag.startswith("!") else ""
        if not short:
            return self._plain(node, depth)
        value = node.value if isinstance(node, yaml.ScalarNode) else self._plain(node, depth)
        if short == "GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {short if short in _UNTAGGED else f"Fn::{short}": value}

    def _plain(self, node: yaml.Node, depth: int) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalars.construct_object(node)
        if node.tag.startswith(_STANDARD) and node.tag.removeprefix(_STANDARD) not in ("map", "seq"):
            raise yaml.MarkedYAMLError(problem=f"tag {node.tag} is not taken", problem_mark=node.start_mark)
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, depth + 1) for item in node.value]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, depth)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[Any, Any]:
        if id(node) not in self._merged:
            self._merged.add(id(node))
            self._refuse_twice(node)
            self._scalars.flatten_mapping(node)
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key is no plain value", problem_mark=key_node.start_mark)
            values[self._plain(key_node, depth)] = self.of(value_node, depth + 1)
        return values

    def _refuse_twice(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode) and key_node.value in seen:
                problem = f"key {key_node.value!r} is given twice: give it once"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            seen.add(key_node.value if isinstance(key_node, yaml.ScalarNode) else None)


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
