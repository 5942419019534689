"""AWS clients for the endpoint's own use: they speak to this process, without a network and whatever the mode.

CloudFormation types, event delivery and the like use AWS's own operations through these instead of moto's insides.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest

__all__ = ["internal_client"]

_making = threading.Lock()


def internal_client(service: str, account: str, region: str) -> Any:
    """Return a botocore client of an account and Region of this endpoint.

    Parameters
    ----------
    service : str
        As botocore names it.
    account : str
    region : str
    """
    with _making:  # making clients isn't safe under threads, using them is
        return _make(service, account, region)


@cache
def _session() -> botocore.session.Session:
    session = botocore.session.Session()
    # moto answers every session's requests while a mock is active; ours would be carried out twice
    session.unregister("before-send", botocore_stubber)
    return session


@cache
def _make(service: str, account: str, region: str) -> Any:
    client = _session().create_client(
        service,
        region_name=region,
        aws_access_key_id="internal",
        aws_secret_access_key="internal",
        endpoint_url=None,
        config=Config(
            retries={"max_attempts": 0}, s3={"addressing_style": "path"}, ignore_configured_endpoint_urls=True
        ),
    )

    def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        request.headers["x-moto-account-id"] = account
        reply = botocore_stubber.process_request(request)
        if reply is None:
            raise RuntimeError(f"moto has no {service}")
        status, headers, body = reply
        return AWSResponse(request.url, status, headers, MockRawResponse(body))

    client.meta.events.register_first("before-send", send)
    return client
