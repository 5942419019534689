"""``batch-quota import`` and ``batch-quota export``: into a deployment file, from AWS's sample or a deployed queue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from constructs_qm.cli.console import show_progress
from constructs_qm.deployment.export import export_queue
from constructs_qm.deployment.sample import import_sample
from constructs_qm.validation.deployed_reader import look_up
from constructs_qm.validation.document import read
from quota_scheduler import DocumentError

__all__ = ["export_deployed", "import_file"]

_Team = Annotated[str, typer.Option(metavar="NAME", help="Team whose account it is for.")]
_Account = Annotated[str | None, typer.Option(metavar="ID", help="Its account (default: that of the credentials).")]


def import_file(
    sample: Annotated[Path, typer.Argument(metavar="FILE", help="YAML of AWS's published sample.")],
    team: _Team,
    region: Annotated[str, typer.Option(metavar="NAME", help="Region of the queues.")],
    account: _Account = None,
) -> int:
    """Print the deployment file that AWS's published sample amounts to; queues of other types are named.

    Examples
    --------
    batch-quota import queues.yaml --team vision --region eu-west-1 > quota.yaml
    """
    try:
        document, left = import_sample(read(sample).data, team=team, region=region, account=account)
    except DocumentError as error:
        raise DocumentError(str(error) if str(error).startswith(str(sample)) else f"{sample}: {error}") from None
    for entry in left:
        typer.echo(f"batch-quota: not taken over: {entry}", err=True)
    _print(document)
    return 0


def export_deployed(
    queue: Annotated[str, typer.Option(metavar="NAME", help="Deployed queue, by name or ARN.")],
    team: _Team,
    region: Annotated[str, typer.Option(metavar="NAME", help="Region it is in.")],
    account: _Account = None,
    endpoint_url: Annotated[str | None, typer.Option(metavar="URL", help="Endpoint other than AWS's.")] = None,
) -> int:
    r"""Print the deployment file of a queue as it is deployed.

    Examples
    --------
    # then deploy it again, or elsewhere: see docs/deployment-file.md
    batch-quota export --queue training --team vision --region eu-west-1 \
      > quota.yaml
    """
    with show_progress(f"looking up {queue}"):
        deployed = look_up(queue, endpoint_url, region)
    _print(export_queue(deployed, team=team, region=region, account=account))
    return 0


def _print(document: dict[str, Any]) -> None:
    typer.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), nl=False)
