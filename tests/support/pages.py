"""What a page holds, as a browser parses it: for tests of reports."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

__all__ = ["Element", "Page"]

_VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})


@dataclass
class Element:
    """An element, its attributes and what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of a kind in this one, in order."""
        return [e for child in self.children for e in ([child] if child.tag == tag else []) + child.all(tag)]

    def everything(self) -> list[Element]:
        return [e for child in self.children for e in [child, *child.everything()]]

    @property
    def text(self) -> str:
        return "".join(self.texts)


class Page(HTMLParser):
    """A page as a tree; raises AssertionError where a tag isn't closed in its place."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(html)
        assert self._open == [self.root], f"not closed: {[element.tag for element in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)

    def all(self, tag: str) -> list[Element]:
        return self.root.all(tag)

    def by_id(self, identity: str) -> Element:
        [found] = [e for e in self.root.everything() if e.attributes.get("id") == identity]
        return found

    def rows(self, identity: str) -> list[list[str]]:
        """Return the cells of a chart's table."""
        [body] = self.by_id(f"{identity}-table").all("tbody")
        return [[cell.text for cell in row.children] for row in body.all("tr")]

    def figure(self, identity: str) -> dict[str, Any]:
        """Return what plotly is given to draw."""
        [script] = self.by_id(identity).all("script")
        document: dict[str, Any] = json.loads(script.text)
        return document
