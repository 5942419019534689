"""The deployable app: one stack for each account and Region of a deployment file.

``cdk deploy -c deployment=quota.yaml 'TEAM/*'`` deploys one team. Without a deployment file it is the launch
article's policy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import aws_cdk as cdk

from constructs_qm.validation import QuotaPolicyChecks

DEFAULT = "quota.yaml"


def add_stacks(app: cdk.App) -> None:
    """Add what the deployment file declares; its errors, with file, line and column, end the program."""
    from constructs_qm.deployment.app import add_deployment

    given = app.node.try_get_context("deployment")
    if given is None and not Path(DEFAULT).exists():
        from examples.article import ArticleStack

        ArticleStack(app, "QuotaManagement")
    else:
        add_deployment(app, Path(given or DEFAULT))


app = cdk.App()
cdk.Validations.of(app).add_plugins(QuotaPolicyChecks())
try:
    add_stacks(app)
except ValueError as error:
    sys.exit(str(error))
app.synth()
