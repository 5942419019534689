"""Compiles the simulator with mypyc: the same sources, some of them as extension modules, in a folder of their own.

    python benchmarks/compile_simulator.py build/compiled
    PYTHONPATH=build/compiled batch-quota simulate …

It needs a C compiler. Only simulations and benchmarks may run this way: compiled schedulers can't be copied or
pickled, which dry runs and the endpoint's saved state need. Nothing else of the project uses it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULES = (
    "attention",
    "capacity_meter",
    "holding_jobs",
    "job",
    "job_class",
    "ledger",
    "outlook",
    "queue_state",
    "result_builder",
    "scheduler",
    "scheduling_pass",
    "simulator",
    "victims",
    "waiting_queue",
)
"""Modules of ``quota_scheduler`` in which a simulation spends its time."""

SOURCES = Path(__file__).parent.parent / "lambda"

SETUP = """
from mypyc.build import mypycify
from setuptools import setup

extensions = mypycify({files!r}, opt_level="3", target_dir={generated!r}, group_name="quota_scheduler")
setup(name="quota_scheduler", packages=[], ext_modules=extensions)
"""


def compile_simulator(target: Path) -> None:
    """Put the compiled package into `target`, in place of one that is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = folder / "built"
        files = [f"quota_scheduler/{module}.py" for module in MODULES]
        (folder / "setup.py").write_text(SETUP.format(files=files, generated=str(folder / "generated")))
        command = [sys.executable, folder / "setup.py", "--quiet", "build_ext"]
        options = ["--build-lib", built, "--build-temp", folder / "objects"]
        environment = {**os.environ, "MYPY_CACHE_DIR": str(folder / "cache")}
        subprocess.run([*command, *options], cwd=SOURCES, env=environment, check=True)
        shutil.copytree(SOURCES / "quota_scheduler", built / "quota_scheduler", dirs_exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(built, target)


if __name__ == "__main__":
    compile_simulator(Path(sys.argv[1]))
