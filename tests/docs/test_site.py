"""The built site: whole, with every anchor, and nothing in it that a browser would fetch from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from support.documentation import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = ("constructs_qm", "constructs_qm.local", "constructs_qm.validation", "quota_scheduler", "preemption_auditor")
FETCHED = {"src", "srcset", "data", "poster", "action"}
SHEETS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


class Page(HTMLParser):
    """What of a page is an anchor, a link to follow, or fetched by itself."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given.get("id", ""), given.get("name", "")}
        self.fetched |= {given[name] for name in FETCHED & given.keys()}
        if tag == "link" and SHEETS & set(given.get("rel", "").split()):
            self.fetched.add(given.get("href", ""))
        elif tag == "a" and "href" in given:
            self.links.add(given["href"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as ``make docs`` does; a warning, such as of a link without a target, fails."""
    folder = tmp_path_factory.mktemp("site")
    path = os.pathsep.join([str(ROOT), str(ROOT / "lambda")])
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_page_is_built(site: Path) -> None:
    sources = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.parent.relative_to(site) for path in site.rglob("index.html")}
    assert {source for source in sources if source.name != "index"} <= built


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    outside = {
        (path.name, address)
        for path, page in pages.items()
        for address in page.fetched
        if re.match(r"(?i)(\w+:)?//", address)
    }
    assert outside == set()
    sheets = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']+", sheets) == []
    assert not any("mermaid" in path.read_text(encoding="utf-8") for path in pages), "it would be fetched from a CDN"


def test_links_lead_to_a_page_and_an_anchor_of_the_site(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are from the root of wherever the site is served
        for link in page.links:
            if re.match(r"(?i)[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            found = target in pages and (not anchor or anchor in pages[target].ids)
            if not found and not (target.is_file() and target.suffix != ".html"):
                broken.append((str(path.relative_to(site)), link))
    assert broken == []


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_in_the_api_reference(package: str, pages: dict[Path, Page]) -> None:
    anchors = {anchor for path, page in pages.items() if path.parent.parent.name == "api" for anchor in page.ids}
    module = import_module(package)
    homes = {name: getattr(getattr(module, name), "__module__", package) for name in module.__all__}
    missing = [
        name
        for name, home in homes.items()
        if not name.startswith("__")
        and anchors.isdisjoint({f"{package}.{name}", f"{home}.{name}", f"{home.partition('.')[0]}.{name}"})
    ]
    assert missing == []
