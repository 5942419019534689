"""AWS Batch's wire protocol (REST with JSON bodies): bytes in, bytes out."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from constructs_qm.local.errors import BatchError, ClientException, ServerException
from constructs_qm.local.service_model import read_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from botocore.model import OperationModel

__all__ = ["Reply", "answer", "error_reply", "parse"]

_log = logging.getLogger(__name__)


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


def parse(
    operation: OperationModel, arn: str | None, query: Mapping[str, Sequence[str]], body: bytes
) -> dict[str, Any]:
    """Read a request.

    Parameters
    ----------
    operation : botocore.model.OperationModel
    arn : str or None
        The one in the path of a tag operation.
    query : mapping of str to sequence of str
        Query parameters.
    body : bytes

    Raises
    ------
    ClientException
        It can't be read.
    """
    try:
        document = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ClientException(f"the request body is not JSON: {error}") from None
    if arn is not None and isinstance(document, dict):
        document = {**document, "resourceArn": arn}
        if "tagKeys" in operation.input_shape.members:
            document["tagKeys"] = list(query.get("tagKeys", ()))
    return read_request(operation, document)


def answer(act: Callable[[], dict[str, Any]]) -> Reply:
    """Call `act` and put its answer, or the error it ends with, on the wire."""
    try:
        return _reply(200, act())
    except BatchError as error:
        return error_reply(error)
    except Exception:  # the process must live on, and the client must learn that it isn't to blame
        _log.exception("request failed")
        return error_reply(ServerException("An internal error occurred"))


def error_reply(error: BatchError) -> Reply:
    """Return an error as AWS Batch sends it: the type in a header, the text in ``message``."""
    reply = _reply(error.status, {"message": str(error)})
    reply.headers["x-amzn-ErrorType"] = error.code
    return reply


def _reply(status: int, document: dict[str, Any]) -> Reply:
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(document).encode())
