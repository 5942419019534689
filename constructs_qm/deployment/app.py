"""A deployment file taken into a CDK app, checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs_qm.deployment.reader import declare_deployment, read_deployment
from constructs_qm.deployment.stacks import add_stages
from constructs_qm.validation.checks import check
from constructs_qm.validation.declared import Declarations
from constructs_qm.validation.report_formats import as_text
from constructs_qm.validation.report_rows import rows_of
from quota_scheduler import DocumentError, Level

if TYPE_CHECKING:
    from pathlib import Path

    import aws_cdk as cdk

    from constructs_qm.deployment.stacks import TeamStage

__all__ = ["add_deployment"]


def add_deployment(app: cdk.App, path: Path) -> list[TeamStage]:
    """Add the stages of a deployment file to an app.

    Parameters
    ----------
    app : aws_cdk.App
    path : Path

    Returns
    -------
    list of TeamStage
        One for each team; its stacks are called by their Region.

    Raises
    ------
    DocumentError
        The file has the wrong form, or breaks a rule: all findings, each with file, line, column and rule.
    """
    deployment = read_deployment(path)
    found = check(Declarations(queues=declare_deployment(path, deployment)))
    errors = rows_of(item for item in found if item.finding.level is Level.ERROR)
    if errors:
        raise DocumentError(as_text(errors))
    return add_stages(app, deployment)
