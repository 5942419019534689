"""Mutation testing of the scheduler's core: ``python tests/support/mutants.py``, or ``make mutants``.

Makes every change Cosmic Ray knows of to the modules that ``cosmic-ray.toml`` names, one at a time and in
copies of the tree, runs the tests against each, and writes ``docs/mutation.md``. Exit 0 says that the target
is met and that every survivor has its reason in ``survivors.json``.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cosmic_ray.commands import init
from cosmic_ray.config import load_config
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cosmic_ray.work_item import MutationSpec, WorkItem

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "cosmic-ray.toml"
REASONS = Path(__file__).with_name("survivors.json")
PAGE = ROOT / "docs" / "mutation.md"
TARGET = 95
"""Percent of the mutants that the tests have to notice."""


class Mutant(NamedTuple):
    """A change of a module, as lines before and after."""

    file: str
    line: int
    was: str
    now: str
    survived: bool


# -- making them -----------------------------------------------------------------


def session_of(modules: list[str]) -> Path:
    """Return where results are kept, which is another place once a module has changed."""
    digest = hashlib.sha256(b"".join(Path(module).read_bytes() for module in modules)).hexdigest()
    return ROOT / "build" / f"mutants-{digest[:12]}.sqlite"


def make(modules: list[str], session: WorkDB) -> None:
    """Start a session over with all mutants, those that are the same program skipped."""
    init([Path(module) for module in modules], session, {})
    same = [item.job_id for item in session.work_items if not _changes_the_program(item.mutations[0])]
    session.set_multiple_results(same, WorkResult(WorkerOutcome.SKIPPED))


def _changes_the_program(mutation: MutationSpec) -> bool:
    """Whether the changed module compiles, and differs in more than annotations, which nothing evaluates."""
    source = mutation.module_path.read_text()
    changed = mutate_code(source, get_operator(mutation.operator_name)(), mutation.occurrence)
    try:
        return _program(changed) != _program(source)
    except SyntaxError:
        return False


def _program(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


# -- testing them ----------------------------------------------------------------


def enter_copy(parent: str) -> None:
    """Make this process work in a copy of the tree of its own."""
    place = Path(parent, str(os.getpid()))
    for name in ("lambda", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", place)
    compileall.compile_dir(place, quiet=1)  # Cosmic Ray has the tests write no bytecode, lest it outlive a mutant
    os.chdir(place)
    os.environ["PYTHONPATH"] = str(place / "lambda")
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


def tested(items: list[WorkItem], command: str, timeout: float) -> Iterator[tuple[str, WorkResult]]:
    """Run the tests against each mutant, in as many copies as there are processors."""
    with (
        tempfile.TemporaryDirectory() as parent,
        ProcessPoolExecutor(initializer=enter_copy, initargs=(parent,)) as pool,
    ):
        outcome, output = pool.submit(run_tests, command, timeout).result()
        if outcome != "survived":
            raise SystemExit(f"the tests fail without any mutation, mend that first:\n{output}")
        jobs = {pool.submit(mutate_and_test, item.mutations, command, timeout): item.job_id for item in items}
        for count, job in enumerate(as_completed(jobs), 1):
            yield jobs[job], job.result()
            report(f"\r{count} of {len(items)} mutants tested")
    report("\n")


def report(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


# -- the page --------------------------------------------------------------------


def mutants(session: WorkDB) -> list[Mutant]:
    """Return what was tested, in order of files and lines."""
    return sorted(_mutant(item, result) for item, result in session.completed_work_items if result.diff)


def _mutant(item: WorkItem, result: WorkResult) -> Mutant:
    mutation, lines = item.mutations[0], result.diff.splitlines()[3:]
    was, now = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    survived = result.test_outcome == "survived"
    return Mutant(mutation.module_path.name, mutation.start_pos[0], was, now, survived)


def reason_of(survivor: Mutant, reasons: list[dict[str, str]]) -> str | None:
    """Return the reason given for a change, or for every change of its line."""
    for entry in reasons:
        if entry["was"] == survivor.was and entry.get("now", survivor.now) == survivor.now:
            return entry["reason"]
    return None


def page(made: list[Mutant], reasons: list[dict[str, str]]) -> str:
    total, left = Counter(mutant.file for mutant in made), Counter(mutant.file for mutant in made if mutant.survived)
    rows = [_row(f"`{name}`", total[name], left[name]) for name in total]
    listed = [
        f"| `{one.file}` {one.line} | {_code(one.was)} | {_code(one.now)} | {reason_of(one, reasons) or 'none yet'} |"
        for one in made
        if one.survived
    ]
    return TEXT.format(
        target=TARGET,
        files="\n".join([*rows, _row("all", total.total(), left.total())]),
        survivors="\n".join(listed),
    )


def _row(name: str, total: int, left: int) -> str:
    return f"| {name} | {total} | {total - left} | {left} | {100 * (total - left) / total:.1f} % |"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else "(nothing)"


TEXT = """\
# Mutation testing

What are tests worth that stay green when the code is wrong? [Cosmic Ray](https://cosmic-ray.readthedocs.io) makes one
small mistake after the other in the modules that decide who runs and who is stopped: a `>` becomes a `>=`, a `+` a `-`,
a loop is left out, a condition turned round. The tests have to fail on at least {target} % of them.

```console
$ make mutants                 # about ten minutes on two idle cores
$ make mutants ARGS=--again    # after tests were added: only those that survived, or were not reached
```

`make mutants` works in copies of the tree, writes this page, and fails below the target or where a survivor has no
reason in `tests/support/survivors.json`.

| module | mutants | killed | survived | killed |
|---|---|---|---|---|
{files}

The tests are those of `tests/unit/scheduler` and `tests/property/test_pass_against_contract.py`, which holds every
action of crowded random queues against the contract, written down a second time. A mutant that goes round for ever is
stopped in the end, and counts as killed. Not counted are changes that do not compile, such as `//` for the `**` of a
dictionary in a dictionary, and changes of annotations, which are never evaluated.

## Survivors

| where | was | became | why no test fails |
|---|---|---|---|
{survivors}
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--again", action="store_true", help="only those that survived or were not reached last time")
    again = parser.parse_args().again
    os.chdir(ROOT)
    config = load_config(str(CONFIG))
    path = session_of(config["module-path"])
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with use_db(path) as session:
        if is_new or not again:
            make(config["module-path"], session)
        survived = [item for item, result in session.completed_work_items if result.test_outcome == "survived"]
        for job_id, result in tested([*survived, *session.pending_work_items], config.test_command, config.timeout):
            session.set_result(job_id, result)
        made = mutants(session)
    reasons = json.loads(REASONS.read_text())
    PAGE.write_text(page(made, reasons))
    alive = [mutant for mutant in made if mutant.survived]
    unexplained = sum(reason_of(survivor, reasons) is None for survivor in alive)
    percent = 100 - 100 * len(alive) / len(made)
    report(f"{percent:.1f} % killed, {unexplained} survivors without a reason: see {PAGE}\n")
    return 0 if percent >= TARGET and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main())
