"""Every error the core raises, in one place.

All of them carry a message of one line that says what was given, what is
allowed and how to mend it, so that shells (CLI, endpoint, constructs) only have
to pass it on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quota_scheduler.findings import Finding


class QuotaSchedulerError(ValueError):
    """Base of every error raised by :mod:`quota_scheduler`."""


class PolicyError(QuotaSchedulerError):
    """A policy, or a part of one, breaks a rule of contract.md section 6.

    Parameters
    ----------
    findings : sequence of Finding
        At least one finding of level ``error``; the message is the first one's,
        with a count of the others.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__(f"{findings[0]}{more}")


class DocumentError(QuotaSchedulerError):
    """A policy or case document has the wrong form."""


class PayloadError(QuotaSchedulerError):
    """A ``serviceRequestPayload`` from which no capacity demand can be read."""


class JobError(QuotaSchedulerError):
    """A job that can't be taken, or an operation its state doesn't allow."""
