"""Compiles the scheduler for a release's wheel with mypyc: the same sources, with extension modules beside them.

``make build`` turns this on. Whatever else is built or installed from the sources is pure Python, as they are.

Everything is made in a folder of its own: an extension in the source tree, where hatch-mypyc leaves it, would be
imported in place of the source next to it, however old it is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig

MODULES = (
    "action",
    "attention",
    "capacity_meter",
    "holding_jobs",
    "job",
    "job_class",
    "ledger",
    "outcome",
    "outlook",
    "queue_state",
    "result_builder",
    "scheduler",
    "scheduling_pass",
    "simulator",
    "victims",
    "waiting_queue",
)
"""Modules of ``quota_scheduler`` in which decisions and simulations spend their time."""

SETUP = """
from mypyc.build import mypycify
from setuptools import setup

extensions = mypycify(
    {files!r}, opt_level="3", debug_level="0", target_dir={generated!r}, group_name="quota_scheduler"
)
setup(name="quota_scheduler", packages=[], ext_modules=extensions)
"""


class CompiledScheduler(BuildHookInterface[WheelBuilderConfig]):
    """Adds the extension modules to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the wheel is that of an editable install."""
        if version == "editable":
            return
        self._require_compiler()
        self._folder = TemporaryDirectory()
        built = self._compile(Path(self._folder.name))
        extensions = sorted(path for path in built.rglob("*") if path.is_file())
        build_data["force_include"].update({str(path): path.relative_to(built).as_posix() for path in extensions})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the extensions, which are in the wheel by now."""
        if version != "editable":
            self._folder.cleanup()

    def _require_compiler(self) -> None:
        """Abort where Python would look for a C compiler by name and find none; on Windows, setuptools looks itself."""
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "")
        if compiler and not shutil.which(compiler[0]):
            self.app.abort(
                f"the scheduler can't be compiled without a C compiler ({compiler[0]} is not there): "
                "install one, such as gcc, and Python's headers, or name yours in CC"
            )

    def _compile(self, folder: Path) -> Path:
        """Compile in `folder`; return that part of it which mirrors the wheel."""
        built, setup = folder / "built", folder / "setup.py"
        files = [f"quota_scheduler/{module}.py" for module in MODULES]
        setup.write_text(SETUP.format(files=files, generated=str(folder / "generated")))
        environment = {**os.environ, "MYPY_CACHE_DIR": str(folder / "cache")}
        into = ("--build-lib", built, "--build-temp", folder / "objects")
        command = (sys.executable, setup, "--quiet", "build_ext", *into)
        if subprocess.run(command, cwd=Path(self.root) / "lambda", env=environment, check=False).returncode:
            self.app.abort("the scheduler can't be compiled: mend what is said above")
        return built
