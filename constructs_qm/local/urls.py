"""Where moto sends requests to AWS Batch: all to one place, which looks at the rest of the path."""

from __future__ import annotations

from moto.batch.urls import url_bases

from constructs_qm.local.responses import QuotaBatchResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/v1/(?P<operation>.+)$": QuotaBatchResponse.dispatch}
