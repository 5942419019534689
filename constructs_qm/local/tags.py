"""TagResource and its kin, for every resource that has an ARN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs_qm.local.errors import ClientException
from constructs_qm.local.operations import Answer, Request, operation

if TYPE_CHECKING:
    from constructs_qm.local.lifecycle import Resource
    from constructs_qm.local.state import BatchState

__all__: list[str] = []

MAX_TAGS = 50


@operation("TagResource")
def _tag(state: BatchState, request: Request) -> Answer:
    resource = _find(state, request["resourceArn"])
    tags = {**resource.tags, **request["tags"]}
    if len(tags) > MAX_TAGS:
        raise ClientException(f"{len(tags)} tags on {resource.arn}: at most {MAX_TAGS} are allowed")
    resource.tags = tags
    return {}


@operation("UntagResource")
def _untag(state: BatchState, request: Request) -> Answer:
    resource = _find(state, request["resourceArn"])
    gone = set(request["tagKeys"])
    resource.tags = {key: value for key, value in resource.tags.items() if key not in gone}
    return {}


@operation("ListTagsForResource")
def _list(state: BatchState, request: Request) -> Answer:
    return {"tags": _find(state, request["resourceArn"]).tags}


def _find(state: BatchState, arn: str) -> Resource:
    resource = state.find(arn)
    if resource is None:
        raise ClientException(f"Resource {arn} does not exist")
    return resource
