"""JSON Schema of deployment files, for editors; ``python -m constructs_qm.deployment.schema`` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any

from constructs_qm.deployment.models import Deployment

__all__ = ["deployment_schema"]


def deployment_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a deployment file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Deployment.model_json_schema(by_alias=True),
        "title": "Deployment file of constructs-qm",
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(deployment_schema(), indent=2) + "\n")
