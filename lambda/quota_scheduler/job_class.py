"""What all jobs of one share and demand have in common, looked up once instead of at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_scheduler.ledger import Request

if TYPE_CHECKING:
    from quota_scheduler.queue_state import Lane, ShareState

__all__ = ["JobClass"]


class JobClass(Request):
    """Where the jobs of one share and demand wait and hold, and what the ledger says of one more.

    Attributes
    ----------
    share : ShareState
    lane : Lane
        Where they wait.
    later : Request
        Their demand as the ledger of ``QueueState.later`` counts it.
    blocked : str or None
        Why they can never run under the policy in force (contract.md section 4).
    """

    __slots__ = ("blocked", "lane", "later", "share")

    def __init__(self, request: Request, later: Request, share: ShareState, lane: Lane) -> None:
        super().__init__(request.parts)
        self.later = later
        self.share = share
        self.lane = lane
        self.blocked: str | None = None
