"""Quota shares: CreateQuotaShare and its kin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from constructs_qm.local import job_life
from constructs_qm.local.errors import ClientException
from constructs_qm.local.lifecycle import Resource, begin, require_disabled, require_settled
from constructs_qm.local.operations import Answer, Request, operation
from constructs_qm.local.paging import page
from constructs_qm.local.rules import read_limits, refuse, require_name
from quota_scheduler import Level, QuotaPolicy, QuotaShare, ResourceSharing, check_policy

if TYPE_CHECKING:
    from constructs_qm.local.job_queues import JobQueue
    from constructs_qm.local.state import BatchState

__all__ = ["Share"]


@dataclass(eq=False, kw_only=True)
class Share(Resource):
    """A quota share of a queue.

    Attributes
    ----------
    queue : JobQueue
    value : QuotaShare
        As the scheduler sees it; its ``enabled`` is the share's ``state``.
    """

    queue: JobQueue
    value: QuotaShare

    @property
    def state(self) -> str:
        """ENABLED or DISABLED."""
        return "ENABLED" if self.value.enabled else "DISABLED"

    def describe(self) -> Answer:
        """Return it as ListQuotaShares does."""
        sharing: dict[str, Any] = {"strategy": self.value.sharing.strategy.value}
        if self.value.sharing.borrow_limit is not None:
            sharing["borrowLimit"] = self.value.sharing.borrow_limit
        in_share = "ENABLED" if self.value.in_share_preemption else "DISABLED"
        return {
            "quotaShareName": self.value.name,
            "quotaShareArn": self.arn,
            "jobQueueArn": self.queue.arn,
            "capacityLimits": [{"maxCapacity": most, "capacityUnit": unit} for unit, most in self.value.limits.items()],
            "resourceSharingConfiguration": sharing,
            "preemptionConfiguration": {"inSharePreemption": in_share},
            "state": self.state,
            "status": self.status,
        }

    def ids(self) -> Answer:
        """Return what the operations that change it answer."""
        return {"quotaShareName": self.value.name, "quotaShareArn": self.arn}


@operation("CreateQuotaShare")
def _create(state: BatchState, request: Request) -> Answer:
    name = require_name(request["quotaShareName"], "quota share name")
    queue = state.queue(request["jobQueue"])
    require_settled(queue, f"Job queue {queue.name}")
    if name in queue.shares:
        raise ClientException("Object already exists")
    value = QuotaShare(
        name,
        read_limits(request["capacityLimits"]),
        _sharing(request["resourceSharingConfiguration"]),
        _in_share(request["preemptionConfiguration"]),
        request.get("state", "ENABLED") == "ENABLED",
    )
    _check_in_queue(state, queue, value)
    share = Share(
        arn=f"{queue.arn}/quota-share/{name}",
        sequence=state.next_sequence(),
        tags=request.get("tags", {}),
        queue=queue,
        value=value,
    )
    queue.shares[name] = share
    begin(state, share, "CREATING", lambda: queue.scheduler.set_policy(queue.policy_in_force()))
    return share.ids()


@operation("UpdateQuotaShare")
def _update(state: BatchState, request: Request) -> Answer:
    share = _share(state, request["quotaShareArn"])
    require_settled(share, f"Quota share {share.value.name}")
    value = share.value
    if "capacityLimits" in request:
        value = replace(value, limits=read_limits(request["capacityLimits"]))
    if "resourceSharingConfiguration" in request:
        value = replace(value, sharing=_sharing(request["resourceSharingConfiguration"]))
    if "preemptionConfiguration" in request:
        value = replace(value, in_share_preemption=_in_share(request["preemptionConfiguration"]))
    if "state" in request:
        value = replace(value, enabled=request["state"] == "ENABLED")
    if value.limits != share.value.limits:
        _check_in_queue(state, share.queue, value)
    share.queue.scheduler.set_policy(share.queue.policy_in_force().with_share(value))
    share.value = value
    begin(state, share, "UPDATING")
    return share.ids()


@operation("DeleteQuotaShare")
def _delete(state: BatchState, request: Request) -> Answer:
    share = _share(state, request["quotaShareArn"])
    what = f"Quota share {share.value.name}"
    require_settled(share, what)
    require_disabled(share.state, what)
    begin(state, share, "DELETING", lambda: _forget(state, share))
    return {}


def _forget(state: BatchState, share: Share) -> None:
    name, queue = share.value.name, share.queue
    for job in state.jobs.values():
        if job.queue is queue and job.job.share == name and not job.ended:
            job_life.terminate(state, job, f"Quota share {name} was deleted")
    del queue.shares[name]
    queue.scheduler.set_policy(queue.policy_in_force())


@operation("DescribeQuotaShare")
def _describe(state: BatchState, request: Request) -> Answer:
    share = _share(state, request["quotaShareArn"])
    return {**share.describe(), "tags": share.tags}


@operation("ListQuotaShares")
def _list(state: BatchState, request: Request) -> Answer:
    queue = state.queue(request["jobQueue"])
    items = ((share.sequence, share.describe()) for share in queue.shares.values())
    shares, token = page(f"quota-shares/{queue.name}", items, request)
    return {"quotaShares": shares, **token}


def _share(state: BatchState, arn: str) -> Share:
    resource = state.find(arn)
    if not isinstance(resource, Share):
        raise ClientException(f"Quota share {arn} does not exist")
    return resource


def _check_in_queue(state: BatchState, queue: JobQueue, value: QuotaShare) -> None:
    """Refuse a share that makes the queue's policy break a rule (QM004, QM005; A5 flipped: QM009)."""
    others = (share.value for share in queue.shares.values() if share.value.name != value.name)
    policy = QuotaPolicy(queue.environment.limits, (*others, value))
    own = f"shares.{value.name}."
    refuse(
        finding
        for finding in check_policy(policy)
        if (finding.level is Level.ERROR and (finding.path == "shares" or finding.path.startswith(own)))
        or (finding.rule == "QM009" and not state.settings.assumptions.oversubscription)
    )


def _sharing(configuration: dict[str, Any]) -> ResourceSharing:
    return ResourceSharing(configuration["strategy"], configuration.get("borrowLimit"))


def _in_share(configuration: dict[str, Any]) -> bool:
    return bool(configuration["inSharePreemption"] == "ENABLED")
