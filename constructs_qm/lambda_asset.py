"""The code of the Lambda functions: the two packages they are made of, from wherever those are installed.

They are copied without bytecode and compiled extensions, so that a wheel, an editable install and a checkout give the
same asset, which runs on the functions' architecture.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from aws_cdk import aws_lambda as lambda_

from constructs_qm.exceptions import PropError

__all__ = ["ARCHITECTURE", "RUNTIME", "lambda_code"]

RUNTIME = lambda_.Runtime.PYTHON_3_14
ARCHITECTURE = lambda_.Architecture.ARM_64

PACKAGES = ("preemption_auditor", "quota_scheduler")
POWERTOOLS = "aws-lambda-powertools[tracer]>=3,<4"
_COMPILED = ("__pycache__", "*.py[co]", "*.so", "*.pyd")
_FOR_LAMBDA = ("--platform", "manylinux2014_aarch64", "--python-version", "3.14", "--only-binary", ":all:")


def lambda_code(*, bundle_powertools: bool = False) -> lambda_.Code:
    """Return the code asset of the functions.

    Parameters
    ----------
    bundle_powertools : bool
        Whether Powertools is installed into it with pip, for functions without its layer.

    Raises
    ------
    PropError
        pip can't install Powertools.
    """
    return lambda_.Code.from_asset(str(_staged(bundle_powertools)))


@cache
def _staged(bundle_powertools: bool) -> Path:
    """Return a folder with the code, which is there as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="constructs-qm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for package in PACKAGES:
        shutil.copytree(_folder_of(package), folder / package, ignore=shutil.ignore_patterns(*_COMPILED))
    if bundle_powertools:
        _install(folder)
    return folder


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _install(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder)]
    done = subprocess.run([*pip, *_FOR_LAMBDA, POWERTOOLS], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise PropError(f"bundle_powertools: pip can't install {POWERTOOLS} ({why}): mend that, or use the layer")
