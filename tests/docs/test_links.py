"""Links of the README and the documentation lead somewhere; what leads out of the project is listed, never fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documentation import DOCS, PAGES, ROOT, anchors_of, links_of

if TYPE_CHECKING:
    from pathlib import Path

OTHER_PAGES = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md")]
HOSTS = {
    "cosmic-ray.readthedocs.io",
    "docs.aws.amazon.com",
    "docs.getmoto.org",
    "keepachangelog.com",
    "plotly.com",
    "semver.org",
}
"""Where links may lead outside; nothing here asks them."""


@pytest.mark.parametrize("page", sorted({*PAGES, *OTHER_PAGES}), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links_of(page):
        if "://" in link:
            assert link.split("/")[2] in HOSTS, f"{link}: a new host has to be allowed here"
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors_of(target), f"{link}: {sorted(anchors_of(target))}"


def test_no_page_of_the_site_leads_out_of_its_folder() -> None:
    """The site holds the docs folder only; a link beyond it would work at the source's host and nowhere else."""
    outside = [
        (str(page.relative_to(ROOT)), link)
        for page in PAGES
        if DOCS in page.parents
        for link in links_of(page)
        if "://" not in link and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)
    ]
    assert outside == []
