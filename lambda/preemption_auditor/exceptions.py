"""Every error the auditor raises, in one place."""

from __future__ import annotations

__all__ = ["AuditorError"]


class AuditorError(ValueError):
    """A setting or a policy over time that can't be used; what the events hold never raises."""
