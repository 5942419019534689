"""Parts of a deployment file that are each of the right form and can't be deployed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quota_scheduler.policy_form import FormFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.deployment.models import Deployment, Queue

__all__ = ["contradictions_in"]


def contradictions_in(deployment: Deployment) -> Iterator[FormFault]:
    """Yield QM-F07 for queues of one name in an account and Region, and for submitters and targets from elsewhere.

    A policy can't be attached to another account's role, and the CDK would leave it out in silence; an auditor's
    findings can't be sent to another Region.
    """
    declared_by: dict[tuple[str | None, str, str], str] = {}
    for team, region, index, queue in deployment.queues():
        account = deployment.teams[team].account
        where, keys = f"{team}/{region}/{queue.name}", ("teams", team, "regions", region, "queues", index)
        if (account, region, queue.name) in declared_by:
            other = declared_by[account, region, queue.name]
            message = (
                f"queue {queue.name!r} of {region} is declared by {other} and {team}: "
                "give it another name, they are unique in an account and Region"
            )
            yield FormFault("QM-F07", message, f"{where}.name", (*keys, "name"))
        declared_by[account, region, queue.name] = team
        for number, share in enumerate(queue.shares):
            for entry, submitter in enumerate(share.submitters):
                if account is not None and submitter.role.split(":")[4] != account:
                    message = f"{submitter.role} is not a role of account {account}: name one that is"
                    at = f"{where}.shares.{share.name}.submitters.{entry}.role"
                    yield FormFault("QM-F07", message, at, (*keys, "shares", number, "submitters", entry, "role"))
        for key, target in _targets(queue):
            if target.split(":")[3] != region:
                message = f"{target} is not of {region}: name one that is"
                yield FormFault("QM-F07", message, f"{where}.auditor.{key}", (*keys, "auditor", key))


def _targets(queue: Queue) -> Iterator[tuple[str, str]]:
    """Yield where findings of a queue go, by key."""
    if queue.auditor is not None:
        targets = (("findingsTopic", queue.auditor.findings_topic), ("findingsBus", queue.auditor.findings_bus))
        yield from ((key, target) for key, target in targets if target is not None)
