"""The two errors AWS Batch answers with, as Python exceptions, and one of our own.

Every operation raises these; only ``wire.py`` knows what they look like on the wire.
"""

from __future__ import annotations

__all__ = ["BatchError", "ClientException", "ForeignPageError", "ServerException"]


class BatchError(Exception):
    """Base of the errors a Batch operation answers with.

    Attributes
    ----------
    status : int
        HTTP status code.
    code : str
        Error code, as AWS SDKs show it.
    """

    status = 500
    code = "ServerException"


class ClientException(BatchError):
    """The request can't be fulfilled; nothing was changed."""

    status = 400
    code = "ClientException"


class ForeignPageError(ClientException):
    """A browser asks for a page that isn't the endpoint's own; AWS Batch has nothing like it."""

    status = 403
    code = "AccessDeniedException"


class ServerException(BatchError):
    """Something went wrong in here."""
