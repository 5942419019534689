"""CloudWatch metrics: those embedded in the log of a function are published, and each is read by its own dimensions.

The embedded metric format is a JSON line with ``_aws.CloudWatchMetrics`` (Amazon CloudWatch User Guide). moto
counts a metric among those with fewer dimensions as well; to CloudWatch, other dimensions are another metric.
"""

from __future__ import annotations

import copy
import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from moto.cloudwatch.models import CloudWatchBackend

from constructs_qm.local.internal_client import internal_client
from constructs_qm.local.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["PATCHES", "publish_embedded"]


def publish_embedded(lines: Iterable[str], account: str, region: str) -> None:
    """Publish the metrics in lines of a log; other lines have none."""
    for line in lines:
        if "CloudWatchMetrics" not in line:
            continue
        try:
            found = list(_data(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # what can't be read stays a line of the log
        for namespace, data in found:
            internal_client("cloudwatch", account, region).put_metric_data(Namespace=namespace, MetricData=data)


def _data(document: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    at = datetime.fromtimestamp(document["_aws"]["Timestamp"] / 1000, tz=timezone.utc)
    for directive in document["_aws"]["CloudWatchMetrics"]:
        for names in directive["Dimensions"]:
            dimensions = [{"Name": name, "Value": str(document[name])} for name in names]
            yield (
                directive["Namespace"],
                [
                    {
                        "MetricName": metric["Name"],
                        "Unit": metric.get("Unit", "None"),
                        "Timestamp": at,
                        "Dimensions": dimensions,
                        "Values": _values(document[metric["Name"]]),
                    }
                    for metric in directive["Metrics"]
                ],
            )


def _values(value: Any) -> list[float]:
    return [float(one) for one in (value if isinstance(value, list) else [value])]


def _get_metric_statistics(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_metric_statistics(
        self: CloudWatchBackend,
        namespace: str,
        metric_name: str,
        start_time: datetime,
        end_time: datetime,
        period: int,
        stats: list[str],
        dimensions: list[dict[str, str]],
        unit: str | None = None,
    ) -> Any:
        wanted = {(dimension["Name"], dimension["Value"]) for dimension in dimensions or ()}
        exact = copy.copy(self)
        exact.metric_data = [
            datum for datum in self.metric_data if {(own.name, own.value) for own in datum.dimensions} == wanted
        ]
        return original(exact, namespace, metric_name, start_time, end_time, period, stats, dimensions, unit)

    return get_metric_statistics


PATCHES = [
    Patch(
        CloudWatchBackend,
        "get_metric_statistics",
        "self namespace metric_name start_time end_time period stats dimensions unit",
        _get_metric_statistics,
    )
]
