from __future__ import annotations

from support.browser import browser

__all__ = ["browser"]
