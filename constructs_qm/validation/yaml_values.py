"""Plain values of YAML nodes, and CloudFormation's short tags (``!Ref``, ``!GetAtt`` …) as the maps they stand for."""

from __future__ import annotations

from typing import Any

import yaml

from constructs_qm.validation.form_error import RefusedError

__all__ = ["YamlValues"]

MAX_VALUES = 500_000

_STANDARD = "tag:yaml.org,2002:"
_UNTAGGED = ("Ref", "Condition")


class YamlValues:
    """Makes plain values of YAML nodes; aliases count each time they are used, so that few can't become many."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._scalars = yaml.constructor.SafeConstructor()
        self._count = 0
        self._merged: set[int] = set()

    def of(self, node: yaml.Node, depth: int = 0) -> Any:
        """Return the value of a node; raises RefusedError for what isn't taken."""
        self._count += 1
        if self._count > MAX_VALUES or depth > self._max_depth:
            raise RefusedError.at(node.start_mark, "QM-F02", "too many values, aliases included")
        short = node.tag[1:] if node.tag.startswith("!") else ""
        if not short:
            return self._plain(node, depth)
        value = node.value if isinstance(node, yaml.ScalarNode) else self._plain(node, depth)
        if short == "GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {short if short in _UNTAGGED else f"Fn::{short}": value}

    def _plain(self, node: yaml.Node, depth: int) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if node.tag.startswith(_STANDARD) and node.tag.removeprefix(_STANDARD) not in ("map", "seq"):
            raise RefusedError.at(node.start_mark, "QM-F01", f"not YAML: tag {node.tag} is not taken")
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, depth + 1) for item in node.value]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, depth)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            return self._scalars.construct_object(node)
        except ValueError as error:  # such as the 99th of a month
            raise RefusedError.at(node.start_mark, "QM-F01", f"not YAML: {error}") from None

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[Any, Any]:
        if id(node) not in self._merged:
            self._merged.add(id(node))
            self._refuse_twice(node)
            self._scalars.flatten_mapping(node)
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise RefusedError.at(key_node.start_mark, "QM-F01", "not YAML: a key is no plain value")
            values[self._plain(key_node, depth)] = self.of(value_node, depth + 1)
        return values

    def _refuse_twice(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode) and key_node.value in seen:
                raise RefusedError.at(
                    key_node.start_mark, "QM-F03", f"key {key_node.value!r} is given twice: give it once"
                )
            seen.add(key_node.value if isinstance(key_node, yaml.ScalarNode) else None)
