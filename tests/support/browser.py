"""Debian's Chromium for tests of pages, driven by Playwright, and the pictures they take for the documentation."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; of a module, since nothing else can run an event loop beside it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("install a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def take_picture(page: Page, name: str, *, full_page: bool = True) -> None:
    """Write a picture of the page, or of what is in sight, to docs/images if CONSTRUCTS_QM_SCREENSHOTS is set."""
    if os.environ.get("CONSTRUCTS_QM_SCREENSHOTS"):
        IMAGES.mkdir(exist_ok=True)
        page.screenshot(path=IMAGES / f"{name}.png", full_page=full_page, animations="disabled")
