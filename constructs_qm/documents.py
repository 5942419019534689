"""Reading JSON and YAML files into plain documents, with errors that name the file and place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_document"]


def read_document(path: Path) -> Any:
    """Read a JSON or YAML file.

    Parameters
    ----------
    path : Path
        ``.yaml`` and ``.yml`` are read as YAML, everything else as JSON.

    Returns
    -------
    object
        Maps, lists, text, numbers, booleans and None.

    Raises
    ------
    DocumentError
        The file can't be read, isn't UTF-8, isn't well-formed, or names a key twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    if path.suffix in (".yaml", ".yml"):
        return _parse_yaml(path, text)
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        message = f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg.lower()}"
        raise DocumentError(message) from None
    except (DocumentError, RecursionError) as error:
        raise DocumentError(f"{path}: {error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise DocumentError(f"key {twice!r} is given twice: give it once")
    return document


def _parse_yaml(path: Path, text: str) -> Any:
    import yaml

    class UniqueKeyLoader(yaml.SafeLoader):
        """The safe loader, which also refuses a key that is given twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for index, key in enumerate(keys):
                if key in keys[:index]:
                    raise yaml.MarkedYAMLError(
                        problem=f"key {key!r} is given twice: give it once",
                        problem_mark=node.value[index][0].start_mark,
                    )
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader=UniqueKeyLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise DocumentError(f"{path}{place}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        raise DocumentError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
