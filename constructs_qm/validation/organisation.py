"""Rules of an organisation's own, beside QM001 to QM015."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_scheduler import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quota_scheduler import QuotaPolicy, QuotaShare

__all__ = ["OrganisationRule"]


class OrganisationRule:
    """Base of a rule that an organisation adds; write :meth:`check` and name the rule.

    Attributes
    ----------
    id : str
        Shown with each finding; the rules of this project begin with ``QM``.
    level : Level
        ``error`` by default.
    mend : str
        What to do about a finding.

    Examples
    --------
    >>> class ProductionBorrowsLittle(OrganisationRule):
    ...     id = "ACME001"
    ...     mend = "Lower the borrow limit to 100 or less."
    ...
    ...     def check(self, policy):
    ...         for share in policy.shares:
    ...             limit = share.sharing.borrow_limit
    ...             if share.name.startswith("prod") and limit is not None and not 0 <= limit <= 100:
    ...                 yield self.finding(f"borrow limit {limit} %: at most 100 % in production", share, "sharing")
    """

    id: str = ""
    level: Level = Level.ERROR
    mend: str = ""

    def check(self, policy: QuotaPolicy) -> Iterator[Finding]:
        """Yield a finding for each part of `policy` that breaks the rule."""
        raise NotImplementedError

    def finding(self, message: str, share: QuotaShare | None = None, part: str = "") -> Finding:
        """Return a finding.

        Parameters
        ----------
        message : str
            What was given, what is allowed and how to mend it.
        share : QuotaShare, optional
            The share it is about; the whole queue by default.
        part : str
            The part of the share it is about: ``sharing``, ``limits`` or ``limits.INSTANCE_TYPE``.
        """
        path = "shares" if share is None else f"shares.{share.name}"
        return Finding(self.id, self.level, message, f"{path}.{part}" if part else path)
