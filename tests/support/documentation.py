"""The documentation as data: its pages, their blocks of code, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from pymdownx.slugs import slugify

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```[ \t]*$", re.DOTALL | re.MULTILINE
)
_MARK = re.compile(r"<!-- not run: (?P<reason>[^>]+) -->\s*$")
_SNIPPET = re.compile(r'^--8<-- "(?P<path>[^":]+)(?::(?P<section>\w+))?"$', re.MULTILINE)
_SLUG = slugify(case="lower")


@dataclass(frozen=True)
class Block:
    """A fenced block of code.

    Attributes
    ----------
    page : Path
    line : int
        Of its first line of text, from 1.
    language : str
    title : str
        The file it stands for, or nothing.
    text : str
        With snippets put in.
    snippets : tuple of str
        The files these come from.
    reason : str
        Why it is only parsed, or nothing.
    """

    page: Path
    line: int
    language: str
    title: str
    text: str
    snippets: tuple[str, ...]
    reason: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    return tuple(_blocks(page, page.read_text(encoding="utf-8")))


def _blocks(page: Path, text: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        indent, info = found["indent"], found["info"].strip()
        language = re.match(r"[{ ]*\.?([\w-]*)", info)
        title = re.search(r'title="([^"]+)"', info)
        mark = _MARK.search(text[: found.start()])
        lines = "\n".join(line.removeprefix(indent) for line in found["text"].splitlines()) + "\n"
        yield Block(
            page,
            text.count("\n", 0, found.start("text")) + 1,
            language[1] if language else "",
            title[1] if title else "",
            _SNIPPET.sub(lambda snippet: snippet_text(snippet["path"], snippet["section"]), lines),
            tuple(snippet["path"] for snippet in _SNIPPET.finditer(lines)),
            mark["reason"] if mark else "",
        )


def snippet_text(path: str, section: str | None = None) -> str:
    """Return what ``pymdownx.snippets`` puts in: a file, or a section of it between its marks."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
    if section:
        text = text.partition(f"--8<-- [start:{section}]\n")[2].partition(f"--8<-- [end:{section}]")[0]
        text = dedent("\n".join(text.splitlines()[:-1]))
    assert text, f"{path} has no section {section}"
    return text


@cache
def prose_of(page: Path) -> str:
    """Return a page without its blocks and spans of code and its comments."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]+`", "", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as the site and its source's host make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?)(?: +\{ *#([\w-]+) *\})?$", text, re.MULTILINE)
    return frozenset(
        given or _SLUG(re.sub(r"[`*]|\[([^\]]+)\]\([^)]*\)", r"\1", title), "-") for title, given in headings
    )


def links_of(page: Path) -> list[str]:
    """Return where a page's links and pictures lead."""
    return re.findall(r"\]\(([^)\s]+)\)", prose_of(page).replace("[]", "[code]"))
