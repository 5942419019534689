"""The deployable app: for now the launch article's policy."""

from __future__ import annotations

import aws_cdk as cdk

from examples.article import ArticleStack

app = cdk.App()
ArticleStack(app, "QuotaManagement")
app.synth()
