"""Which requests are ours and which are moto's, and the way of ours through moto."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from moto.batch.models import batch_backends
from moto.batch.responses import BatchResponse

from constructs_qm.local.current import current
from constructs_qm.local.errors import ClientException
from constructs_qm.local.operations import OPERATIONS
from constructs_qm.local.service_model import operation_for_path
from constructs_qm.local.wire import answer, error_reply, parse

if TYPE_CHECKING:
    from moto.core.request import Request

    from constructs_qm.local.backend import QuotaBatchBackend
    from constructs_qm.local.state import BatchState

__all__ = ["QuotaBatchResponse"]

_CONTAINER_RESOURCES = (":compute-environment/", ":job-definition/", ":job/", ":consumable-resource/")


class QuotaBatchResponse(BatchResponse):
    """One request to AWS Batch."""

    def _dispatch(self, request: Request, full_url: str | None = None, headers: Any = None) -> Any:
        self.setup_class(request, full_url, headers, use_raw_body=True)
        backend = cast("QuotaBatchBackend", batch_backends[self.current_account][self.region])
        state = backend.quota
        try:
            name, document = self._read(request)
            if _is_containers(state, name, document):
                return super()._dispatch(request, full_url, headers)
        except ClientException as error:
            reply = error_reply(error)
        else:
            reply = answer(lambda: current().perform(state, name, document))
        return reply.status, {**reply.headers, "x-amzn-RequestId": str(uuid4())}, reply.body

    def _read(self, request: Request) -> tuple[str, dict[str, Any]]:
        path = unquote(urlsplit(request.raw_path).path)
        operation, arn = operation_for_path(request.method, path)
        if operation is None:
            raise ClientException(f"AWS Batch has no operation at {request.method} {path}")
        return operation.name, parse(operation, arn, request.args.to_dict(flat=False), self.body)


def _is_containers(state: BatchState, operation: str, request: dict[str, Any]) -> bool:
    """Whether a request is about container Batch; raises ClientException where it mixes the two."""
    if operation in ("SubmitJob", "ListJobs"):
        queue = request.get("jobQueue", "")
        if any(queue in (ours.name, ours.arn) for ours in state.queues.values()):
            raise ClientException(
                f"Job queue {queue} is of type SAGEMAKER_TRAINING: use {operation.replace('Job', 'ServiceJob')} for it"
            )
        return True
    if operation not in OPERATIONS:
        return True
    if operation == "CreateJobQueue":
        ours = request.get("jobQueueType") == "SAGEMAKER_TRAINING" or request.get("serviceEnvironmentOrder")
        return not ours
    if operation in ("UpdateJobQueue", "DeleteJobQueue"):
        return state.is_container_queue(request["jobQueue"])
    if "resourceArn" in request:
        arn = request["resourceArn"]
        return any(kind in arn for kind in _CONTAINER_RESOURCES) or state.is_container_queue(arn)
    return False
