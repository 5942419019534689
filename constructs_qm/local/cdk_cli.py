"""The real cdk CLI, pointed at the endpoint."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from constructs_qm.local.client_env import client_environment

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CdkCli", "CdkError"]

_SECONDS = 300
"""Longer than any of its commands takes."""


class CdkError(RuntimeError):
    """The cdk CLI is missing, or one of its commands failed; the message is its last line."""


class CdkCli:
    """Deploys a CDK app to an endpoint, and destroys it again.

    Parameters
    ----------
    url : str
        Of the endpoint.
    app : Path
        Python file that synthesises the app.
    folder : Path
        Where the cloud assembly and the CLI's own files go.
    executable : str
        The CLI: a path, or a name on the PATH.
    """

    def __init__(self, url: str, app: Path, folder: Path, executable: str = "cdk") -> None:
        self._app = shlex.join([sys.executable, str(app.resolve())])
        self._assembly = str(folder / "cdk.out")
        self._folder = folder
        self._executable = executable
        self._environment = {
            **os.environ,
            **client_environment(url),
            # a profile of the user's would win over the endpoint
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_VALIDATION": "false",  # a template on a laptop need not pass through CloudFormation's linter
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        }

    def deploy(self) -> None:
        """Bootstrap the endpoint's account and deploy every stack.

        Raises
        ------
        CdkError
        """
        self._run("bootstrap", "aws://123456789012/us-east-1")
        self._run("deploy", "--all", "--require-approval", "never", "--app", self._app, "--output", self._assembly)

    def destroy(self) -> None:
        """Destroy every stack that :meth:`deploy` made; raises CdkError."""
        self._run("destroy", "--all", "--force", "--app", self._assembly)

    def _run(self, *words: str) -> None:
        try:
            done = subprocess.run(
                [self._executable, *words],
                cwd=self._folder,
                env=self._environment,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except OSError as error:
            reason = error.strerror or error
            raise CdkError(f"cdk CLI {self._executable!r} can't be run ({reason}): install it, or name it") from None
        if done.returncode != 0:
            last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no output"]
            raise CdkError(f"cdk {words[0]} failed: {last[0].strip()}")
