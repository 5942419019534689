"""Resource sharing of a quota share, deploy-time tokens included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import aws_cdk as cdk

from constructs_qm.tokens import is_token
from quota_scheduler import UNLIMITED, SharingStrategy, policy

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ResourceSharing", "SharingStrategy"]


@dataclass(frozen=True)
class ResourceSharing(policy.ResourceSharing):
    """Sharing strategy of a quota share, with the borrow limit only one of them has.

    The policy model's own value, except that a borrow limit may be a token; rule QM006 is then
    checked for the strategy alone.

    Parameters
    ----------
    strategy : SharingStrategy or str
        ``RESERVE``, ``LEND`` or ``LEND_AND_BORROW``.
    borrow_limit : int, optional
        Percent of each capacity limit, -1 for unlimited; only with ``LEND_AND_BORROW``.

    Raises
    ------
    PolicyError
        QM006.
    """

    def __post_init__(self) -> None:
        limit: Any = self.borrow_limit
        if is_token(limit):
            object.__setattr__(self, "borrow_limit", 0)
        super().__post_init__()
        if is_token(limit):
            object.__setattr__(self, "borrow_limit", cdk.Token.as_number(limit))

    @classmethod
    def lend_and_borrow(cls, *, limit_percent: float = UNLIMITED) -> Self:
        """Lend idle capacity and borrow that of others.

        Parameters
        ----------
        limit_percent : int
            How much may be borrowed, in percent of each capacity limit of the share: 200 allows three
            times the limit in use, -1 (the default, as in AWS Batch) sets no limit. May be a token.
        """
        return cls(SharingStrategy.LEND_AND_BORROW, cast(int, limit_percent))
