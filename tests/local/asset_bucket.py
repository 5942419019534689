"""The bucket that `cdk bootstrap` makes, filled as `cdk deploy` fills it."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

BUCKET = "cdk-hnb659fds-assets-123456789012-us-east-1"


def upload_assets(s3: Any, assembly: Path) -> None:
    """Put the folders that are assets of a cloud assembly into the bucket."""
    s3.create_bucket(Bucket=BUCKET)
    for asset in assembly.glob("asset.*"):
        key = f"{asset.name.removeprefix('asset.')}.zip"
        s3.put_object(Bucket=BUCKET, Key=key, Body=_zipped(asset))


def _zipped(folder: Path) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return body.getvalue()
