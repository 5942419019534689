"""What the constructs raise beside :class:`quota_scheduler.PolicyError`."""

from __future__ import annotations

from quota_scheduler import QuotaSchedulerError

__all__ = ["PropError"]


class PropError(QuotaSchedulerError):
    """A prop has a value it can't have, and no policy rule is about it.

    The message begins with the path of the construct.
    """
