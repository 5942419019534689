"""Fixtures of the embedded endpoint, and no validation of templates by the CDK: it takes ten seconds and more."""

import os

os.environ["CDK_VALIDATION"] = "false"  # before aws_cdk is imported
os.environ["AWS_DEFAULT_REGION"] = "us-east-1"

pytest_plugins = ["constructs_qm.local.pytest_plugin"]
