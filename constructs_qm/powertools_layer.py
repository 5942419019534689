"""The public layer of Powertools for AWS Lambda (Python), by partition (Powertools' installation page)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk.region_info import RegionInfo

from constructs_qm.exceptions import PropError
from constructs_qm.lambda_asset import ARCHITECTURE, RUNTIME
from constructs_qm.tokens import is_token

if TYPE_CHECKING:
    from constructs import Construct

__all__ = ["powertools_layer"]

VERSION = 27
"""The newest one that all partitions are known to have; the functions need nothing newer."""

_ACCOUNT = "017000801446"
_ACCOUNTS = {"cn-north-1": "498634801083", "us-gov-east-1": "165087284144", "us-gov-west-1": "165093116878"}
"""Who publishes it in the Regions of other partitions."""


def powertools_layer(scope: Construct, id: str) -> lambda_.ILayerVersion:
    """Return the layer for the Region of `scope`; a stack that doesn't know its Region gets the commercial one.

    Raises
    ------
    PropError
        Nobody publishes it in the Region.
    """
    stack = cdk.Stack.of(scope)
    region = stack.region
    if not is_token(region) and region not in _ACCOUNTS and RegionInfo.get(region).partition not in ("aws", None):
        raise PropError(
            f"{scope.node.path}: Powertools' layer isn't published in {region}: "
            "give powertools_layer, or bundle_powertools=True"
        )
    python = RUNTIME.name.replace(".", "")
    arn = stack.format_arn(
        service="lambda",
        resource="layer",
        account=_ACCOUNTS.get(region, _ACCOUNT),
        resource_name=f"AWSLambdaPowertoolsPythonV3-{python}-{ARCHITECTURE.name}:{VERSION}",
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return lambda_.LayerVersion.from_layer_version_arn(scope, id, arn)
